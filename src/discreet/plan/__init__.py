"""From a question to a priced plan: contributions bounded, keys decided, one mechanism per statistic, the error known."""
