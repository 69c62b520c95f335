"""Estimates under frozen noise: neighbours look the same, and one unit changes one block, or one value."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest
from gauntlet import world
from gauntlet.replay import Trace, run

from discreet.mechanisms.robust.bootstrap import LittleBootstraps
from discreet.mechanisms.robust.sample_and_aggregate import Blocks, SampleAndAggregate
from discreet.mechanisms.value_grid import Places
from discreet.session.session import Session

ASKED: dict[str, Any] = {
    "function": lambda table: table.estimate(lambda rows: float(np.nanmean(rows["cost"])), epsilon=3, bounds=(0, 100), name="a", blocks=9),
    "mean": lambda table: table.estimate(len, epsilon=3, bounds=(0, 9), aggregate="mean", name="b", blocks=4),
    "stable": lambda table: table.estimate(lambda rows: rows["dept"][0], epsilon=3, aggregate="stable", name="c", blocks=7),
    "uncertain": lambda table: table.estimate(len, epsilon=3, bounds=(0, 9), uncertainty=True, name="d", blocks=5),
    "median": lambda table: table.per_unit(s="SUM(qty)").estimate("median", "s", bounds=(0, 50), epsilon=3),
    "smooth": lambda table: table.per_unit(s="MAX(cost)").estimate("trimmed mean", "s", bounds=(0, 500), method="smooth", epsilon=3),
    "test": lambda table: table.per_unit(s="MIN(age)").where("s > 30").estimate("median", "s", method="test", bound=3, epsilon=3),
    "mode": lambda table: table.per_unit(s="MAX(dept)").estimate("mode", "s", epsilon=3),
}


class Said:
    """An estimate in the form that replays look at."""

    def __init__(self, told: Any) -> None:
        self.rows, self._text = repr(told), told.to_text()

    def to_text(self) -> str:
        return self._text


def asking(name: str) -> Any:
    def ask(session: Session) -> Any:
        return Said(ASKED[name](session.table("visits")))

    return ask


def seen(trace: Trace) -> dict[str, Any]:
    """What an onlooker sees; functions are told apart by name."""
    return trace.seen | {"mechanisms": [re.sub(r" at 0x\w+", "", repr(mechanism)) for mechanism in trace.seen["mechanisms"]]}


def moved(first: Trace, second: Trace) -> int:
    """How many blocks, or values, differ in what the one mechanism was given."""
    (a,), (b,) = first.calls, second.calls
    match a.private, b.private:
        case Blocks(parts=one), Blocks(parts=two):
            return sum(repr(_plain(x)) != repr(_plain(y)) for x, y in zip(one, two, strict=True))
        case Places(points=p, counts=c), Places(points=q, counts=d):
            before, after = (Counter(dict(zip(x.tolist(), y.tolist(), strict=True))) for x, y in ((p, c), (q, d)))
        case one, two:
            before, after = (Counter(dict(zip(*map(tuple, side), strict=True))) for side in (one, two))
    return sum(((before - after) + (after - before)).values())


def _plain(part: Any) -> Any:
    return [(name, str(column.dtype), column.tolist()) for name, column in part.columns.items()]


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("pair", world.PAIRS, ids="-".join)
def test_neighbours_look_the_same_and_one_unit_moves_little(name: str, pair: tuple[str, str]) -> None:
    before, after = pair
    first = run(world.session(before), asking(name), seed=5)
    second = run(world.session(after), asking(name), script=first.calls)
    assert first.error is None
    assert seen(first) == seen(second)
    assert first.events[0] == "debit"
    assert moved(first, second) <= 1


@pytest.mark.parametrize("name", ASKED)
def test_replacing_moves_two_at_most_and_is_paid_for(name: str) -> None:
    one, two = list(world.WILD)[:2]
    first = run(world.session(f"base+{one}", "replace-one"), asking(name), seed=5)
    second = run(world.session(f"base+{two}", "replace-one"), asking(name), script=first.calls)
    assert first.error is None
    assert seen(first) == seen(second)
    mechanism = first.calls[0].mechanism
    if isinstance(mechanism, SampleAndAggregate | LittleBootstraps):
        assert mechanism.blocks_per_unit == 2
    assert moved(first, second) <= 2


def test_rows_left_in_the_engines_order_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: where types follow from what is there, somebody's missing value changes other blocks."""
    from discreet.session.estimate import blocks

    monkeypatch.setattr(blocks, "typed", lambda column, kind: column)
    found = 0
    for before, after in world.ADDED:
        first = run(world.session(before), asking("function"), seed=5)
        second = run(world.session(after), asking("function"), script=first.calls)
        found += moved(first, second) > 1
    assert found
