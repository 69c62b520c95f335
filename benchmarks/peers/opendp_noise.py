"""OpenDP's noise. A case is "laplace|gaussian int|float size scale"; size 0 is one number, and "new" before it builds it anew."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

begin = time.perf_counter()
import opendp.prelude as dp  # noqa: E402

import_seconds = time.perf_counter() - begin
import numpy as np  # noqa: E402
from serve import serve  # noqa: E402

dp.enable_features("contrib")


def measurement(noise: str, kind: type, size: int, scale: float) -> Any:
    """Build the measurement: i32 for whole numbers, f64 for reals, as OpenDP's own defaults are."""
    make = {"laplace": dp.m.make_laplace, "gaussian": dp.m.make_gaussian}[noise]
    atom = dp.atom_domain(T=int) if kind is int else dp.atom_domain(T=float, nan=False)
    if size == 0:
        return make(atom, dp.absolute_distance(T=kind), scale=scale)
    distance = dp.l1_distance if noise == "laplace" else dp.l2_distance
    return make(dp.vector_domain(atom), distance(T=kind), scale=scale)


def case(name: str) -> Callable[[], Any]:
    """Read a case."""
    fresh = name.startswith("new ")
    noise, spelled, size, scale = name.removeprefix("new ").split()
    kind = int if spelled == "int" else float
    n, width = int(size), float(scale)
    answers = np.random.default_rng().normal(0, 100, n)
    answer = kind(5) if n == 0 else np.rint(answers).astype(np.int32) if kind is int else answers
    if fresh:
        return lambda: measurement(noise, kind, n, width)(answer)
    built = measurement(noise, kind, n, width)
    return lambda: built(answer)


serve("opendp", import_seconds, case)
