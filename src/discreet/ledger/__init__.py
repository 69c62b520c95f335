"""The budget's memory: append-only, hash-chained, and paid before anything is read."""
