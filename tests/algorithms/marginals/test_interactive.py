"""Interactive answers: what they cost, how far off they are, and that neighbours cannot be told apart but by what was paid for."""

from __future__ import annotations

import csv
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from algorithms.marginals.tape import Differs, Tape, TooFar, Unpaid

from discreet.algorithms.marginals.counts import CodedTable
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.interactive import Interactive, InteractiveAnswer, InteractiveRun
from discreet.algorithms.marginals.knowledge import Knowledge
from discreet.algorithms.marginals.linear_query import LinearQuery
from discreet.algorithms.marginals.residual import Residual
from discreet.errors import BudgetExceeded, Invalid
from discreet.loss.loss import NOTHING, Loss, compose

DOMAIN = Domain.of({"a": 2, "b": 2, "c": 3, "d": 3, "e": 4})
RECORDS = 20_000


def columns(records: int = RECORDS) -> dict[str, Any]:
    """a = b and c = d always, e by itself."""
    generator = np.random.default_rng(5)
    a, c, e = (generator.integers(0, size, records) for size in (2, 3, 4))
    return {"a": a, "b": a, "c": c, "d": c, "e": e}


def without(held: dict[str, Any], i: int) -> dict[str, Any]:
    return {name: np.delete(column, i) for name, column in held.items()}


def replaced(held: dict[str, Any], i: int) -> dict[str, Any]:
    """Another record instead, different in every column."""
    found = {name: column.copy() for name, column in held.items()}
    for name, column in found.items():
        column[i] = (column[i] + 1) % DOMAIN.sizes[DOMAIN.names.index(name)]
    return found


def where(**conditions: Any) -> LinearQuery:
    return LinearQuery.where(DOMAIN, conditions)


def average(name: str, **conditions: Any) -> LinearQuery:
    size = DOMAIN.sizes[DOMAIN.names.index(name)]
    return LinearQuery.average(DOMAIN, name, [Fraction(i, size - 1) for i in range(size)], conditions)


def true(query: LinearQuery, held: dict[str, Any]) -> float:
    if not query.clique:
        return float(len(held["a"]))
    return float(query.array[tuple(held[DOMAIN.names[i]] for i in query.clique)].sum()) / query.top


STREAM = [
    where(a=1), where(b=0), where(c=0), where(d=2), where(e=3), where(a=1, e=[0, 1]), where(a=1, b=1), where(c=1, d=1), where(b=0, e=2),
    average("e"), average("c", a=0), where(a=1, b=1), where(a=0, b=1), where(b=1, c=2, e=0), average("d", b=1, e=range(2)), where(),
]  # fmt: skip


def both(patch: pytest.MonkeyPatch, rules: Interactive, neighbour: str = "removed", i: int = 3) -> list[InteractiveAnswer]:
    """Ask the same on two neighbours, the second with the first's outputs: everything that can be seen must be the same."""
    tape, held = Tape(patch), columns()
    is_replaced = neighbour == "replaced"
    other = replaced(held, i) if is_replaced else without(held, i)
    run = rules.open(CodedTable(DOMAIN, held, is_replaced), tape.pay)
    told = [run.ask(query) for query in STREAM]
    assert compose(loss for _, loss in tape.paid) == compose(tape.used) == compose(loss for _, loss in run.losses)
    assert compose(one.cost for one in told) == compose(loss for what, loss in run.losses if what != "number of records")
    paid = tape.rewind()
    again = rules.open(CodedTable(DOMAIN, other, is_replaced), tape.pay)
    if [again.ask(query) for query in STREAM] != told or tape.paid != paid:
        raise Differs("answers or payments")
    tape.end()
    return told


@pytest.mark.parametrize("guarding", ["auto", "always", "never"])
@pytest.mark.parametrize("neighbour", ["removed", "replaced"])
@pytest.mark.parametrize("amount", [{"accuracy": 1500}, {"share": "0.1"}])
def test_with_the_noise_held_fixed_neighbours_look_the_same(monkeypatch: Any, guarding: Any, neighbour: str, amount: Any) -> None:
    told = both(monkeypatch, Interactive(**amount, guarding=guarding), neighbour)
    assert ("hypothesis" in {one.source for one in told}) == (guarding == "always")


def test_every_way_is_taken_and_every_answer_is_within_its_error(monkeypatch: Any) -> None:
    """Coins are fixed. The pairs that the model cannot know are hits, and each next round is paid for."""
    tape, held = Tape(monkeypatch), columns()
    run = Interactive(accuracy=1500, guarding="always").open(CodedTable(DOMAIN, held), tape.pay)
    told = [run.ask(query) for query in STREAM]
    assert {one.source for one in told} == {"cached", "posterior", "hypothesis", "paid"}
    assert run.hits >= 2
    assert [what for what, _ in run.losses].count("a round of threshold tests") == run.rounds >= run.hits
    for query, one in zip(STREAM, told, strict=True):
        assert abs(one.value - true(query, held)) <= one.error <= 1500 * (1 + 1e-9)
        assert one.share == pytest.approx(one.value / run.knowledge.total, rel=0.2)
        assert (one.cost == NOTHING) or one.source in ("paid", "hypothesis")
        assert not one.note


def test_a_count_costs_no_more_where_records_are_replaced(monkeypatch: Any) -> None:
    """One number moves by 1 either way, and so do threshold tests and the number of records."""
    monkeypatch.setattr(Knowledge, "fits", lambda self, clique: False)
    costs, guards, totals = [], [], []
    for replace_one in (False, True):
        table = CodedTable(DOMAIN, columns(), replace_one)
        run = Interactive(accuracy=500).open(table, lambda what, loss: None)
        costs.append(run.ask(where(a=1, e=[0, 1, 2])).cost)
        guard = run.rules.guard(Fraction(1500), table, 1)
        assert guard is not None
        guards.append(guard.loss)
        totals.append(run.knowledge.total_mechanism(Fraction(40)).loss)
    assert costs[0] == costs[1]
    assert guards[0] == guards[1]
    assert totals[0] == totals[1]


def test_the_same_question_has_the_same_answer_for_nothing() -> None:
    run = Interactive(accuracy=500).open(CodedTable(DOMAIN, columns()), lambda what, loss: None)
    first = run.ask(where(a=1, e=[0, 1]))
    again = run.ask(where(e=range(2), a=[1], c=[0, 1, 2]))
    assert (again.value, again.error, again.source, again.cost) == (first.value, first.error, "cached", NOTHING)
    assert len(run.losses) == 1


def test_all_cells_of_a_marginal_cost_as_much_as_one_and_add_up() -> None:
    run = Interactive(accuracy=500).open(CodedTable(DOMAIN, columns()), lambda what, loss: None)
    sources = [run.ask(where(a=a, c=c, e=e)).source for a in range(2) for c in range(3) for e in range(4)]
    assert sources == ["paid"] + ["posterior"] * 23
    cells = [run.knowledge.direct(where(a=a, c=c)).value for a in range(2) for c in range(3)]
    assert sum(cells) == pytest.approx(run.knowledge.total)
    assert cells[0] + cells[3] == pytest.approx(run.knowledge.direct(where(c=0)).value)


def test_estimates_are_unbiased_with_the_variance_stated(monkeypatch: Any) -> None:
    """400 runs with fixed coins: mean and variance of one answer's error."""
    tape, held, query = Tape(monkeypatch), columns(300), where(c=[0, 2], e=1)
    table, errors, stated = CodedTable(DOMAIN, held), [], 0.0
    for _ in range(400):
        tape.paid, tape.used = [], []
        run = Interactive(accuracy=100, questions=10).open(table, tape.pay)
        run.ask(where(c=1, e=2))
        if not run.knowledge.known.keys() >= {(), (2,), (4,), (2, 4)}:
            pytest.fail("residuals were expected to be measured")
        direct = run.knowledge.direct(query)
        errors.append(direct.value - true(query, held))
        stated = direct.variance
    assert abs(np.mean(errors)) <= 5 * math.sqrt(stated / 400)
    assert np.mean(np.square(errors)) == pytest.approx(stated, rel=0.35)


def test_many_questions_all_hold(monkeypatch: Any) -> None:
    tape, held = Tape(monkeypatch), columns()
    run = Interactive(share="0.01", questions=400).open(CodedTable(DOMAIN, held), tape.pay)
    generator, paid = np.random.default_rng(3), 0
    for _ in range(400):
        chosen = generator.choice(5, generator.integers(1, 4), replace=False)
        query = LinearQuery.where(DOMAIN, {DOMAIN.names[i]: int(generator.integers(DOMAIN.sizes[i])) for i in chosen})
        told = run.ask(query)
        paid += told.source == "paid"
        assert abs(told.value - true(query, held)) <= told.error <= run.accuracy * (1 + 1e-9) <= 200
    assert paid <= 5 + 10 + 10  # once for each marginal at most


# ── broken ones are caught ───────────────────────────────────────────────────────────────────────────────────────────


def test_a_round_that_is_not_charged_again_is_caught(monkeypatch: Any) -> None:
    pay = InteractiveRun._pay

    def once(run: InteractiveRun, what: str, loss: Loss) -> None:
        if not (what == "a round of threshold tests" and run.rounds):
            pay(run, what, loss)

    monkeypatch.setattr(InteractiveRun, "_pay", once)
    with pytest.raises(Unpaid):
        both(monkeypatch, Interactive(accuracy=1500, guarding="always"))


def test_half_the_sensitivity_of_an_average_is_caught(monkeypatch: Any) -> None:
    right = LinearQuery.sensitivity
    monkeypatch.setattr(Knowledge, "fits", lambda self, clique: False)
    both(monkeypatch, Interactive(accuracy=1500, guarding="never"))
    monkeypatch.setattr(LinearQuery, "sensitivity", lambda query, counts: max(1, right(query, counts) // 2))
    held = columns()
    i = int(np.flatnonzero((held["e"] == 3) & (held["c"] == 2))[0])
    with pytest.raises(TooFar):
        both(monkeypatch, Interactive(accuracy=1500, guarding="never"), i=i)


def test_a_replaced_record_moves_residuals_twice(monkeypatch: Any) -> None:
    """Column length × ℓ₂ would be too little for them: e₀ − e₁ lies along a contrast."""

    def short(knowledge: Knowledge, clique: Any) -> Fraction:
        root = math.sqrt(Residual(DOMAIN, clique, 6).length_squared)
        return Fraction(math.ceil(root * float(knowledge._counts.l2_sensitivity) * 1024), 1024)

    monkeypatch.setattr(Knowledge, "_sensitivity", short)
    both(monkeypatch, Interactive(accuracy=1500, guarding="never"))
    with pytest.raises(TooFar):
        both(monkeypatch, Interactive(accuracy=1500, guarding="never"), "replaced")


def test_a_peek_at_the_data_is_caught(monkeypatch: Any) -> None:
    monkeypatch.setattr(InteractiveRun, "_is_worth_it", lambda run, guard: len(run._counts._codes._value[0]) == RECORDS)
    with pytest.raises(Differs):
        both(monkeypatch, Interactive(accuracy=1500))


# ── accounts, shapes, slips ──────────────────────────────────────────────────────────────────────────────────────────


class Watched:
    """A table that knows how often it was read."""

    def __init__(self, held: dict[str, Any]) -> None:
        self._table, self.read = CodedTable(DOMAIN, held), 0
        self.domain, self.one, self.l1_sensitivity, self.one_sided_sensitivity, self.l2_sensitivity = DOMAIN, 1, 1, 1, Fraction(1)

    def marginals(self, cliques: Any) -> Any:
        self.read += 1
        return self._table.marginals(cliques)


@pytest.mark.parametrize("guarding", ["always", "never"])
def test_an_account_that_refuses(guarding: Any) -> None:
    """Nothing is read, the model goes on answering and says so, and when the account admits again, so does the run."""
    table, admits = Watched(columns()), False

    def pay(what: str, loss: Loss) -> None:
        if not admits:
            raise BudgetExceeded("no")

    run = Interactive(accuracy=1000, guarding=guarding).open(table, pay)
    told = run.ask(where(a=1, c=0))
    assert (told.source, told.error, told.cost, table.read, run.losses) == ("hypothesis", math.inf, NOTHING, 0, [])
    assert "budget" in told.note
    admits = True
    paid = run.ask(where(a=1, c=0))
    assert paid.source == "paid"
    assert not paid.note
    admits, read = False, table.read
    assert run.ask(where(a=0, c=1)).source == "posterior"
    refused = run.ask(where(a=[0, 1], c=[0, 1]))
    assert abs(refused.value - true(where(c=[0, 1]), columns())) <= refused.error < math.inf
    assert run.ask(where(b=1, d=1)).note
    assert table.read == read
    assert len(run.losses) == 1


def test_a_share_needs_the_account_at_once() -> None:
    table = Watched(columns())

    def pay(what: str, loss: Loss) -> None:
        raise BudgetExceeded("no")

    with pytest.raises(BudgetExceeded):
        Interactive(share=0.1).open(table, pay)
    assert table.read == 0


def test_a_wide_question_is_answered_by_one_number(monkeypatch: Any) -> None:
    """Over more columns than residuals are measured for, and a junction tree for the model."""
    tape = Tape(monkeypatch)
    domain = Domain.of({f"x{i}": 2 for i in range(20)})
    generator = np.random.default_rng(4)
    held = {name: generator.integers(0, 2, 2000) for name in domain.names}
    run = Interactive(accuracy=300, guarding="always").open(CodedTable(domain, held), tape.pay)
    for i in range(0, 20, 2):
        run.ask(LinearQuery.where(domain, {f"x{i}": 1, f"x{i + 1}": 0}))
    wide = run.ask(LinearQuery.where(domain, {f"x{i}": [1] for i in range(9)}))
    assert abs(wide.value - np.all([held[f"x{i}"] == 1 for i in range(9)], axis=0).sum()) <= wide.error <= 300
    assert compose(loss for _, loss in tape.paid) == compose(tape.used)


def test_the_guard_leaves_room_for_its_noise() -> None:
    table = CodedTable(DOMAIN, columns(10))
    for rules in (Interactive(accuracy=100), Interactive(accuracy="12.5", beta="1e-6", questions=50)):
        assert rules.accuracy is not None
        for number in (1, 7):
            guard = rules.guard(rules.accuracy, table, number)
            assert guard is not None
            confidence = 1 - rules.beta / (2 * number * (number + 1))
            assert float(guard.threshold) + guard.error(confidence, 2 * rules.questions) + 2 <= 16 * rules.accuracy
    assert Interactive(accuracy="0.1").guard(Fraction(1, 10), table, 1) is None


@pytest.mark.parametrize(
    "given",
    [
        {}, {"accuracy": 10, "share": 0.1}, {"accuracy": 0}, {"share": 1}, {"share": -0.1}, {"accuracy": 10, "beta": 0},
        {"accuracy": 10, "questions": 0}, {"accuracy": 10, "guarding": "sometimes"}, {"accuracy": "ten"},
    ],
)  # fmt: skip
def test_slips_are_told(given: Any) -> None:
    with pytest.raises(Invalid):
        Interactive(**given)


def test_a_question_for_another_domain_is_refused() -> None:
    run = Interactive(accuracy=100).open(CodedTable(DOMAIN, columns(10)), lambda what, loss: None)
    for other in (Domain.of({"a": 7}), Domain.of(dict.fromkeys("uvwxyz", 2))):
        with pytest.raises(Invalid, match="another domain"):
            run.ask(LinearQuery.where(other, {other.names[-1]: 1}))
    assert not run.losses


@pytest.mark.slow
def test_ten_thousand_conjunctions_of_nltcs() -> None:
    """Within 2 % for ρ ≤ 0.004, where vanilla multiplicative weights asks for more than 10⁴ (see benchmarks/interactive.py)."""
    path = Path("/work/shared/data/nltcs.csv")
    if not path.exists():
        pytest.skip("the NLTCS table is not here")
    names, *rows = csv.reader(path.read_text().splitlines())
    codes = np.array(rows, np.int64)
    domain = Domain.of(dict.fromkeys(names, 2))
    run = Interactive(accuracy=430, beta="1e-7").open(CodedTable(domain, dict(zip(names, codes.T, strict=True))), lambda what, loss: None)
    generator = np.random.default_rng(1)
    for _ in range(10_000):
        chosen = generator.choice(16, generator.integers(1, 4), replace=False)
        question = {names[i]: int(generator.integers(2)) for i in chosen}
        truth = np.all([codes[:, names.index(name)] == code for name, code in question.items()], axis=0).sum()
        assert abs(run.ask(LinearQuery.where(domain, question)).value - truth) <= 430
    rho = compose(loss for _, loss in run.losses).rho
    assert rho is not None
    assert rho <= Fraction("0.006")
