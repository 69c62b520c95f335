"""Synthetic tables: marginals are measured with exact noise, a model is fitted to them, and rows are made of the model."""
