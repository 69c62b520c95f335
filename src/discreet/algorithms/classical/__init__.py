"""Textbook query release: answers to whole classes of queries, each algorithm with its theorem, loss and accuracy."""
