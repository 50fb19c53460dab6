"""The self-test: a probe beside a short sequence of data and metadata phases, and what each phase did to the probe."""
