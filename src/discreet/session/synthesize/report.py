"""How faithful a synthetic table is, by released numbers only: its columns and pairs beside what was measured of them.

Nothing here reads a real row, so a report is as public as the table. The owner's comparison with real rows is another thing, and private:
`discreet.algorithms.marginals.score`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import pi, sqrt
from statistics import mean
from typing import Any, final

import numpy as np
from attrs import asdict, frozen
from numpy.typing import NDArray

from discreet.algorithms.marginals.certainty import measured_marginal, standard_error
from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.model import Model

MOST = 300  # pairs that are looked at
_SHOWN = 8


@final
@frozen
class Fidelity:
    """One marginal: how far rows are from what was measured and what noise alone explains, as shares of all records.

    Both are None if it was not measured: then it follows from the model. `association` is Cramér's V in the model, 0 to 1, and in the rows.
    """

    marginal: tuple[str, ...]
    distance: float | None
    noise: float | None
    association: float | None = None
    rows_association: float | None = None

    @property
    def explained(self) -> bool | None:
        """Whether noise alone explains the distance, within a half; None if it was not measured."""
        return None if self.distance is None or self.noise is None else self.distance <= 1.5 * self.noise


@final
@frozen
class FidelityReport:
    """The columns and pairs of a synthetic table, from released numbers only."""

    columns: tuple[Fidelity, ...]
    pairs: tuple[Fidelity, ...]
    left_out: int  # pairs beyond those that are looked at

    @property
    def not_measured(self) -> tuple[tuple[str, ...], ...]:
        """The pairs that follow from the model alone."""
        return tuple(one.marginal for one in self.pairs if one.distance is None)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dict for each marginal."""
        return [{**asdict(one), "marginal": " × ".join(one.marginal)} for one in (*self.columns, *self.pairs)]

    def __str__(self) -> str:
        lines = ["how faithful the rows are, by what was measured (no real row was read):"]
        for what, found in (("columns", self.columns), ("pairs", self.pairs)):
            known = [(one.distance, one.noise) for one in found if one.distance is not None and one.noise is not None]
            if known:
                off, noise = mean(one for one, _ in known), mean(one for _, one in known)
                told = f"rows are off by {off:.2%} of records, noise explains {noise:.2%}"
                lines.append(f"{len(known)} of {len(found)} {what} were measured; {told}")
            else:
                lines.append(f"none of {len(found)} {what} were measured")
        if missing := self.not_measured:
            named = ", ".join(" × ".join(one) for one in missing[:_SHOWN])
            lines.append(f"by the model alone: {named}{f' and {len(missing) - _SHOWN} more' if len(missing) > _SHOWN else ''}")
        apart = [abs((one.association or 0) - (one.rows_association or 0)) for one in self.pairs]
        if apart:
            lines.append(f"associations of pairs (Cramér's V) differ between model and rows by {max(apart):.3f} at most")
        if worst := [one for one in (*self.columns, *self.pairs) if one.explained is False]:
            named = ", ".join(" × ".join(one.marginal) for one in worst[:_SHOWN])
            lines.append(f"farther from what was measured than noise explains: {named}")
        return "\n".join(lines)


def fidelity(domain: Domain, measured: Sequence[NoisyMeasurement], residuals: bool, model: Model, codes: Sequence[Any]) -> FidelityReport:
    """The report of a table with these rows."""
    pairs = list(combinations(domain.columns, 2))
    looked = [pairs[i] for i in np.unique(np.linspace(0, len(pairs) - 1, min(len(pairs), MOST)).astype(int))] if pairs else []
    found = [_compared(domain, measured, residuals, model, codes, clique) for clique in (*((i,) for i in domain.columns), *looked)]
    many = len(domain.names)
    return FidelityReport(tuple(found[:many]), tuple(found[many:]), len(pairs) - len(looked))


def _compared(
    domain: Domain, measured: Sequence[NoisyMeasurement], residuals: bool, model: Model, codes: Sequence[Any], clique: Clique
) -> Fidelity:
    cell = np.zeros(domain.shape(clique))
    cell.flat[0] = 1.0
    places = np.ravel_multi_index([codes[i] for i in clique], cell.shape)
    rows = np.bincount(places, minlength=cell.size).reshape(cell.shape) * (model.total / max(len(codes[0]), 1))
    noise = standard_error(domain, measured, residuals, clique, cell)
    names = tuple(domain.names[i] for i in clique)
    associations = (association(model.marginal(clique)), association(rows)) if len(clique) == 2 else (None, None)
    if noise is None:
        return Fidelity(names, None, None, *associations)
    off = float(np.abs(rows - measured_marginal(domain, measured, residuals, clique)).sum() / model.total)
    return Fidelity(names, off, sqrt(2 / pi) * noise * cell.size / model.total, *associations)


def association(table: NDArray[Any]) -> float:
    """Cramér's V of a table of two columns: 0 if they are independent, 1 if one follows from the other."""
    shares = np.maximum(table, 0) / max(float(np.maximum(table, 0).sum()), 1e-300)
    product = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    square = np.divide((shares - product) ** 2, product, out=np.zeros_like(product), where=product > 0).sum()
    return float(min(1.0, np.sqrt(square / max(min(table.shape) - 1, 1))))
