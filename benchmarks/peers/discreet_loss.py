"""Our own ε of Gaussian and Laplace releases, in a fresh process like the peers'. A case is "times sigma b delta"."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

begin = time.perf_counter()
from discreet.loss.leaves import GaussianLoss, LaplaceLoss  # noqa: E402

import_seconds = time.perf_counter() - begin
from serve import serve  # noqa: E402


def case(name: str) -> Callable[[], float]:
    """Read a case."""
    times, sigma, b = (Fraction(x) for x in name.split()[:3])
    delta = name.split()[3]

    def epsilon() -> float:
        return (int(times) * GaussianLoss(1 / sigma**2) + int(times) * LaplaceLoss(1 / b)).epsilon_at(delta)

    return epsilon


serve("discreet", import_seconds, case)
