"""Adaptive data analysis: many questions to the same records, chosen by earlier answers, without overfitting to them."""
