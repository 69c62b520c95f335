"""Asking the same records again and again without fooling oneself."""
