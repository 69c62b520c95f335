"""What the noise of several tables is chosen for: the largest of one or several errors is minimised.

A question minimises one error, the total variance of its cells, or as many as it has grouping sets, of which the largest counts. A batch
has an error for each question (or for each of its sets, where a target has to be met), and the largest counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import final

from attrs import evolve, frozen

from discreet.algorithms.consistent.layout import Layout, Table
from discreet.algorithms.consistent.strategy import Errors
from discreet.query.question import Question


@final
@frozen
class MeanError:
    """The mean variance of the cells of some grouping sets, in which those of each set have a weight; times a factor."""

    weights: Mapping[int, float]  # by the place of the set
    times: float = 1.0

    def of(self, places: Sequence[int]) -> MeanError:
        """The same for some sets alone."""
        return evolve(self, weights={place: weight for place, weight in self.weights.items() if place in places})


@final
@frozen
class Goal:
    """What is minimised: the largest of these errors."""

    errors: tuple[MeanError, ...]

    @classmethod
    def of(cls, question: Question) -> Goal:
        """The goal of a question that is asked by itself."""
        said = question.minimise
        weights = [1.0] * len(question.sets) if said is None or not said.weights else [float(weight) for weight in said.weights]
        together = MeanError(dict(enumerate(weights)))
        return cls(each_set(together) if said is not None and said.goal == "worst" else (together,))

    def weight(self, place: int) -> float:
        """The weight of a set's cells in a total; where the largest error counts, all have the same."""
        return self.errors[0].weights[place] if len(self.errors) == 1 else 1.0

    def rows(self, layout: Layout, tables: Mapping[int, Table]) -> tuple[tuple[Table, ...], Errors]:
        """The tables of these sets, each once, and the errors as weights of their variances.

        Where two sets are the same table, the larger weight counts; where two errors are of the same tables, the larger factor.
        """
        asked, rows = tuple(dict.fromkeys(tables.values())), dict[tuple[float, ...], float]()
        for error in (error.of(list(tables)) for error in self.errors):
            most = dict[Table, float]()
            for place, weight in error.weights.items():
                most[tables[place]] = max(weight, most.get(tables[place], 0.0))
            whole = sum(weight * layout.cells(table) for table, weight in most.items())
            if most:
                row = tuple(most.get(table, 0.0) / whole for table in asked)
                rows[row] = max(error.times, rows.get(row, 0.0))
        return asked, tuple(tuple(times * weight for weight in row) for row, times in rows.items())


def each_set(error: MeanError) -> tuple[MeanError, ...]:
    """An error for each of the sets, with its weight as a factor."""
    return tuple(MeanError({place: 1.0}, error.times * weight) for place, weight in error.weights.items())
