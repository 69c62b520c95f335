"""Answers to whole classes of queries, as the textbook has them: each algorithm with its theorem, its price and its accuracy."""
