"""The self-test: a probe beside a short sequence of data and metadata phases, and the effect of each phase on the
probe.
"""
