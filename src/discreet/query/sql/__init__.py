"""SQL text in: read into nodes of our own, closed by default."""
