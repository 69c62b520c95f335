"""prv-accountant's upper ε of Gaussian and Laplace releases. A case is "error times sigma b delta"."""

from __future__ import annotations

import time
from collections.abc import Callable

begin = time.perf_counter()
from prv_accountant import GaussianMechanism, LaplaceMechanism, PRVAccountant  # noqa: E402

import_seconds = time.perf_counter() - begin
from serve import serve  # noqa: E402


def case(name: str) -> Callable[[], float]:
    """Read a case."""
    error, times, sigma, b, delta = map(float, name.split())
    counts = [int(times)] * 2

    def epsilon() -> float:
        accountant = PRVAccountant(
            prvs=[GaussianMechanism(sigma), LaplaceMechanism(mu=1 / b)],
            max_self_compositions=counts,
            eps_error=error,
            delta_error=delta / 1e4,
        )
        return float(accountant.compute_epsilon(delta=delta, num_self_compositions=counts)[2])

    return epsilon


serve("prv-accountant", import_seconds, case)
