"""Facts as reported by the kernel and files."""
