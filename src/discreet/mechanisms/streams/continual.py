"""Shared code of continual release: a run that takes one step at a time, windows over its running totals, bounds for normal errors."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.mechanisms import answer as answers
from discreet.mechanisms.answer import LIMIT
from discreet.mechanisms.streams.stateful import StatefulRun
from discreet.noise.bits import Bits
from discreet.private import Private, reveal

Totals: TypeAlias = "list[int] | list[float]"
LONGEST = 2**40  # steps
_CUT = "this run was interrupted within a step, which may already have been released: open a new run, with its own privacy loss"


class StreamRun(StatefulRun, ABC):
    """A stateful run of a stream: it takes the number of each step and returns the noisy running total.

    All of its loss is spent when it is opened. Only steps that were added get noise, each once; after the horizon it halts. In a private
    list the numbers are private and its length is not. An interruption within a step (Ctrl-C, for example) ends the run: its numbers may
    already be in the sums, and would count twice if added again.
    """

    def __init__(self, horizon: int, windows: Iterable[int], bits: Bits) -> None:
        super().__init__()
        self.horizon = horizon
        self.windows = tuple(sorted({exact.whole(w, "a window") for w in windows}))
        self.steps = 0
        self.measured: list[int] = []
        self._bits = bits
        self._cut = False  # True during a step, and from then on if the step was not completed
        self._recent: deque[Any] = deque([0], maxlen=max(self.windows, default=0) + 1)

    @property
    def halted(self) -> bool:
        """Whether the horizon is reached, or a step was interrupted."""
        return self._cut or self.steps == self.horizon

    @final
    def add(self, value: Private[Any] | Any) -> Any:
        """Add the number of one step and return the running total."""
        opened = reveal(value)
        if not isinstance(value, Private):
            answers.check_whole(value)
        if not answers.is_single(opened):
            raise Invalid("add takes the number of one step: use add_many for several")
        read = answers.exactly(opened.item() if isinstance(opened, np.ndarray) else opened)
        return self._all([0 if read is None else min(max(math.floor(read), -LIMIT), LIMIT)], None)[0]

    @final
    def add_many(self, values: Private[Sequence[Any]] | Sequence[Any]) -> Totals:
        """Add the numbers of several steps and return the running total after each: the same law, faster."""
        return self._all(read_steps(values), None)

    @final
    def window(self, steps: int) -> Any:
        """The noisy sum of the last `steps` steps (fewer at the beginning): the difference of two running totals, at no privacy cost.

        Windows are declared when the run is opened. It keeps as many running totals, which are public, as the longest window has steps.
        """
        if steps not in self.windows:
            raise Invalid(f"this run has no window of that length: open it with windows=({steps},)")
        return self._recent[-1] - self._recent[-1 - min(steps, self.steps)]

    @final
    def follow(self, values: Private[Sequence[Any]] | Sequence[Any], measured: Sequence[int]) -> Totals:
        """Restore a run from the numbers of its past steps and their recorded measurements. No noise is drawn."""
        past = read_steps(values)
        if len(past) != len(measured):
            raise Invalid("give one measurement for each past step")
        return self._all(past, [int(one) for one in measured])

    def _all(self, values: list[int], measured: list[int] | None) -> Totals:
        self.check_process()
        with self._lock:
            if self._cut:
                raise Invalid(_CUT)
            if self.steps + len(values) > self.horizon:
                raise Invalid(f"this run has a horizon of {self.horizon:,} steps, on which its privacy rests: open a new run for more")
            self._cut = True
            totals = self._advance(values, measured) if values else []
            self.steps += len(values)
            self._recent.extend(totals)
            self._cut = False
            return totals

    @property
    @abstractmethod
    def numbers_kept(self) -> int:
        """The number of values that the run stores, apart from windows."""

    @abstractmethod
    def _advance(self, values: list[int], measured: list[int] | None) -> Totals:
        """Take the steps and set `measured` to the measurement of each: drawn now, or given."""


def read_steps(values: Any) -> list[int]:
    """Read the numbers of steps as integers clamped to ±2⁶², totally in a private list; the list may be empty."""
    opened = reveal(values)
    if not hasattr(opened, "__len__"):
        raise Invalid("give the numbers of the steps as a list")
    if not len(opened):
        return []
    if type(opened) is list and set(map(type, opened)) == {int} and min(opened) > -LIMIT and max(opened) < LIMIT:
        return opened  # the usual case: reading them one by one would take longer than their noise
    if not isinstance(values, Private):
        answers.check_whole(opened)
    found: list[int] = answers.wholes(opened)[0].tolist()
    return found


def horizon(value: int) -> int:
    """Read the largest number of steps."""
    if (read := exact.whole(value, "horizon")) > LONGEST:
        raise Invalid("horizon must not be more than 2^40 steps")
    return read


def contributions(value: int) -> int:
    """Read the largest number of steps to which one unit contributes."""
    return exact.whole(value, "contributions")


def step_sensitivity(value: exact.Number) -> Fraction:
    """Read the largest change of a step by one unit.

    Lemma. Private numbers are rounded down to whole ones. If |x − y| ≤ Δ and Δ is whole, |⌊x⌋ − ⌊y⌋| ≤ Δ, for ⌊y⌋ ≤ ⌊x + Δ⌋ = ⌊x⌋ + Δ and
    the other way round. If Δ is not, they may be ⌈Δ⌉ apart: 0.995 and 1 are 1/200 apart, and their roundings 1. So Δ must be whole.
    """
    if (read := parameter.sensitivity(value)).denominator > 1:
        raise Invalid("the steps of a stream are whole numbers: give a whole sensitivity, or use a smaller unit")
    return read


def step_of(after: int, horizon: int) -> int:
    """Read a step within the horizon."""
    if (read := exact.whole(after, "after")) > horizon:
        raise Invalid(f"there are only {horizon:,} steps: give one of them")
    return read


def simultaneous_bound(spreads: Sequence[tuple[float, int]], confidence: exact.Number) -> float:
    """A t that bounds all of several normal errors at this confidence; (standard deviation, how many) for each kind.

    By the union bound: Σ count·P[|sd·Z| > t] ≤ 1 − confidence.
    """
    beta = exact.miss(exact.confidence_level(confidence))

    def missed(t: float) -> float:
        return sum(count * math.erfc(t / (spread * math.sqrt(2))) for spread, count in spreads)

    low, high = 0.0, 64.0 * max(spread for spread, _ in spreads)  # beyond 64 deviations nothing is left but 10⁻⁸⁰⁰
    for _ in range(64):
        middle = (low + high) / 2
        low, high = (low, middle) if missed(middle) * (1 + 1e-9) <= beta else (middle, high)
    return high
