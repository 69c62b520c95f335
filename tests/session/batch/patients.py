"""A table for batches: listed and unlisted departments, two sexes, and a cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import discreet

ROWS = 6000
_RNG = np.random.default_rng(8)
DATA = pa.table(
    {
        "id": np.arange(ROWS),
        "dept": _RNG.choice(["a", "b", "c", "unlisted"], ROWS, p=[0.4, 0.3, 0.2, 0.1]),
        "sex": _RNG.choice(["f", "m"], ROWS),
        "cost": _RNG.integers(0, 100, ROWS),
    }
)
KEYS = {"dept": ["a", "b", "c"], "sex": ["f", "m"]}


def opened(keys: dict[str, list[str]] | None = KEYS) -> Any:
    """A session in which everything is declared, or everything but keys."""
    return discreet.connect(
        {"t": DATA}, unit="id", epsilon=1000, delta=1e-3, bounds={"cost": (0, 100)}, keys=keys,
        contributions={"rows": 1}, ledger=":memory:",
    )  # fmt: skip
