"""Remote stores: a bucket, several folders."""
