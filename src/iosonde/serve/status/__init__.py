"""Routes for other pages: status, badges and annotations."""
