"""Filters: exact at their limits, sound against the best adaptive analyst, and dead once dead."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BudgetExceeded, Invalid
from discreet.loss.calibrate import gaussian_scale
from discreet.loss.charge import Charge
from discreet.loss.convert import gaussian_budget
from discreet.loss.filter import Filter, Gate
from discreet.loss.leaves import Approx, GaussianLoss, LaplaceLoss, Pure, Revealed, Zcdp
from discreet.loss.loss import Loss

NANO = Fraction(1, 10**9)


def test_ten_tenths_fit_and_an_eleventh_does_not() -> None:
    for delta in (0, NANO):
        budget = Filter(1, delta)
        for _ in range(10):
            budget = budget.spend(Pure(0.1))
        assert not budget.admits(Pure("1e-40"))
        with pytest.raises(BudgetExceeded, match="Nothing was charged"):
            budget.spend(Pure(0.1))


def test_all_of_a_fresh_budget_is_granted_to_one_question() -> None:
    scale = gaussian_scale(1, NANO)
    assert Filter(1, NANO).spend(Approx("1/2", NANO)).remaining == (Fraction(1, 2), 0)
    for loss in (Approx(1, NANO), Pure(1), GaussianLoss(1 / scale**2), LaplaceLoss(1)):
        assert Filter(1, NANO).admits(loss)
        assert not Filter(1, NANO).spend(loss).admits(Pure("1/2"))
    assert not Filter(1, NANO).admits(GaussianLoss(1 / scale**2 * Fraction(1001, 1000)))
    assert not Filter(1, NANO).admits(Approx(1, NANO * 2))
    assert not Filter(1, NANO).admits(Revealed())


def test_without_delta_only_basic_composition_is_open() -> None:
    assert [gate.notion for gate in Filter(1).spend(Pure("1/2")).gates] == ["basic"]
    assert not Filter(1).admits(GaussianLoss("1e-9"))
    assert not Filter(1).admits(Approx(0, "1e-30"))


def test_many_small_questions_outlive_basic_composition() -> None:
    budget, count = Filter(1, "1e-6"), 0
    while budget.admits(GaussianLoss("1e-4")):
        budget, count = budget.spend(GaussianLoss("1e-4")), count + 1
    assert not any(gate.alive for gate in budget.gates if gate.notion == "basic")
    assert count > 0.85 * float(gaussian_budget(Fraction(1), Fraction(1, 10**6))) * 10**4
    spent = count * GaussianLoss("1e-4")
    assert spent.within(Approx(1, "1e-6"))


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from([Pure("1/7"), Approx("1/9", "1e-11"), GaussianLoss("1/500"), Zcdp("1/999"), LaplaceLoss("1/5")]), max_size=14)
)
def test_what_is_admitted_is_within_and_death_is_final(asked: list[Loss]) -> None:
    budget, total = Filter(1, NANO), 0 * Pure(0)
    for loss in asked:
        before = budget
        if budget.admits(loss):
            budget, total = budget.spend(loss), total + loss
            dead = [g.notion for g in before.gates if not g.alive]
            assert all(not g.alive for g in budget.gates if g.notion in dead)
        else:
            with pytest.raises(BudgetExceeded):
                budget.spend(loss)
            assert budget == before
        assert total.within(Approx(1, NANO))  # no adaptivity here, so every route may judge
        assert Filter.from_json(json.loads(json.dumps(budget.to_json()))) == budget


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([Pure(1), Pure("1/9"), Approx(1, NANO), GaussianLoss("1/40"), Approx("1/2", NANO / 2), Zcdp("1/70")]))
def test_the_shares_of_delta_never_exceed_it(first: Loss) -> None:
    budget = Filter(1, NANO)
    if not budget.admits(first):
        return
    after = budget.spend(first)
    assert total_delta(after.gates, Fraction(1)) <= NANO * (1 + Fraction(1, 10**6))
    assert all(gate.admits(after.spent) for gate in after.gates if gate.alive)


def total_delta(gates: tuple[Gate, ...], epsilon: Fraction) -> Fraction:
    """What the gates together promise, recomputed from their limits."""
    total = Fraction(0)
    for gate in gates:
        probe = {"basic": Pure(0), "zcdp": Zcdp(gate.limit), "gdp": GaussianLoss(gate.limit)}[gate.notion]
        total += gate.mass_limit + Fraction(probe.delta_at(epsilon))
    return total


# ── the best adaptive analyst, exactly ───────────────────────────────────────────────────────────────────────────────

STEP = Fraction(3, 10)
MASS = Fraction(1, 50)
Spend = Callable[[Filter, Loss], Filter]


def honest(budget: Filter, loss: Loss) -> Filter:
    return budget.spend(loss)


def best_analyst(budget: Filter, epsilon: float, spend: Spend = honest, depth: int = 40) -> float:
    """The largest δ at ε over all adaptive analysts who ask randomised responses and coin-flip revelations.

    With P/Q = e^{STEP·n} so far, the value is homogeneous in Q: stop for (e^{STEP·n} − e^ε)₊, or ask and go on with n ± 1.
    """
    step = float(STEP)
    yes = math.exp(step) / (1 + math.exp(step))

    @cache
    def value(n: int, state: Filter, left: int) -> float:
        best = max(0.0, math.exp(step * n) - math.exp(epsilon))
        if left == 0:
            return best
        for loss in (Pure(STEP), Approx(0, MASS)):
            if not state.admits(loss):
                continue
            after = spend(state, loss)
            if loss.delta:
                # with probability MASS the input is revealed, which P alone can have done
                ask = float(MASS) * math.exp(step * n) + (1 - float(MASS)) * value(n, after, left - 1)
            else:
                ask = (1 - yes) * value(n + 1, after, left - 1) + yes * value(n - 1, after, left - 1)
            best = max(best, ask)
        return best

    return value(0, budget, depth)


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1/10"), ("1", "1/4"), ("2", "1/20"), ("1/2", "1/5"), ("3/5", "0.04")])
def test_no_adaptive_analyst_exceeds_the_budget(epsilon: str, delta: str) -> None:
    found = best_analyst(Filter(epsilon, delta), float(Fraction(epsilon)))
    assert 0 < found <= float(Fraction(delta))


def test_a_filter_that_forgets_the_split_is_caught() -> None:
    epsilon, delta = Fraction(1), Fraction(1, 10)
    greedy = Filter(epsilon, delta, (Gate("basic", epsilon, delta), Gate("gdp", gaussian_budget(epsilon, delta), delta)))
    assert best_analyst(greedy, 1.0) > 0.1
    assert total_delta(greedy.gates, epsilon) > delta


def test_a_filter_that_refunds_is_caught() -> None:
    def refunding(budget: Filter, loss: Loss) -> Filter:
        after = budget.spend(loss)
        epsilon, delta = after.spent.basic
        half = Charge(((epsilon or 0) / 2, delta / 2), (after.spent.rho or 0) / 2, (after.spent.mu_squared or 0) / 2, after.spent.delta / 2)
        return evolve(after, spent=half)

    assert best_analyst(Filter(1, "1/10"), 1.0, refunding, depth=10) > 0.1


def test_a_dead_gate_stays_dead() -> None:
    budget = Filter(1, NANO).spend(Pure("1/9")).spend(GaussianLoss("1/999"))  # which basic composition cannot price
    for _ in range(3):
        basic = next(gate for gate in budget.gates if gate.notion == "basic")
        assert not basic.alive
        assert not basic.admits(Pure(0), budget.spent)
        assert basic.room(budget.spent) == 0
        budget = budget.spend(Pure("1/99"))


# ── what remains ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_remaining_is_the_largest_further_question() -> None:
    budget = Filter(1, NANO)
    assert budget.remaining == (1, NANO)
    budget = budget.spend(Pure("1/3"))
    epsilon, delta = budget.remaining
    assert Fraction(2, 3) - Fraction(1, 10**40) < epsilon <= Fraction(2, 3)
    assert budget.admits(Approx(epsilon, delta))
    assert not budget.admits(Pure(epsilon + Fraction(1, 10**6)))
    assert budget.spend(Pure(epsilon)).remaining[0] == 0


def test_most_is_admitted_and_nearly_the_most() -> None:
    budget = Filter(1, "1e-6").spend(GaussianLoss("1/1000"))
    for kind in (Pure, GaussianLoss, Zcdp, LaplaceLoss):
        most = budget.most(kind)
        assert most > 0
        assert budget.admits(kind(most))
        assert not budget.admits(kind(most * (1 + Fraction(1, 10**6))))
    fresh = Filter(1, NANO).most(GaussianLoss)
    assert fresh == pytest.approx(gaussian_budget(Fraction(1), NANO), rel=1e-9)


def test_messages_say_what_remains_and_state_is_kept() -> None:
    budget = Filter(1).spend(Pure("3/4"))
    with pytest.raises(BudgetExceeded, match=r"ε ≤ 0\.25"):
        budget.spend(Pure("1/2"))
    assert budget.spend(Pure("1/4")).remaining == (0, 0)


@pytest.mark.parametrize("state", [{}, {"epsilon": "1", "delta": "0"}, {"epsilon": "1", "delta": "0", "gates": [{"language": "pld"}]}])
def test_a_foreign_state_is_invalid(state: dict[str, object]) -> None:
    with pytest.raises(Invalid):
        Filter.from_json(state)


def _set(values: list[Any], place: int, value: Any) -> None:
    values[place] = value


@pytest.mark.parametrize(
    "change",
    [
        lambda state: _set(state["gates"][0], 1, "1000"),
        lambda state: _set(state["gates"][1], 1, "1"),
        lambda state: _set(state["gates"][2], 2, "1/2"),
        lambda state: _set(state["gates"][0], 3, "false"),
        lambda state: [_set(gate, 3, False) for gate in state["gates"]],
        lambda state: state.update(gates=[]),
        lambda state: state.update(gates=state["gates"] * 2),
        lambda state: state.pop("spent"),
        lambda state: state["spent"].update(basic=["2", "0"]),
        lambda state: state["spent"].update(basic=["1/3", "0"]),
    ],
)
def test_a_state_that_was_tampered_with_is_refused(change: Any) -> None:
    state = Filter(1, "1e-6").spend(Pure("1/2")).to_json()
    assert Filter.from_json(state).remaining[0] < 1
    change(state)
    with pytest.raises(Invalid):
        Filter.from_json(state)


def test_a_mechanism_is_not_a_loss() -> None:
    with pytest.raises(Invalid, match=r"mechanism\.loss"):
        Filter(1).spend("Laplace")  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", ["1e-30", "1e-9", "1/100", "1", "30", "1e30"])
@pytest.mark.parametrize("delta", ["0", "1e-400", "1e-12", "1/1000", "9/10"])
def test_every_honest_state_round_trips(epsilon: str, delta: str) -> None:
    fresh = Filter(epsilon, delta)
    whole = Fraction(delta)
    for loss in (
        Pure(epsilon),
        Pure(Fraction(epsilon) / 3),
        Approx(epsilon, delta),
        Approx(0, whole / 5),
        GaussianLoss(fresh.most(GaussianLoss) or 1),
    ):
        if fresh.admits(loss):
            state = fresh.spend(loss)
            assert Filter.from_json(json.loads(json.dumps(state.to_json()))) == state


# ── a state that stays small, told within the budget ─────────────────────────────────────────────────────────────────


def test_awkward_prices_do_not_lengthen_the_state() -> None:
    budget = Filter(1, "1e-6")
    for n in range(2000):
        budget = budget.spend(Approx(Fraction(1, 10**7 + 7 * n), Fraction(1, 10**12 + 3 * n)))
    assert len(json.dumps(budget.to_json())) < 1000
    exactly = sum((Fraction(1, 10**7 + 7 * n) for n in range(2000)), Fraction(0))
    spent = budget.spent.basic[0]
    assert spent is not None
    assert 0 <= spent - exactly <= Fraction(2000, 10**40)


def test_a_hundred_thousand_steps_leave_a_small_state() -> None:
    charges = [Charge.of(GaussianLoss(Fraction(1, 10**9 + 7 * n)), pure=False) for n in range(50)]
    budget = Filter(2, "1e-6")
    for n in range(100_000):
        budget = budget.spend(charges[n % 50])
    assert len(json.dumps(budget.to_json())) < 1000
    assert Filter.from_json(budget.to_json()) == budget
    assert 0 < (budget.used[0] or 0) < 2


def test_twelve_questions_of_a_thirty_second_of_delta_fit() -> None:
    budget = Filter(1, "1e-6")
    for _ in range(12):
        budget = budget.spend(Approx("1/1000", Fraction(1, 32 * 10**6)))
    assert budget.spent.basic == (Fraction(12, 1000), Fraction(12, 32 * 10**6))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.sampled_from([Pure("1/7"), Approx("1/9", "1e-11"), GaussianLoss("1/500"), GaussianLoss("1/9999"), Zcdp("1/999")]), max_size=30
    )
)
def test_what_was_used_never_reads_as_overspent(asked: list[Loss]) -> None:
    budget = Filter(1, NANO)
    for loss in asked:
        if budget.admits(loss):
            budget = budget.spend(loss)
            epsilon, delta = budget.used
            assert epsilon is not None
            assert 0 < epsilon <= 1
            assert 0 <= delta <= NANO


def test_what_was_used_is_told_as_typed_while_basic_composition_lasts() -> None:
    budget = Filter(1, "1e-6").spend(Approx(0.1, "1e-8")).spend(Pure(0.2))
    assert budget.used == (Fraction(3, 10), Fraction("1e-8"))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([Pure("1/8"), Approx("1/10", "1e-11"), GaussianLoss("1/500"), Zcdp("1/1000")]), min_size=1, max_size=12))
def test_another_limit_is_what_a_replay_would_give(asked: list[Loss]) -> None:
    budget = Filter(1, NANO)
    charges = []
    for loss in asked:
        charge = Charge.of(loss, pure=False)
        if budget.admits(charge):
            budget = budget.spend(charge)
            charges.append(charge)
    for epsilon, delta in ((1, NANO), ("1/2", NANO), ("2/3", NANO / 2), ("1/4", 0)):
        replayed: Filter | None = Filter(epsilon, delta)
        try:
            for charge in charges:
                assert replayed is not None
                replayed = replayed.spend(charge)
        except BudgetExceeded:
            replayed = None
        if replayed is None:
            with pytest.raises(BudgetExceeded):
                budget.limited(epsilon, delta, charges[0])
        else:
            assert budget.limited(epsilon, delta, charges[0]) == replayed


def test_delta_is_split_for_the_whole_order_of_which_a_loss_is_the_first_step() -> None:
    order, step, rest = Approx(2, "9e-7"), Approx("1/5", "1e-8"), Approx("9/5", "8.9e-7")
    assert not Filter(2, "1e-6").spend(step).admits(rest)
    assert Filter(2, "1e-6").spend(step, order).admits(rest)
