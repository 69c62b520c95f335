"""Timing: contenders take turns, and the best turn of each counts.

A shared machine slows down for seconds at a time. Turn by turn the slow seconds fall on everyone, and the best of several turns is the
one least disturbed; so ratios are steadier than the times themselves, and ratios are what the tables are about. Slow contenders have few
turns: they are compared with what the others did in the same rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from attrs import field, frozen

TURN = 0.02  # seconds that one turn should last, so that the clock's grain and a loop's overhead vanish
PATIENCE = 3.0  # seconds after which a slow contender takes no more turns


class Unmeasured(Exception):
    """A contender that could not be run; the message says why."""


@frozen
class Contender:
    """Something to measure: a function that does the work k times and gives the seconds it took."""

    name: str
    run: Callable[[int], float]
    work: int = 1  # how many samples or items one call makes; times are given for each


@frozen
class Result:
    """What the turns of one contender gave, in seconds for each item of work."""

    turns: dict[int, float] = field(factory=dict)  # by round; round 0 is the first turn, which only counts where there are hardly others
    counted: frozenset[int] = frozenset()
    why: str = ""  # it could not be measured, or not to the end

    @property
    def best(self) -> float | None:
        """The least of the turns that count."""
        return min((self.turns[i] for i in self.counted), default=None)

    def over(self, other: Result | None) -> float | None:
        """How many times as fast as another, by the rounds in which both took part: one with more turns has no more luck."""
        if other is None:
            return None
        common = (self.counted & other.turns.keys()) if len(self.counted) <= len(other.counted) else (other.counted & self.turns.keys())
        return min(other.turns[i] for i in common) / min(self.turns[i] for i in common) if common else None


def local(name: str, function: Callable[[], Any], work: int = 1) -> Contender:
    """A function of this process as a contender."""

    def run(repeats: int) -> float:
        begin = time.perf_counter()
        for _ in range(repeats):
            function()
        return time.perf_counter() - begin

    return Contender(name, run, work)


def race(
    contenders: Sequence[Contender], rounds: int, patience: float = PATIENCE, say: Callable[[str], None] | None = None
) -> dict[str, Result]:
    """Let contenders take turns for some rounds; the first turn of each warms it up and does not count.

    One whose first turn takes longer than `patience` has one other, and both count. `say` hears of every first turn.
    """
    repeats: dict[str, int] = {}
    turns: dict[str, dict[int, float]] = {c.name: {} for c in contenders}
    spent = dict.fromkeys(turns, 0.0)
    failed: dict[str, str] = {}
    for turn in range(rounds + 1):
        for c in contenders:
            if c.name in failed or spent[c.name] >= patience:
                continue
            try:
                if turn == 0:
                    seconds, repeats[c.name] = _first(c, patience)
                    turns[c.name][0] = seconds / c.work
                    if say is not None:
                        say(f"{c.name}: {seconds:.3g} s")
                    continue
                seconds = c.run(repeats[c.name])
            except Unmeasured as failure:
                failed[c.name] = str(failure)
                continue
            spent[c.name] += seconds
            turns[c.name][turn] = seconds / repeats[c.name] / c.work
    return {name: Result(t, _counted(t, patience), failed.get(name, "")) for name, t in turns.items()}


def _counted(turns: dict[int, float], patience: float) -> frozenset[int]:
    return frozenset(i for i in turns if i > 0 or turns[0] >= patience or len(turns) == 1)


def _first(contender: Contender, patience: float) -> tuple[float, int]:
    """Warm up: the seconds of one call, and how many calls fill a turn."""
    once = contender.run(1)
    if once < patience / 3:
        once = min(once, contender.run(1))
    return once, max(1, round(TURN / max(once, 1e-9)))


def complaints(races: Iterable[dict[str, Result]]) -> list[str]:
    """Who could not be measured, and why."""
    failed = [(name, result) for results in races for name, result in results.items() if result.why]
    return sorted({f"{name} {'stopped' if result.turns else 'not measured'}: {result.why}" for name, result in failed})
