"""How slow: baseline, typ, tail and lost, spans, and their words."""
