"""The ledger of the privacy budget: append-only, hash-chained, and paid before anything is read."""
