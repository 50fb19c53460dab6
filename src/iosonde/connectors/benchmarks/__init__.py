"""Readers for the output of other benchmarks and probes: md-workbench, mdtest, io-probing."""
