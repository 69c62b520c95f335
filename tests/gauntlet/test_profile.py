"""Profiles under frozen noise: neighbours look the same, no unit moves more than is paid for, and the mechanisms fit the price."""

from __future__ import annotations

from typing import Any

import pytest
from gauntlet import world
from gauntlet.replay import Trace, differences, excesses, run

from discreet.loss.leaves import GaussianThreshold
from discreet.loss.loss import Loss, compose
from discreet.loss.notions import Approx
from discreet.mechanisms.partition_selection import ThresholdedCounts, WeightedGaussianSelection
from discreet.private import reveal
from discreet.session.profile.plan import ProfilePlan
from discreet.session.session import Session

TABLES = ["visits", "people", "rx", "orders", "items", "events"]
NOISES = ["gaussian", "laplace"]  # at ε = 300 a few hundred rows are enough for all grids
PAIRS = [*world.ADDED, ("base", "base+crowd"), ("base", "fewer"), *(pair for pair in world.PAIRS if pair[0] == "empty")]
REPLACED = [("base+missing", "base+nan"), ("base+infinite", "base+everywhere"), ("base+huge", "base+lowest"), ("base+edges", "base+nobody")]


@pytest.fixture(params=NOISES)
def noise(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every profile has this noise, whichever is smaller."""
    monkeypatch.setattr(ProfilePlan, "noise", request.param)
    return str(request.param)


def asking(table: str, epsilon: float = 300, delta: float = 1e-4) -> Any:
    def ask(session: Session) -> Any:
        return session.profile(table, epsilon=epsilon, delta=delta)

    return ask


def both(table: str, pair: tuple[str, str], adjacency: str = "add/remove", seed: int = 7, **price: float) -> tuple[Trace, Trace]:
    first = run(world.session(pair[0], adjacency), asking(table, **price), seed=seed)
    return first, run(world.session(pair[1], adjacency), asking(table, **price), script=first.calls)


def spent(trace: Trace, replaced: bool) -> Loss:
    """The loss of the mechanisms that ran. Those that find values have theorems for adding and removing; replacing does both.

    Lemma. Let x and y differ in one unit. Groups that only x has are released with probability p at most, those that only y has with q,
    independently of the noise on groups that both have, where the units move weights by 2 at most. So X = (1 − p)X' + p·A and
    Y ≥ (1 − q)Y' for Gaussian X' and Y', and X(S) − e^ε·Y(S) ≤ δ' + max(p, q) if X' and Y' are (ε, δ')-close.
    """
    return compose(_replaced(call.mechanism) if replaced else call.mechanism.loss for call in trace.calls)


def _replaced(mechanism: Any) -> Loss:
    match mechanism:
        case ThresholdedCounts():
            return Approx(mechanism.epsilon, mechanism.delta).group(2)
        case WeightedGaussianSelection():
            return GaussianThreshold(4 / mechanism.scale**2, mechanism.delta)
    loss: Loss = mechanism.loss
    return loss


@pytest.mark.usefixtures("noise")
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_neighbours_look_the_same(table: str, pair: tuple[str, str]) -> None:
    first, second = both(table, pair)
    assert first.error is None
    assert first.calls
    assert differences(first, second) + excesses(first, second, True) == []


@pytest.mark.usefixtures("noise")
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("pair", REPLACED, ids="-".join)
def test_replacing_costs_more_and_looks_the_same(table: str, pair: tuple[str, str]) -> None:
    first, second = both(table, pair, "replace-one")
    assert first.error is None
    assert differences(first, second) + excesses(first, second, False) == []


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
def test_without_a_delta_values_are_not_looked_for(table: str, adjacency: str) -> None:
    first, second = both(table, ("base+infinite", "base+edges"), adjacency, delta=0)
    assert first.error is None
    assert {type(call.mechanism).__name__ for call in first.calls} == {"Laplace"}
    assert differences(first, second) == []
    assert spent(first, False).within(Approx(300, 0))


@pytest.mark.usefixtures("noise")
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
@pytest.mark.parametrize("epsilon", [0.1, 3, 300])
def test_the_mechanisms_that_ran_fit_the_price(table: str, adjacency: str, epsilon: float) -> None:
    """Their losses, composed, are within what the plan promised and the ledger charged."""
    session = world.session("base", adjacency)
    plan = session.profile(table).plan(epsilon, 1e-4)
    trace = run(session, asking(table, epsilon), seed=1)
    assert trace.error is None
    promised = Approx(plan.epsilon, plan.delta)
    assert plan.loss.within(promised)
    loss = spent(trace, adjacency == "replace-one")
    assert loss.within(promised)
    assert session.spent.epsilon == plan.epsilon


def test_tables_over_keys_that_a_profile_found() -> None:
    """Their cells, and what stands for all others, follow from what the profile released."""

    def ask(session: Session) -> Any:
        session.profile("visits", epsilon=300, delta=1e-4)
        return session.sql("SELECT town, code, COUNT(*) AS n, MEDIAN(age) AS m FROM visits GROUP BY ROLLUP (town, code)").release(epsilon=5)

    for pair in [*world.ADDED, ("base", "base+crowd")]:
        first = run(world.session(pair[0], "add/remove"), ask, seed=7)
        second = run(world.session(pair[1], "add/remove"), ask, script=first.calls)
        assert first.error is None
        assert "(other)" in str(first.rows)
        assert differences(first, second) + excesses(first, second, True) == []


# ── controls: profiles that are not private are caught ──────────────────────────────────────────────────────────────


def caught() -> bool:
    """Whether one of the pairs shows that the profile of visits is not private."""
    for pair in world.ADDED[::-1]:
        first, second = both("visits", pair)
        if differences(first, second) or excesses(first, second, True):
            return True
    return False


@pytest.mark.parametrize("noise", NOISES)
def test_half_of_the_sensitivity_is_caught(noise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProfilePlan, "noise", noise)
    counting = ProfilePlan.counting
    monkeypatch.setattr(ProfilePlan, "counting", lambda self, part, l1, l2: counting(self, part, max(l1 // 2, 1), l2 / 2))
    assert caught()


def test_weights_that_are_left_out_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.run import write

    monkeypatch.setattr(write, "_row_weight", lambda bounding, dialect: str(bounding.one))
    assert caught()


@pytest.mark.parametrize("noise", NOISES)
def test_values_that_are_not_capped_are_caught(noise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.session.profile import run as running

    write_capped = running.write_capped
    monkeypatch.setattr(ProfilePlan, "noise", noise)
    # each unit may have any number of values, each counted in full
    monkeypatch.setattr(running, "write_capped", lambda source, value, most, salt, root: _whole(write_capped, source, salt, root))
    assert caught()


def _whole(write_capped: Any, source: Any, salt: str, root: int | None) -> Any:
    from attrs import evolve

    capped = write_capped(source, None, 10**6, salt, None)
    return capped if root is None else evolve(capped, text=capped.text.replace("COUNT(*)", f"COUNT(*) * {root}"))


def test_rows_that_are_counted_without_noise_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the number of cells follows the exact number of rows, neighbours have other grids."""
    from discreet.session.profile import run as running

    def cells(self: Any, name: str, stage: str, rows: Any) -> int:
        source = running.Source(self.plan.relation, (), None, self.engine.dialect)
        counted = self.engine.run(f"SELECT COUNT(*) AS s0 FROM ({source.rows()}) AS r", source.given)
        return int(reveal(counted)["s0"][0]) % 60 + 4

    monkeypatch.setattr(running.Counting, "_cells", cells)
    assert caught()
