"""The owner's report on a synthetic table: its columns and pairs beside those of the real rows. It is as private as these.

The real rows come from the hand of who calls, and from nowhere else: the report opens no connection, ledger or server, and no session,
request or tool can be asked for it. Who does not hold the real rows cannot make one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from statistics import mean
from typing import Any, NoReturn, final

import numpy as np
from attrs import asdict, astuple, frozen

from discreet.algorithms.marginals.domain import Clique
from discreet.errors import Invalid
from discreet.plots.page import html_table
from discreet.plots.table import Series, printable
from discreet.session.synthesize.encode import LEFT_OUT, encode
from discreet.session.synthesize.report import (
    association,
    counted,
    decimal,
    drawn,
    explained_by_noise,
    few,
    html_page,
    looked_at,
    percent,
    written,
)
from discreet.session.synthesize.synthetic import Synthetic

PRIVATE = "PRIVATE: computed from the real rows, as confidential as they are; for the owner of the data only"
_BANNER = '<div style="border:2px solid #d55e00;color:#d55e00;font:600 14px system-ui,sans-serif;padding:.4em .8em">{}</div>'
_WORST = 5


@final
@frozen
class OwnerFidelity:
    """One marginal: how far synthetic rows are from the real ones (ℓ₁), and what noise alone explains, as shares of all records.

    `noise` is None if it was not measured. `association` is Cramér's V in the real rows, 0 to 1, and in the synthetic ones.
    """

    marginal: tuple[str, ...]
    error: float
    noise: float | None
    association: float | None = None
    rows_association: float | None = None

    @property
    def apart(self) -> float:
        """How far the associations are apart."""
        return abs((self.association or 0.0) - (self.rows_association or 0.0))


@final
@frozen(repr=False)
class OwnerReport:
    """A synthetic table against the real rows. PRIVATE: nothing here is released, and it has no privacy guarantee."""

    table: str
    records: int  # real rows that have a place in the table
    elsewhere: int  # real rows that have none, for a value that is not declared
    total: float  # records by what was measured
    columns: tuple[OwnerFidelity, ...]
    pairs: tuple[OwnerFidelity, ...]
    left_out: int  # pairs beyond those that are looked at

    @property
    def not_measured(self) -> tuple[tuple[str, ...], ...]:
        """The pairs that follow from the model alone."""
        return tuple(one.marginal for one in self.pairs if one.noise is None)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dict for each marginal, each marked private."""
        return [{**asdict(one), "marginal": " × ".join(one.marginal), "private": True} for one in (*self.columns, *self.pairs)]

    @property
    def _lines(self) -> list[str]:
        lines = [f"{self.table} has {self.records:,} real rows with a place in the synthetic table, which says {self.total:,.0f}"]
        if self.elsewhere:
            lines.append(f"{self.elsewhere:,} more real rows have a value that is not declared and are left out")
        for what, found in (("columns", self.columns), ("pairs", self.pairs)):
            for measured in (True, False):
                some = [one for one in found if (one.noise is not None) == measured]
                if some:
                    noise = f"; noise explains {mean(one.noise or 0.0 for one in some):.2%}" if measured else ""
                    told = f"{len(some)} of {len(found)} {what}, {'measured' if measured else 'not measured'}"
                    lines.append(f"{told}: off by {mean(one.error for one in some):.2%} of records{noise}")
        if self.left_out:
            lines.append(f"{self.left_out:,} more pairs were not looked at")
        if self.pairs:
            far = max(self.pairs, key=lambda one: one.apart)
            lines.append(
                f"associations of pairs (Cramér's V) are off by {mean(one.apart for one in self.pairs):.3f} on average, most for "
                f"{' × '.join(far.marginal)}: {far.association:.3f} in the real rows, {far.rows_association:.3f} in the synthetic ones"
            )
        worst = sorted((*self.columns, *self.pairs), key=lambda one: -one.error)[:_WORST]
        named = ", ".join(f"{' × '.join(one.marginal)} {one.error:.2%} ({_noise(one)})" for one in worst)
        lines.append(f"largest errors: {named}")
        if missing := self.not_measured:
            lines.append(f"by the model alone: {few(missing)}")
        return lines

    def __str__(self) -> str:
        return "\n".join([PRIVATE, *self._lines])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        found = (*self.columns, *self.pairs)
        columns = [
            Series("marginal", [" × ".join(one.marginal) for one in found], is_key=True),
            Series("error", [percent(one.error) for one in found]),
            Series("noise explains", [percent(one.noise) for one in found]),
            Series("Cramér's V, real", [decimal(one.association) for one in found]),
            Series("synthetic", [decimal(one.rows_association) for one in found]),
        ]
        return _BANNER.format(escape(PRIVATE)) + html_table(columns, len(found), [*self._lines, PRIVATE])

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """The report as a page of its own, marked private: written to a file, or returned as text."""
        return written(html_page(f"PRIVATE: {self.table} against the real rows", self._repr_html_()), path)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """Errors of columns and pairs, and associations beside the real ones, marked private; a file if a path is given."""
        title = printable(f"Synthetic {self.table} against the real rows")
        return drawn(
            [astuple(one, recurse=False) for one in (*self.columns, *self.pairs)], path, reference="real rows", title=title, warning=PRIVATE
        )

    def __reduce_ex__(self, _: Any) -> NoReturn:
        raise Invalid("the owner's report is private and is not pickled: keep it with .to_html(path), which marks it")


def owner_report(made: Synthetic, real: Any) -> OwnerReport:
    """Compare a synthetic table with the real rows, which you hold: for the owner of the data only.

    `real` is a data frame (pandas, Polars, Arrow) or a dict of columns, with the rows that the table was made from. The result is as
    private as they are. It spends nothing, because nothing is released; what is shown of it to others has no privacy guarantee.

    Differences include all that stands between real and synthetic rows: noise, the model, bins, clipping to bounds, and the
    down-weighting of people with many rows.
    """
    domain, residuals = made.domain, made.method == "residuals"
    codes = [encode(coding, _values(real, coding.name)) for coding in made.codings]
    if len({len(column) for column in codes}) > 1:
        raise Invalid("the columns of the real rows have different lengths: give a data frame, or a dict of lists of the same length")
    kept = np.all([column != LEFT_OUT for column in codes], axis=0)
    if not kept.any():
        raise Invalid("none of these rows has a place in the synthetic table: give the rows that it was made from")
    true = [column[kept] for column in codes]
    looked, left_out = looked_at(domain)

    def compared(clique: Clique) -> OwnerFidelity:
        there, here = counted(domain, clique, true) / kept.sum(), counted(domain, clique, made.codes) / len(made)
        noise = explained_by_noise(domain, made.measured, residuals, clique, made.total)
        both = (association(there), association(here)) if len(clique) == 2 else (None, None)
        return OwnerFidelity(tuple(domain.names[i] for i in clique), float(np.abs(there - here).sum()), noise, *both)

    columns, pairs = tuple(compared((i,)) for i in domain.columns), tuple(map(compared, looked))
    name = str(made.receipt.request["table"])
    return OwnerReport(name, int(kept.sum()), int((~kept).sum()), made.total, columns, pairs, left_out)


def _values(real: Any, name: str) -> Sequence[Any]:
    try:
        column = real[name]
    except Exception:
        raise Invalid(f"the real rows have no column {name!r:.80}: give a data frame or a dict with all columns of the table") from None
    for method in ("to_pylist", "to_list", "tolist"):  # of Arrow, of Polars and pandas, of numpy
        if hasattr(column, method):
            found: Sequence[Any] = getattr(column, method)()
            return found
    return list(column)


def _noise(one: OwnerFidelity) -> str:
    return "not measured" if one.noise is None else f"noise explains {one.noise:.2%}"
