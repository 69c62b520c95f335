"""OpenDP's noisy max. A case is "exponential|gumbel size seed"."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

begin = time.perf_counter()
import opendp.prelude as dp  # noqa: E402

import_seconds = time.perf_counter() - begin
import numpy as np  # noqa: E402
from serve import serve  # noqa: E402

dp.enable_features("contrib", "idealized-numerics")


def case(name: str) -> Callable[[], Any]:
    """Read a case; the scores are those that selection.py makes from the same seed."""
    noise, size, seed = name.split()
    scores = np.random.default_rng(int(seed)).integers(0, 10_000, int(size)).astype(np.float64)
    measure = dp.max_divergence() if noise == "exponential" else dp.zero_concentrated_divergence()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)
    built = dp.m.make_noisy_max(*space, measure, scale=2.0)
    return lambda: int(built(scores))


serve("opendp", import_seconds, case)
