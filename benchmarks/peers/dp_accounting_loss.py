"""dp-accounting's ε of Gaussian and Laplace releases. A case is "pld grid|rdp times sigma b delta"."""

from __future__ import annotations

import time
from collections.abc import Callable

begin = time.perf_counter()
import dp_accounting as dpa  # noqa: E402
from dp_accounting import pld, rdp  # noqa: E402

import_seconds = time.perf_counter() - begin
from serve import serve  # noqa: E402


def case(name: str) -> Callable[[], float]:
    """Read a case."""
    method, *numbers = name.split()
    grid = float(numbers.pop(0)) if method == "pld" else None
    times, sigma, b, delta = int(numbers[0]), *map(float, numbers[1:])

    def epsilon() -> float:
        accountant = (
            rdp.RdpAccountant()
            if grid is None
            else pld.PLDAccountant(dpa.NeighboringRelation.ADD_OR_REMOVE_ONE, value_discretization_interval=grid)
        )
        accountant.compose(dpa.GaussianDpEvent(sigma), times)
        accountant.compose(dpa.LaplaceDpEvent(b), times)
        return float(accountant.get_epsilon(delta))

    return epsilon


serve("dp-accounting", import_seconds, case)
