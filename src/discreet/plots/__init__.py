"""What released numbers look like: as text, as a page, as a figure."""
