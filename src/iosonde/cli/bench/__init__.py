"""`iosonde bench`: one file a benchmark."""
