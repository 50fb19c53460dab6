"""What an IO500 run leaves behind."""
