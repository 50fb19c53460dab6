"""Creates beside writers of several block sizes, through a mounted file system."""
