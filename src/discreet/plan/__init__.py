"""Compile a question into a priced plan: bounded contributions, resolved keys, one mechanism per statistic."""
