"""md-workbench's texts and latencies."""
