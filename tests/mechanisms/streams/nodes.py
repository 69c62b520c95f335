"""The nodes of the tree as a matrix, from the words of the theorem and not from the code."""

from __future__ import annotations

from typing import Any

import numpy as np


def nodes(horizon: int, arity: int = 2) -> np.ndarray[Any, Any]:
    """The matrix of the nodes, row t − 1 for the one that ends at step t: from the theorem's words, not from the code."""
    rows = np.zeros((horizon, horizon), np.int64)
    for t in range(1, horizon + 1):
        length = next(arity**j for j in reversed(range(t.bit_length())) if t % arity**j == 0)
        rows[t - 1, t - length : t] = 1
    return rows
