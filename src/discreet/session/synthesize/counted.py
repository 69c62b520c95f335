"""Marginals counted inside the engine: exact whole numbers for each cell, many marginals in one scan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import final

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.marginals.counts import Marginals
from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.engines.engine import Columns, Engine
from discreet.mechanisms.sensitivity import Adjacency
from discreet.plan.bounding import Bounding, Rows, Single, between_neighbours
from discreet.private import Private
from discreet.query.relation.expr import Column
from discreet.query.relation.node import Relation
from discreet.run.source import Source
from discreet.run.write import write_marginals

Integers = NDArray[np.int64]
ONE = 2**12  # what a row counts where rows are weighted; coarser than for sums, so that scores fit 64 bits
TOGETHER = 48  # marginals in one statement
_LARGEST = 2**60  # a cell counts no more


def row_weights(relation: Relation, rows: int) -> Bounding:
    """How the rows of a unit are weighted, if it has at most so many."""
    return Single() if relation.one_row else Rows(rows, one=ONE)


@final
class EngineCounts:
    """A private relation whose last columns are codes, as its marginals.

    A unit adds at most `rows` to every marginal, in ℓ₁ and in ℓ₂ (all its rows may be in one cell).
    """

    def __init__(self, engine: Engine, relation: Relation, names: Sequence[str], domain: Domain, rows: int, adjacency: Adjacency) -> None:
        self.domain = domain
        self._engine = engine
        self._bounding = row_weights(relation, rows)
        self._source = Source(relation, tuple((name, Column(name)) for name in names), None, engine.dialect)
        both = between_neighbours(self._bounding.sensitivity, adjacency, signed=False)
        self.one, self.l1_sensitivity, self.l2_sensitivity = self._bounding.one, both.l1, Fraction(both.l2)
        self.one_sided_sensitivity = self._bounding.sensitivity.l1  # of what a unit has: what goes and what comes when it is replaced
        self._known: dict[Clique, Private[Integers]] = {}
        self.progress: Callable[[int, int], None] = lambda done, of: None

    def marginals(self, cliques: Sequence[Clique]) -> Private[Marginals]:
        new = [clique for clique in dict.fromkeys(cliques) if clique not in self._known]
        for start in range(0, len(new), TOGETHER):
            part = new[start : start + TOGETHER]
            cells = {clique: np.zeros(self.domain.cells(clique), np.int64) for clique in part}
            statement = write_marginals(self._source, part, self._bounding)
            for batch in self._engine.stream(statement.text, statement.given):
                batch.map(partial(self._add, cells))
            self._known.update({clique: Private(counted) for clique, counted in cells.items()})
            self.progress(min(start + TOGETHER, len(new)), len(new))
        return Private.together({clique: self._known[clique] for clique in cliques})

    def _add(self, cells: dict[Clique, Integers], columns: Columns) -> None:
        """Each row has a code for the columns of its marginal and −1 for all others."""
        codes = np.stack([columns[f"k{i}"].astype(np.int64) for i in self.domain.columns])
        counts = np.clip(columns["s0"].astype(np.int64), 0, _LARGEST)
        which = np.zeros(codes.shape[1], object if len(codes) > 62 else np.int64)
        for i, row in enumerate(codes):
            which += (row >= 0).astype(which.dtype) * (1 << i)
        for clique, into in cells.items():
            rows = which == sum(1 << i for i in clique)
            place = np.zeros(int(rows.sum()), np.int64)
            for i in clique:
                place = place * self.domain.sizes[i] + np.clip(codes[i][rows], 0, self.domain.sizes[i] - 1)
            np.add.at(into, place, counts[rows])
