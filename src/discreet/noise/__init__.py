"""Exact sampling: the source of random bits, and the laws sampled from it."""
