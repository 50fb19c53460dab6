"""Facts, as the kernel and the files state them."""
