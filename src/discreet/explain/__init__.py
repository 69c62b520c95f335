"""Explain a plan before paying: the expected error, and every step with its theorem."""
