"""The HTTP interface for programs: JSON, Arrow and CSV."""
