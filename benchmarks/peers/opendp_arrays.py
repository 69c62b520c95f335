"""OpenDP on an array in memory. A case is "histogram KEYS FILE.npy" or "median CANDIDATES MOST FILE.npy"."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

begin = time.perf_counter()
import opendp.prelude as dp  # noqa: E402

import_seconds = time.perf_counter() - begin
import numpy as np  # noqa: E402
from serve import serve  # noqa: E402

dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")


def histogram(keys: int, path: str) -> Callable[[], int]:
    """Count each public key at ε = 1."""
    values = np.load(path)
    space = dp.vector_domain(dp.atom_domain(T="i32")), dp.symmetric_distance()
    count = dp.t.then_count_by_categories(categories=list(range(keys)), null_category=False)
    built = space >> count >> dp.m.then_laplace(scale=1.0)
    return lambda: len(built(values))


def median(candidates: int, most: float, path: str) -> Callable[[], float]:
    """Choose among evenly spaced candidates at ε = 1 (its scale is in ranks)."""
    values = np.load(path)
    built = dp.m.make_private_quantile(
        dp.vector_domain(dp.atom_domain(T=float, nan=False)),
        dp.symmetric_distance(),
        dp.max_divergence(),
        candidates=list(np.linspace(0, most, candidates)),
        alpha=0.5,
        scale=1.0,
    )
    return lambda: float(built(values))


def case(name: str) -> Callable[[], Any]:
    """Read a case; the array is read before the clock starts."""
    if name.startswith("histogram "):
        _, keys, path = name.split(" ", 2)
        return histogram(int(keys), path)
    _, candidates, most, path = name.split(" ", 3)
    return median(int(candidates), float(most), path)


serve("opendp", import_seconds, case)
