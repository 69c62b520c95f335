"""The one total of a threshold question, as the engine counts it, and its sensitivity."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import final

import numpy as np
from attrs import evolve, field, frozen

from discreet.engines.engine import Engine
from discreet.errors import Invalid, Refused
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.sensitivity import is_replacement
from discreet.plan.discovery import Discovered
from discreet.plan.range_discovery import RangeDiscovery
from discreet.plan.resolve import numeric_ranges, resolve
from discreet.plan.steps import Budget, NoisyTotal, Steps
from discreet.private import Private
from discreet.query.relation.expr import Column
from discreet.query.statistics.statistic import Additive
from discreet.run.execute import total_statements
from discreet.run.keys import Positions
from discreet.run.source import Source

_ROUNDING = Fraction(1, 2**53)  # of a float, relative
_WORKS = "ask for one total, such as SELECT COUNT(*) FROM t WHERE …, COUNT(DISTINCT unit), or SUM(x) with bounds declared for x"


@final
@frozen
class Measured:
    """One total as the engine counts it: whole numbers, of which 1 stands for `unit`, with the sensitivity `moves` in whole numbers."""

    steps: Steps = field(repr=False)
    total: NoisyTotal
    rises: bool  # whether one more unit never lowers it

    @property
    def unit(self) -> Fraction:
        """What 1 stands for."""
        return self.total.unit

    @property
    def moves(self) -> int:
        """The sensitivity of the whole number."""
        return self.total.scaled.l1

    @property
    def sensitivity(self) -> Fraction:
        """The sensitivity in the answer's own units."""
        return self.moves * self.unit

    @classmethod
    def of(cls, steps: Steps) -> Measured:
        """The one total of a question; raise Refused if it has another form."""
        question = steps.question
        if question.epsilon is not None or question.delta is not None:
            raise Invalid("the stream pays for its questions: leave OPTIONS out of the question")
        if question.sample is not None:
            raise Refused("a threshold stream reads all units, and its questions share no sample: leave out sample=")
        if question.keys:
            raise Refused(f"a threshold question cannot have GROUP BY: {_WORKS}")
        name, asked = question.statistics[0]
        plain = len(question.statistics) == 1 and len(question.outputs) == 1 and question.outputs[0][1] == Column(name)
        summed = isinstance(asked, Additive) and asked.one_total
        if not plain or not summed or question.having is not None or question.limit is not None:
            raise Refused(f"a threshold question is one total, without HAVING, LIMIT or arithmetic: {_WORKS}")
        if steps.discoveries:
            bounds = sorted({one.name for one in steps.discoveries if isinstance(one, RangeDiscovery)})
            said = f'bounds={{"{bounds[0]}": (low, high)}}' if bounds else "contributions={'rows': …}, or one_row_per_unit=True"
            raise Refused(f"a threshold stream cannot discover what is not declared: declare {said}")
        # one total, not taken from the middle of its bounds: a second total for that would be a second question
        one = evolve(steps, budget=Budget("laplace", Fraction(1), Fraction(0), (), centred=False))
        positive = all(interval.low >= 0 for interval in numeric_ranges(one).values())
        if positive:  # if 0 ≤ a, b ≤ R then |a − b| ≤ R: replacing a unit moves one such total no further than adding it
            one = evolve(one, adjacency="add/remove")
        resolved = resolve(one, Discovered())
        (total,) = resolved.totals
        return cls(resolved, total, positive and not is_replacement(steps.adjacency))

    def told(self, fresh: float, threshold: Fraction, noise: Laplace) -> tuple[float, float]:
        """A noisy (q − T)/Δ as a noisy q, and its error.

        Added as fractions, for floats of opposite sign would cancel; what rounding took away before is part of the error.
        """
        away = Fraction(fresh) * self.sensitivity
        value = away + threshold
        return float(value), float(Fraction(noise.error()) * self.sensitivity + (abs(away) + abs(value)) * _ROUNDING)

    def read(self, engine: Engine) -> Private[int]:
        """The exact total, in whole numbers."""
        ((_, statement),) = total_statements(self.steps, engine.dialect)
        positions, cells = Positions.of(Source.of(self.steps, engine.dialect).cells or ()), np.zeros((1, 1), np.int64)
        for batch in engine.stream(statement.text, statement.given):
            batch.map(partial(positions.add, cells))
        return Private(cells).map(lambda found: int(found[0, 0]))

    def normalised(self, total: int, threshold: Fraction) -> Fraction:
        """(q − T)/Δ."""
        return (total - threshold / self.unit) / self.moves
