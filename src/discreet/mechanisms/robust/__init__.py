"""Mechanisms whose noise depends on the local sensitivity of the data, and private estimates of any function."""
