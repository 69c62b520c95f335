"""Interactive mechanisms: the sparse vector technique and continual release of running totals."""
