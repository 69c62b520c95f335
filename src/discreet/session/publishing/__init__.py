"""Releases as publications: workbooks, printable pages, and data sets for statistical tools."""
