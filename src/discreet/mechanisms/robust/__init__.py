"""Mechanisms whose noise follows the data, and estimates of any function."""
