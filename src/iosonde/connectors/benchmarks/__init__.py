"""What other benchmarks and probes print: md-workbench, mdtest, io-probing."""
