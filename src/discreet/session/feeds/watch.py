"""Threshold questions on a session: misses are free, each hit ends a round that was paid for when it opened."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias, final

import numpy as np
from attrs import evolve, field, frozen

from discreet import exact, parameter
from discreet.engines.engine import Engine
from discreet.errors import BudgetExceeded, Invalid, Refused
from discreet.exact import Number
from discreet.ledger.payment import Payments
from discreet.loss.loss import Loss
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.sensitivity import is_replacement
from discreet.mechanisms.streams.sparse_vector import SparseVector, SparseVectorRun
from discreet.noise.bits import SystemBits
from discreet.plan.discovery import BoundDiscovery, Discovered
from discreet.plan.resolve import numeric_ranges, resolve
from discreet.plan.steps import Budget, NoisyTotal, Steps
from discreet.private import Private
from discreet.query.relation.expr import Column
from discreet.query.statistics.statistic import Additive
from discreet.run.execute import statements
from discreet.run.keys import Positions
from discreet.run.source import Source

Values: TypeAlias = Literal["gap"] | bool
Planner: TypeAlias = Callable[[Any], Steps]  # a question's plan at any price; it is its total and how far that moves that count here
_EXTRA: dict[Values, Literal["none", "gap", "value"]] = {False: "none", True: "value", "gap": "gap"}
_FURTHEST, _UNITS = 10**250, 2**62  # of a threshold: itself, and in units of what one protected unit moves; no count goes there
_ROUNDING = Fraction(1, 2**53)  # of a float, relative
_WORKS = "ask for one total, such as SELECT COUNT(*) FROM t WHERE …, COUNT(DISTINCT unit), or SUM(x) with bounds declared for x"


def _threshold(value: Number) -> Fraction:
    read = parameter.threshold(value)
    if abs(read) > _FURTHEST:  # what is told of a hit is a float
        raise Invalid("the threshold is too extreme: scale what is summed first")
    return read


class Outcome(NamedTuple):
    """Whether an answer is above its threshold; and, where that was asked for, its noisy value or by how much it beat the threshold."""

    above: bool
    value: float | None = None
    error: float | None = None  # how far the value may be off, with 95 % confidence
    gap: float | None = None

    def __repr__(self) -> str:
        if self.value is not None:
            return f"Outcome(above, value ≈ {self.value:,.6g} ± {self.error:,.3g})"
        return f"Outcome(above, by ≈ {self.gap:,.6g})" if self.gap is not None else f"Outcome({'above' if self.above else 'below'})"


@final
@frozen
class Measured:
    """One total as the engine counts it: whole numbers, of which 1 stands for `unit`, and which one protected unit moves by `moves`."""

    steps: Steps = field(repr=False)
    total: NoisyTotal
    rises: bool  # whether one more unit never lowers it

    @property
    def unit(self) -> Fraction:
        """What 1 stands for."""
        return self.total.unit

    @property
    def moves(self) -> int:
        """How far the whole number moves between neighbours."""
        return self.total.scaled.l1

    @property
    def sensitivity(self) -> Fraction:
        """The same in the answer's own units."""
        return self.moves * self.unit

    @classmethod
    def of(cls, steps: Steps) -> Measured:
        """The one total of a question, or what would work instead."""
        question = steps.question
        if question.epsilon is not None or question.delta is not None:
            raise Invalid("a round of the stream pays for its questions: leave the OPTIONS out")
        if question.keys:
            raise Refused(f"GROUP BY gives many answers, and a threshold question is about one: {_WORKS}")
        name, asked = question.statistics[0]
        plain = len(question.statistics) == 1 and len(question.outputs) == 1 and question.outputs[0][1] == Column(name)
        summed = isinstance(asked, Additive) and asked.one_total
        if not plain or not summed or question.having is not None or question.limit is not None:
            raise Refused(f"a threshold question is about one plain total, without HAVING or LIMIT: {_WORKS}")
        if steps.discoveries:
            bounds = sorted({one.name for one in steps.discoveries if isinstance(one, BoundDiscovery)})
            said = f'bounds={{"{bounds[0]}": (low, high)}}' if bounds else "contributions={'rows': …}, or one_row_per_unit=True"
            raise Refused(f"a stream finds nothing on the way: declare {said}")
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
        ((_, statement),) = statements(self.steps, engine.dialect)
        positions, cells = Positions.of(Source.of(self.steps, engine.dialect).cells or ()), np.zeros((1, 1), np.int64)
        for batch in engine.stream(statement.text, statement.given):
            batch.map(partial(positions.add, cells))
        return Private(cells).map(lambda found: int(found[0, 0]))

    def normalised(self, total: int, threshold: Fraction) -> Fraction:
        """(q − T)/Δ."""
        return (total - threshold / self.unit) / self.moves


@final
@frozen
class Round:
    """What one round costs."""

    loss: Loss
    epsilon: Fraction
    delta: Fraction = Fraction(0)


@final
class Watch:
    """A stream of threshold questions: say of each total whether it is above its threshold; only those that are use up what was paid.

    A round is one run of the sparse vector technique with one hit. It is charged, for `epsilon`, when the first question after the opening
    or after a hit is asked, before anything is read; questions whose answer is below cost nothing more, however many.

    Theorem (Dwork, Naor, Reingold, Rothblum & Vadhan 2009; Lyu, Su & Li 2017).
        A round is ε-DP, for questions chosen one by one with all earlier outcomes known, each with its own threshold and sensitivity.

    Proof. Let q be a question's bounded total and Δ how far one unit moves it; both Δ and the threshold T are fixed before the data is
        read. Then r = (q − T)/Δ moves by at most 1 between neighbours, and q ≥ T exactly when r ≥ 0: so all questions of a round are
        questions of sensitivity 1 with threshold 0, and `SparseVector` is ε-DP for them. Without the division a question of Δ > 1 would
        move by more than the noise was made for. If no total can fall when a unit comes (counts; sums of what is never negative), all r
        move in the same direction, dividing by Δ > 0 does not change it, and the noise may be smaller (`monotone=True`). A fresh value
        and a gap are those of r, times Δ: post-processing.

    Repeats. A stream is a conversation: outcomes are kept by nobody, and a question asked again is the stream's next question, with noise
        of its own. That is free while answers are below, and needs a new round after a hit, like any other question.

    Accuracy. `error`: with that confidence, in a round of so many questions every hit has q ≥ T − Δ·t and every miss q ≤ T + Δ·t.

    >>> import discreet, polars
    >>> rows = polars.DataFrame({"id": range(4000), "dept": ["er"] * 3000 + ["ward"] * 1000})
    >>> db = discreet.connect({"visits": rows}, unit="id", epsilon=2, ledger=":memory:", one_row_per_unit=True)
    >>> stream = db.watch(epsilon=1, threshold=2000, rounds=2)
    >>> stream.ask("SELECT COUNT(*) FROM visits WHERE dept = 'ward'")
    Outcome(below)
    >>> stream.ask("SELECT COUNT(*) FROM visits WHERE dept = 'er'")
    Outcome(above)
    >>> stream
    Watch(1 of 2 rounds left; 2 questions asked; ε = 1 so far, 1 for each round)
    """

    def __init__(
        self, mechanism: SparseVector, threshold: Fraction, rounds: int, plan: Planner, engine: Engine, payments: Payments
    ) -> None:
        self.mechanism, self.threshold, self.rounds = mechanism, threshold, rounds
        self.asked, self.opened, self._attempts = 0, 0, 0
        self._plan, self._engine, self._payments = plan, engine, payments
        self._run: SparseVectorRun | None = None
        self._mark = f"watch {SystemBits().word():016x}"
        self._process, self._lock = os.getpid(), threading.Lock()

    @classmethod
    def open(
        cls,
        epsilon: Number,
        threshold: Number,
        rounds: int,
        values: Values,
        monotone: bool,
        adjacency: str,
        plan: Planner,
        engine: Engine,
        payments: Payments,
    ) -> Watch:
        """Read the parameters; nothing is spent until the first question."""
        if not any(values is one for one in (True, False)) and values != "gap":
            raise Invalid('values must be True (a third of the price goes to them), "gap" (free) or False')
        if parameter.monotone(monotone) and adjacency == "replace-one":
            raise Invalid("where units are replaced, totals may rise and fall at once: leave monotone out")
        mechanism = SparseVector(epsilon=epsilon, threshold=0, monotone=monotone, extra=_EXTRA[values])
        return cls(mechanism, _threshold(threshold), exact.whole(rounds, "rounds"), plan, engine, payments)

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def ask(self, question: Any, threshold: Number | None = None) -> Outcome:
        """Say whether a total is above the threshold: in SQL, or as `db.sql(...)` or `db.table(...)` make it."""
        if os.getpid() != self._process:  # both copies have the round's noise: each could have its hit
            raise Invalid("this stream was copied into another process: open one there")
        asked = self._measured(question)
        limit = self.threshold if threshold is None else _threshold(threshold)
        if abs(limit) > _UNITS * asked.sensitivity:
            raise Invalid("this threshold is further away than any total could be: nothing needs to be asked")
        with self._lock:  # two questions at once might both be the hit
            run = self._run or self._open()
            answer = asked.read(self._engine).map(lambda total: asked.normalised(total, limit))
            self.asked += 1
            self._run = None  # if anything goes wrong from here on, noise was drawn: the round is over
            above, extra = run.ask(answer)
            if not above:
                self._run = run
        if extra is None:
            return Outcome(above)
        if self.mechanism.value_epsilon is None:
            return Outcome(True, gap=float(asked.sensitivity) * extra)
        return Outcome(True, *asked.told(extra, limit, Laplace(epsilon=self.mechanism.value_epsilon, whole=False)))

    def error(self, confidence: Number = 0.95, questions: int = 1, question: Any = None) -> float:
        """How far on the wrong side of its threshold an answer may be, in a round of so many questions; nothing is spent.

        In a question's own units if one is given, else in units of what one protected unit can move it by.
        """
        reach = self.mechanism.error(confidence, questions)
        return reach if question is None else reach * float(self._measured(question).sensitivity)

    def _measured(self, question: Any) -> Measured:
        asked = Measured.of(self._plan(question))
        if self.mechanism.monotone and not asked.rises:
            raise Refused("this total may fall when a unit comes: open the stream without monotone=True, or declare bounds from 0 up")
        return asked

    # ── paying ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def _open(self) -> SparseVectorRun:
        """Pay for a round, then draw its threshold's noise."""
        if self.opened == self.rounds:
            raise BudgetExceeded(f"this stream has used its {self.rounds} rounds, one for each hit: open another. Nothing was read.")
        self._attempts += 1  # each under a key of its own: one that failed, perhaps after it was booked, is not used again
        price, note = Round(self.mechanism.loss, self.mechanism.epsilon), f"watch: round {self.opened + 1} of {self.rounds}"
        _, fresh = self._payments.claim(price, self._mark, f"{self._mark}#{self._attempts}", note)
        if not fresh:
            raise Invalid("this stream was copied into another process: open one there")
        self.opened += 1
        self._run = self.mechanism.open()
        return self._run

    @property
    def spent(self) -> Fraction:
        """The ε of all rounds so far."""
        return self.opened * self.mechanism.epsilon

    @property
    def left(self) -> int:
        """How many hits there may still be."""
        return self.rounds - self.opened + (self._run is not None)

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid("a stream cannot be copied: both copies would have the same noise")

    def __repr__(self) -> str:
        return (
            f"Watch({self.left} of {self.rounds} rounds left; {self.asked:,} questions asked; ε = {float(self.spent):g} so far, "
            f"{float(self.mechanism.epsilon):g} for each round)"
        )
