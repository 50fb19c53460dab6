"""The metadata benchmark."""
