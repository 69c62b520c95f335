"""Randomised algorithms as values: each states its theorem, its price and its accuracy, and is the only door out."""
