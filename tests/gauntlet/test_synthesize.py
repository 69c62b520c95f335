"""Synthetic tables under frozen noise: neighbours look the same, and no unit moves more than is paid for."""

from __future__ import annotations

from typing import Any

import pytest
from gauntlet import world
from gauntlet.replay import differences, excesses, run

from discreet.session.session import Session

COLUMNS = ["dept", "qty", "age"]
ORDERS: list[dict[str, Any]] = [
    {"method": "residuals", "columns": COLUMNS},
    {"method": "mst", "columns": COLUMNS},
    {"method": "aim", "columns": COLUMNS, "workload": 2, "bins": 8},
    {"method": "auto", "columns": ["dept", "part", "cost"], "bins": 6},
    {"method": "mst", "columns": COLUMNS, "other": True, "edges": {"age": [0, 30, 60, 90]}, "rows": 9},
]
RICH = [{"method": method, "columns": COLUMNS, "bins": 4, "epsilon": 400} for method in ("residuals", "mst", "aim")]  # pairs are measured
PAIRS = [*world.ADDED[:3], ("base", "fewer"), next(pair for pair in world.PAIRS if pair[0] == "empty")]


def asking(order: dict[str, Any]) -> Any:
    def ask(session: Session) -> Any:
        return session.synthesize("visits", **({"epsilon": 3, "delta": 1e-4, "contributions": {"rows": 4}} | order))

    return ask


@pytest.mark.parametrize("order", [*ORDERS, *RICH], ids=lambda order: str(order["method"]))
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_neighbours_look_the_same(order: dict[str, Any], pair: tuple[str, str]) -> None:
    before, after = pair
    first = run(world.session(before, "add/remove"), asking(order), seed=7)
    second = run(world.session(after, "add/remove"), asking(order), script=first.calls)
    assert first.error is None
    assert first.calls
    assert differences(first, second) + excesses(first, second, True) == []


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: str(order["method"]))
def test_replacing_costs_more_and_looks_the_same(order: dict[str, Any]) -> None:
    first = run(world.session("base+" + next(iter(world.WILD)), "replace-one"), asking(order), seed=3)
    second = run(world.session("base+" + list(world.WILD)[1], "replace-one"), asking(order), script=first.calls)
    assert first.error is None
    assert differences(first, second) + excesses(first, second, False) == []


@pytest.mark.parametrize("order", RICH, ids=lambda order: str(order["method"]))
def test_a_large_price_buys_pairs(order: dict[str, Any]) -> None:
    """Or the tests above would look at independent columns only."""
    made = asking(order)(world.session("base", "add/remove"))
    assert max(len(one.clique) for one in made.measured) > 1


def test_a_unit_that_counts_more_than_is_paid_for_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: with weights left out, somebody with many rows moves a marginal by more than its noise is for."""
    from discreet.run import write

    monkeypatch.setattr(write, "_row_weight", lambda bounding, dialect: str(bounding.one))
    found = []
    for before, after in world.ADDED:
        first = run(world.session(before, "add/remove"), asking(ORDERS[1]), seed=7)
        second = run(world.session(after, "add/remove"), asking(ORDERS[1]), script=first.calls)
        found += excesses(first, second, True)
    assert found


# ── questions on the fly ─────────────────────────────────────────────────────────────────────────────────────────────

WHERES: list[dict[str, Any]] = [
    {"dept": "er"},
    {"dept": "er", "age": (20, 60)},
    {"age": (20, 60)},
    {"dept": ["icu", "lab"], "qty": (2, 5)},
    {"dept": "er"},
    {"qty": (1, 3)},
]


class Said:
    """What a conversation told, in the form that replays look at."""

    def __init__(self, told: list[Any]) -> None:
        self.rows = [(one.value, one.source, one.error, str(one.cost)) for one in told]

    def to_text(self) -> str:
        return repr(self.rows)


def talking(session: Session) -> Any:
    talk = session.interactive(COLUMNS, 5, 30, table="visits", delta=1e-4, contributions={"rows": 4}, bins=8, questions=100)
    return Said([*(talk.ask(where) for where in WHERES), talk.ask({"dept": "er"}, mean="qty")])


@pytest.fixture
def one_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Conversations are told apart by a random mark; here all have the same."""
    from discreet.session import stateful

    monkeypatch.setattr(stateful, "SystemBits", lambda: type("Fixed", (), {"word": lambda self: 7})())


@pytest.mark.usefixtures("one_mark")
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_conversations_look_the_same(pair: tuple[str, str]) -> None:
    before, after = pair
    first = run(world.session(before, "add/remove"), talking, seed=5)
    second = run(world.session(after, "add/remove"), talking, script=first.calls)
    assert first.error is None
    assert len(first.calls) >= 3
    assert differences(first, second) + excesses(first, second, True) == []


def test_a_conversation_pays_before_it_looks() -> None:
    """With a budget that admits nothing, nothing is read."""
    trace = run(
        world.session("base", "add/remove"),
        lambda s: Said([s.interactive(COLUMNS, 1e-9, 30, table="visits", delta=1e-9, contributions={"rows": 4}).ask({"dept": "er"})]),
    )
    assert str(trace.error).startswith("Refused: ε = 1e-09 does not pay for a single count")
    assert not trace.calls
    assert not trace.statements
