"""How good a synthetic table is, by what was measured for it; the real rows are not looked at."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi, sqrt
from typing import final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.algorithms.marginals.certainty import standard_error
from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement, merge_measurements
from discreet.algorithms.marginals.model import Model
from discreet.algorithms.marginals.residual import marginal_from

Floats = NDArray[np.float64]


@final
@frozen(eq=False)
class Compared:
    """One marginal as it was measured, in the model and in the rows; `noise` is the mean absolute error that noise alone explains."""

    clique: Clique
    measured: Floats
    model: Floats
    rows: Floats
    noise: float


def compared(
    domain: Domain,
    measured: Sequence[NoisyMeasurement],
    residuals: bool,
    model: Model,
    codes: Sequence[NDArray[np.int64]],
    cliques: Sequence[Clique],
) -> list[Compared]:
    """Marginals beside what was measured of them; those of which something was not are left out."""
    direct = {} if residuals else {one.clique: one for one in merge_measurements(measured)}
    known = {one.clique: one.values for one in measured}
    found = []
    for clique in cliques:
        cell = np.zeros(domain.shape(clique))
        cell.flat[0] = 1.0
        sure = standard_error(domain, measured, residuals, clique, cell)
        if residuals:
            noisy = None if sure is None else marginal_from(domain, clique, known)
        else:
            noisy = direct[clique].values.reshape(domain.shape(clique)) if clique in direct else None
        if noisy is None or sure is None:
            continue
        error = sure if residuals else direct[clique].deviation
        places = np.ravel_multi_index([codes[i] for i in clique], domain.shape(clique))
        rows = np.bincount(places, minlength=cell.size).reshape(cell.shape).astype(np.float64)
        found.append(Compared(clique, noisy, model.marginal(clique), rows, sqrt(2 / pi) * error))
    return found
