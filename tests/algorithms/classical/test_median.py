"""The median mechanism: its price, noise replayed on neighbours, how candidates leave, and its accuracy."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from algorithms.classical.tape import Strayed, Tape, neighbours
from scripted import Seeded

from discreet.algorithms.classical import median
from discreet.algorithms.classical.linear import Queries, small_databases
from discreet.algorithms.classical.median import MedianMechanism, MedianRun, all_databases, rows_needed
from discreet.algorithms.classical.rounds import Answer
from discreet.errors import Invalid
from discreet.loss.loss import NOTHING, compose
from discreet.mechanisms import mechanism as mechanism_module
from discreet.mechanisms.streams import sparse_vector
from discreet.private import Private, reveal

BUDGETS: list[dict[str, Any]] = [{"epsilon": "3/2"}, {"rho": "1/7"}, {"epsilon": 2, "records": 4}, {"rho": 1, "records": 4}]


def online(**more: Any) -> MedianMechanism:
    return MedianMechanism(**({"candidates": all_databases(3, 5), "accuracy": "1/4", "queries_expected": 50} | more))


def transcript(run: MedianRun, queries: Queries, most: int = 80) -> list[Any]:
    told: list[Any] = []
    while not run.spent and len(told) < most:
        told.append(run.ask(queries.matrix[len(told) % queries.size]))
    return [run.total, *told, run.left, run.hypothesis.tolist(), run.losses]


@pytest.fixture
def coins(monkeypatch: pytest.MonkeyPatch) -> Seeded:
    bits = Seeded(11)
    monkeypatch.setattr(mechanism_module, "SystemBits", lambda: bits)
    monkeypatch.setattr(sparse_vector, "SystemBits", lambda: bits)
    return bits


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_rounds_add_up(budget: dict[str, Any], coins: Seeded) -> None:
    mechanism = online(**budget)
    run = mechanism.open(Private([1, 0, 3]))
    told = transcript(run, Queries.thresholds(3), most=5000)
    assert run.spent
    assert run.hits == mechanism.rounds.rounds == 1 + math.floor(math.log2(21))
    assert compose(told[-1]) == mechanism.loss
    if "epsilon" in budget:
        assert mechanism.loss.epsilon == mechanism.epsilon
    else:
        assert mechanism.rho is not None
        assert mechanism.rho * Fraction(9, 10) < (mechanism.loss.rho or 0) <= mechanism.rho
    assert run.ask([1, 0, 0])[1:] == ("refused", NOTHING)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("queries", [Queries.thresholds(3), Queries([[0, 3, 1], [2, 2, 0]], top=3)], ids=["counts", "averages"])
def test_all_noise_replayed_on_neighbours(budget: dict[str, Any], queries: Queries, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = online(top=queries.top, **budget)
    for seed, given in enumerate([(2, 1, 1), (4, 0, 0), (0, 3, 1)]):
        with monkeypatch.context() as patch:
            tape = Tape(patch, seed)
            first = transcript(mechanism.open(Private(given)), queries)
            told = sum(isinstance(a, Answer) and a.source == "paid" for a in first)
            unmade = [mechanism.rounds.noisy_count.loss] * (len(tape.opened) - told)
            assert told
            assert compose([tape.loss, *unmade]) == compose(first[-1])
            for other in neighbours(given, replace="records" in budget):
                tape.rewind()
                assert transcript(mechanism.open(Private(other)), queries) == first


def test_candidates_that_leave_by_the_data_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the candidates near the true count instead of the noisy one."""
    original = MedianRun.ask

    def ask(self: MedianRun, query: Any) -> Answer:
        answer = original(self, query)
        true = int(reveal(self._guard._data) @ np.asarray(query))
        alive = self.mechanism.candidates[self._alive]
        near = np.abs(alive @ np.asarray(query) / alive.sum(axis=1) - true / self.total) <= 0.3
        self._alive = self._alive[near] if near.any() else self._alive
        return answer

    monkeypatch.setattr(median.MedianRun, "ask", ask)
    tape = Tape(monkeypatch, 2)
    with pytest.raises((Strayed, AssertionError)):
        tape.same(lambda data: transcript(online(epsilon=1).open(data), Queries.thresholds(3)), (2, 1, 1))


def test_all_databases() -> None:
    for domain, rows in ((2, 5), (3, 4), (5, 3)):
        found = all_databases(domain, rows)
        assert len(found) == small_databases(domain, rows) == len({tuple(r) for r in found.tolist()})
        assert (found.sum(axis=1) == rows).all()
    with pytest.raises(Invalid, match="sample"):
        all_databases(64, 8)


def test_some_small_database_is_near() -> None:
    """m = rows_needed rows suffice for α/4, for every data set of 12 records over 3 values."""
    queries, accuracy = Queries.thresholds(3), Fraction(4, 5)
    rows = rows_needed(queries.size, accuracy)
    candidates = all_databases(3, rows)
    answers = candidates @ queries.matrix.T / rows
    for a in range(13):
        for b in range(13 - a):
            truth = queries.means([a, b, 12 - a - b])
            assert np.abs(answers - truth).max(axis=1).min() <= 0.2


@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": "1/4"}, {"rho": "1/4", "records": True}], ids=str)
def test_all_answers_are_as_accurate_as_stated(budget: dict[str, Any], coins: Seeded) -> None:
    """All databases of 24 rows over 3 values, α = 0.3, β = 10⁻⁶, the least n: each answer within αn, and each hit halves the candidates."""
    settings: dict[str, Any] = {"candidates": all_databases(3, 24), "accuracy": "0.3", "queries_expected": 40, "beta": "1e-6"}
    known = budget.get("records") is True
    n = MedianMechanism(**(settings | budget | ({"records": 1} if known else {}))).needs()
    mechanism = MedianMechanism(**(settings | budget | ({"records": n} if known else {})))
    rng = np.random.default_rng(3)
    for shape in ([1, 0, 0], [0.1, 0.1, 0.8], rng.dirichlet(np.full(3, 0.3))):
        data = rng.multinomial(n, shape)
        run = mechanism.open(Private(data))
        for row in [*np.eye(3, dtype=int), *Queries.thresholds(3).matrix, *rng.integers(0, 2, (30, 3))]:
            before = run.left
            told = run.ask(row)
            assert abs(told.value - row @ data) <= 0.3 * n
            assert told.source != "refused"
            assert run.left <= before // 2 if told.source == "paid" else run.left == before
        assert 1 <= run.hits < mechanism.rounds.rounds


def test_a_sample_of_candidates_that_are_all_wrong_stays_private_and_says_when_it_ends(coins: Seeded) -> None:
    run = MedianMechanism(candidates=[[0, 1], [0, 2]], epsilon=1000, accuracy="1/10", queries_expected=9, records=1000).open([1000, 0])
    assert [run.ask([1, 0]).source for _ in range(4)] == ["paid", "paid", "refused", "refused"]
    assert run.left == 2


@pytest.mark.parametrize(
    "wrong", [{"candidates": []}, {"candidates": [[0, 0]]}, {"candidates": [[0.5, 1]]}, {"accuracy": 2}, {"rho": 1}], ids=str
)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        online(**({"epsilon": 1} | wrong))


@pytest.mark.parametrize("wrong", [[1, 0], [1, 0, 2], [0.5, 0, 1]])
def test_wrong_queries(wrong: Any) -> None:
    with pytest.raises(Invalid):
        online(epsilon=1).open(Private([1, 2, 3])).ask(wrong)


def test_the_error_is_known_where_the_theorem_holds() -> None:
    everything = all_databases(3, rows_needed(3, "0.6"))
    settings: dict[str, Any] = {"accuracy": "0.6", "queries_expected": 3, "epsilon": 1}
    mechanism = MedianMechanism(candidates=everything, **settings)
    n = mechanism.needs()
    assert mechanism.error(size=n) == pytest.approx(0.6 * n)
    assert mechanism.error(size=n - 1) == mechanism.error(0.999, size=n) == math.inf
    for fewer in (everything[1:], all_databases(3, rows_needed(3, "0.6") - 1), np.vstack([everything[1:], everything[1]])):
        assert MedianMechanism(candidates=fewer, **settings).error(size=10**9) == math.inf  # perhaps none of them is good
