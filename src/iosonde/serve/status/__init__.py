"""Status, badges and annotations: what other pages show of iosonde."""
