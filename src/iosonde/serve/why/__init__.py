"""Route of ``why``, for the page and alerts."""
