"""Synthetic tables on a session: columns become codes, the engine counts them, a model is fitted, and codes become values again."""
