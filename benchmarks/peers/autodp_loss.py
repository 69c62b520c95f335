"""autodp's ε of Gaussian and Laplace releases by Rényi composition. A case is "times sigma b delta"."""

from __future__ import annotations

import time
from collections.abc import Callable

begin = time.perf_counter()
from autodp.mechanism_zoo import GaussianMechanism, LaplaceMechanism  # noqa: E402
from autodp.transformer_zoo import Composition  # noqa: E402

import_seconds = time.perf_counter() - begin
from serve import serve  # noqa: E402


def case(name: str) -> Callable[[], float]:
    """Read a case."""
    times, sigma, b, delta = map(float, name.split())

    def epsilon() -> float:
        both = [GaussianMechanism(sigma=sigma), LaplaceMechanism(b=b)]
        return float(Composition()(both, [int(times)] * 2).get_approxDP(delta))

    return epsilon


serve("autodp", import_seconds, case)
