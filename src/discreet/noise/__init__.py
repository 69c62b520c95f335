"""Exact randomness: the only room with coins, and the laws drawn from them."""
