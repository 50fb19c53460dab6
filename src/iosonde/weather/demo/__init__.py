"""A demonstration: a probe, a load beside it, and the slowdown found."""
