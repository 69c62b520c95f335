"""Mechanisms that answer again and again: sparse vector, running totals."""
