"""Synthetic tables: measure marginals with exact noise, fit a model to them, and generate rows from the model."""
