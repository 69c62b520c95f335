"""Serve data sets: owners, analysts and auditors work on the other side of a network wall."""
