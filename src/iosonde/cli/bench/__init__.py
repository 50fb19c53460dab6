"""`iosonde bench`: one file per benchmark."""
