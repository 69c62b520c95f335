"""How faithful a synthetic table is, by released numbers only: its columns and pairs beside what was measured of them.

Nothing here reads a real row, so a report is as public as the table. The owner's comparison with real rows is another thing, and private:
`owner_report`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from itertools import combinations
from math import pi, sqrt
from statistics import mean
from typing import Any, final

import numpy as np
from attrs import asdict, astuple, frozen
from numpy.typing import NDArray

from discreet.algorithms.marginals.certainty import measured_marginal, standard_error
from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.model import Model
from discreet.extras import require
from discreet.plots.page import html_table
from discreet.plots.table import Series, printable
from discreet.session.exporting import write_file

MOST = 300  # pairs that are looked at
_SHOWN = 8
_TITLE = "How faithful the synthetic rows are, by what was measured"


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
@frozen(repr=False)
class FidelityReport:
    """The columns and pairs of a synthetic table, from released numbers only."""

    columns: tuple[Fidelity, ...]
    pairs: tuple[Fidelity, ...]
    left_out: int  # pairs beyond those that are looked at
    not_known: tuple[str, ...] = ()  # which columns have rows whose value the table does not know, in sentences

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
        if self.left_out:
            lines.append(f"{self.left_out:,} more pairs were not looked at")
        if missing := self.not_measured:
            lines.append(f"by the model alone: {few(missing)}")
        apart = [abs((one.association or 0) - (one.rows_association or 0)) for one in self.pairs]
        if apart:
            lines.append(f"associations of pairs (Cramér's V) differ between model and rows by {max(apart):.3f} at most")
        if worst := [one.marginal for one in (*self.columns, *self.pairs) if one.explained is False]:
            lines.append(f"farther from what was measured than noise explains: {few(worst)}")
        lines += self.not_known
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        found = (*self.columns, *self.pairs)
        columns = [
            Series("marginal", [" × ".join(one.marginal) for one in found], is_key=True),
            Series("rows off by", [percent(one.distance) for one in found]),
            Series("noise explains", [percent(one.noise) for one in found]),
            Series("Cramér's V, model", [decimal(one.association) for one in found]),
            Series("rows", [decimal(one.rows_association) for one in found]),
        ]
        return html_table(columns, len(found), str(self).splitlines())

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The report as a page of its own: written to a file, or returned as text."""
        return written(html_page(_TITLE, self._repr_html_()), path)

    def plot(self, path: str | os.PathLike[str] | None = None, *, title: str = _TITLE) -> Any:
        """Errors of columns and pairs, and associations in the model beside those in the rows; a file if a path is given."""
        return drawn([astuple(one, recurse=False) for one in (*self.columns, *self.pairs)], path, reference="model", title=title)


def fidelity(domain: Domain, measured: Sequence[NoisyMeasurement], residuals: bool, model: Model, codes: Sequence[Any]) -> FidelityReport:
    """The report of a table with these rows."""
    looked, left_out = looked_at(domain)
    found = [_compared(domain, measured, residuals, model, codes, clique) for clique in (*((i,) for i in domain.columns), *looked)]
    many = len(domain.names)
    return FidelityReport(tuple(found[:many]), tuple(found[many:]), left_out)


def looked_at(domain: Domain) -> tuple[list[Clique], int]:
    """The pairs that a report looks at, spread evenly over all, and how many it does not look at."""
    pairs: list[Clique] = list(combinations(domain.columns, 2))
    chosen = sorted({int(i) for i in np.linspace(0, len(pairs) - 1, min(len(pairs), MOST))})
    return [pairs[i] for i in chosen], len(pairs) - len(chosen)


def explained_by_noise(domain: Domain, measured: Sequence[NoisyMeasurement], residuals: bool, clique: Clique, total: float) -> float | None:
    """The expected ℓ₁ error of a marginal by noise alone, as a share of all records; None if not all of it was measured."""
    cell = np.zeros(domain.shape(clique))
    cell.flat[0] = 1.0
    noise = standard_error(domain, measured, residuals, clique, cell)
    return None if noise is None else sqrt(2 / pi) * noise * cell.size / total


def counted(domain: Domain, clique: Clique, codes: Sequence[Any]) -> NDArray[Any]:
    """A marginal of rows."""
    places = np.ravel_multi_index([codes[i] for i in clique], domain.shape(clique))
    return np.bincount(places, minlength=domain.cells(clique)).reshape(domain.shape(clique))


def _compared(
    domain: Domain, measured: Sequence[NoisyMeasurement], residuals: bool, model: Model, codes: Sequence[Any], clique: Clique
) -> Fidelity:
    rows = counted(domain, clique, codes) * (model.total / max(len(codes[0]), 1))
    noise = explained_by_noise(domain, measured, residuals, clique, model.total)
    names = tuple(domain.names[i] for i in clique)
    associations = (association(model.marginal(clique)), association(rows)) if len(clique) == 2 else (None, None)
    if noise is None:
        return Fidelity(names, None, None, *associations)
    off = float(np.abs(rows - measured_marginal(domain, measured, residuals, clique)).sum() / model.total)
    return Fidelity(names, off, noise, *associations)


def association(table: NDArray[Any]) -> float:
    """Cramér's V of a table of two columns: 0 if they are independent, 1 if one follows from the other."""
    shares = np.maximum(table, 0) / max(float(np.maximum(table, 0).sum()), 1e-300)
    product = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    square = np.divide((shares - product) ** 2, product, out=np.zeros_like(product), where=product > 0).sum()
    return float(min(1.0, np.sqrt(square / max(min(table.shape) - 1, 1))))


# ── how reports are written ──────────────────────────────────────────────────────────────────────────────────────────────


def few(marginals: Sequence[tuple[str, ...]]) -> str:
    """The first marginals by name."""
    named = ", ".join(" × ".join(one) for one in marginals[:_SHOWN])
    return named + (f" and {len(marginals) - _SHOWN} more" if len(marginals) > _SHOWN else "")


def percent(share: float | None) -> str:
    """A share as it is shown."""
    return "not measured" if share is None else f"{share:.2%}"


def decimal(value: float | None) -> str:
    """An association as it is shown."""
    return "" if value is None else f"{value:.3f}"


def html_page(title: str, body: str) -> str:
    """A page of its own."""
    head = f'<head><meta charset="utf-8"><title>{escape(printable(title))}</title></head>'
    return f'<!doctype html><html lang="en">{head}<body>{body}</body></html>\n'


def drawn(marginals: Sequence[tuple[Any, ...]], path: str | os.PathLike[str] | None, **said: str) -> Any:
    """A figure of columns and pairs: each with its names, its error, what noise explains, and its associations."""
    require("matplotlib")
    from discreet.plots.fidelity import Mark, draw_fidelity

    marks = [Mark(*one) for one in marginals]
    return draw_fidelity([one for one in marks if len(one.names) == 1], [one for one in marks if len(one.names) == 2], path, **said)


def written(page: str, path: str | os.PathLike[str] | None) -> str | None:
    """A page as text, or in a file."""
    if path is None:
        return page
    write_file(path, page)
    return None
