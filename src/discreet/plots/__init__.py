"""Displays of released numbers: text tables, HTML tables and figures."""
