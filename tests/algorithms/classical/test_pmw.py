"""Private multiplicative weights: its price round by round, noise replayed on neighbours, its law by integrals, its accuracy."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from algorithms.classical.tape import Strayed, Tape, histograms, neighbours
from scripted import Seeded
from theorems import laws

from discreet.algorithms.classical import online as online_module
from discreet.algorithms.classical import pmw, rounds
from discreet.algorithms.classical.linear import Queries
from discreet.algorithms.classical.pmw import PMW, PMWRun
from discreet.algorithms.classical.rounds import Guard
from discreet.errors import Invalid
from discreet.loss.loss import NOTHING, compose
from discreet.mechanisms import mechanism as mechanism_module
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.streams import sparse_vector
from discreet.private import Private, reveal

BUDGETS: list[dict[str, Any]] = [{"epsilon": "3/2"}, {"rho": "1/7"}, {"epsilon": 2, "records": 4}, {"rho": 1, "records": 4}]


def online(domain: int = 3, **more: Any) -> PMW:
    return PMW(**({"domain": domain, "accuracy": "1/4", "queries_expected": 50} | more))


def exhaust(run: PMWRun, queries: Queries, most: int = 3000) -> list[Any]:
    """Ask the queries over and over until no round is left."""
    told: list[Any] = []
    while not run.spent and len(told) < most:
        told.append(run.ask(queries.matrix[len(told) % queries.size]))
    return told


@pytest.fixture
def coins(monkeypatch: pytest.MonkeyPatch) -> Seeded:
    bits = Seeded(7)
    monkeypatch.setattr(mechanism_module, "SystemBits", lambda: bits)
    monkeypatch.setattr(sparse_vector, "SystemBits", lambda: bits)
    return bits


# ── price ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_rounds_add_up(budget: dict[str, Any], coins: Seeded) -> None:
    """Noise makes hits; when all rounds are used the charges are the claim, and then nothing is charged or asked any more."""
    mechanism = online(**budget)
    run = mechanism.open(Private([1, 0, 3]))
    told = exhaust(run, Queries.thresholds(3))
    assert run.hits == mechanism.most_updates == sum(a.source == "paid" for a in told)
    assert compose(run.losses) == mechanism.loss
    assert compose([*(a.cost for a in told), *run.losses[: len(run.losses) - run.hits]]) == mechanism.loss
    if "epsilon" in budget:
        assert mechanism.loss.epsilon == mechanism.epsilon
    else:
        assert mechanism.rho is not None
        assert mechanism.rho * Fraction(9, 10) < (mechanism.loss.rho or 0) <= mechanism.rho
    after = run.ask([1, 1, 0])
    assert (after.source, after.cost) == ("refused", NOTHING)
    assert compose(run.losses) == mechanism.loss


def test_a_round_is_charged_when_it_opens(coins: Seeded) -> None:
    mechanism = online(epsilon=10**4, records=1000)
    run = mechanism.open(Private([1000, 0, 0]))
    assert run.losses == []
    first = run.ask([1, 1, 1])  # the hypothesis is right, yet a stream had to be opened
    assert (first.source, first.cost) == ("hypothesis", mechanism.rounds.each)
    assert run.ask([0, 0, 0]).cost == NOTHING
    paid = run.ask([1, 0, 0])
    assert (paid.source, paid.cost) == ("paid", NOTHING)  # the round had been paid for
    assert paid.value == pytest.approx(1000, abs=5)
    assert run.ask([1, 1, 1]).cost == mechanism.rounds.each
    assert len(run.losses) == 2


def test_misses_are_free(coins: Seeded) -> None:
    run = online(epsilon=1000, records=900).open(Private([300, 300, 300]))
    for _ in range(300):
        assert run.ask([1, 0, 1]).source == "hypothesis"
    assert len(run.losses) == 1


# ── privacy ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def transcript(run: PMWRun, queries: Queries) -> list[Any]:
    out = exhaust(run, queries, most=60)
    return [run.total, *out, run.hypothesis.tolist(), run.losses]


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("queries", [Queries.thresholds(3), Queries([[0, 3, 1], [2, 2, 0]], top=3)], ids=["counts", "averages"])
def test_all_noise_replayed_on_neighbours(budget: dict[str, Any], queries: Queries, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same noise neighbours get the same answers and charges; each touch moves by no more than its mechanism's sensitivity."""
    mechanism = online(top=queries.top, updates=5, **budget)
    hits = 0
    for seed, given in enumerate([(2, 1, 1), (4, 0, 0), (0, 3, 1)]):
        with monkeypatch.context() as patch:
            tape = Tape(patch, seed)
            first = transcript(mechanism.open(Private(given)), queries)
            told = sum(isinstance(a, rounds.Answer) and a.source == "paid" for a in first)
            hits += told
            # rounds that were opened and not ended have paid for a count that was not made
            unmade = [mechanism.rounds.noisy_count.loss] * (len(tape.opened) - told)
            assert compose([tape.loss, *unmade]) == compose(first[-1])
            for other in neighbours(given, replace="records" in budget):
                tape.rewind()
                assert transcript(mechanism.open(Private(other)), queries) == first
    assert hits  # else nothing was learnt, and little was tested


def replay(monkeypatch: pytest.MonkeyPatch, mechanism: PMW, given: tuple[int, ...] = (2, 1, 1)) -> None:
    """Run on one data set, then on all its neighbours with the same noise."""
    tape = Tape(monkeypatch, 3)
    first = transcript(mechanism.open(Private(given)), Queries.thresholds(3))
    told = sum(isinstance(a, rounds.Answer) and a.source == "paid" for a in first)
    unmade = [mechanism.rounds.noisy_count.loss] * (len(tape.opened) - told)
    assert compose([tape.loss, *unmade]) == compose(first[-1]), "not all is charged"
    for other in neighbours(given):
        tape.rewind()
        if transcript(mechanism.open(Private(other)), Queries.thresholds(3)) != first:
            raise Strayed


def test_a_stream_that_goes_on_after_a_hit_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A restart that is not charged: the tape has seen more streams than the run has paid for."""

    def hit(self: Guard, side: Any, count: Any, charged: Any) -> rounds.Verdict:
        self._stream = self.rules.stream(self._threshold).open()
        return rounds.Verdict(side, int(self.rules.noisy_count.release(count)), charged)

    monkeypatch.setattr(Guard, "_hit", hit)
    with pytest.raises(AssertionError, match="charged"):
        replay(monkeypatch, online(epsilon=1, updates=4))


def test_the_exact_number_of_records_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(online_module, "measure_total", lambda counting, records, data: (int(reveal(data).sum()), [counting.loss]))
    with pytest.raises((AssertionError, Strayed)):
        replay(monkeypatch, online(epsilon=1, updates=4))


def test_a_hypothesis_that_learns_from_the_data_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    original = PMWRun.ask

    def ask(self: PMWRun, query: Any) -> Any:
        data = reveal(self._guard._data)
        if self.hits == 1:
            self._weights = pmw.Weights(np.log(data + 1.0))
        return original(self, query)

    monkeypatch.setattr(PMWRun, "ask", ask)
    with pytest.raises((AssertionError, Strayed)):
        replay(monkeypatch, online(epsilon=1, updates=4))


def test_half_the_sensitivity_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds.ThresholdRounds, "stream", lambda self, threshold: self.test_share.test(threshold, Fraction(self.top, 2)))
    with pytest.raises(AssertionError, match="moves by"):
        replay(monkeypatch, online(epsilon=1, updates=4))


def test_a_hit_that_tells_the_stream_s_own_value_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The count at a hit is a fresh release of the private count, and nothing of the stream but above or not."""
    tape = Tape(monkeypatch, 1)
    transcript(online(epsilon=1, updates=4).open(Private((2, 1, 1))), Queries.thresholds(3))
    kinds = [type(m).__name__ for m, *_ in tape.meetings]
    assert kinds[0] == "Laplace"
    hits = [i for i, (_, _, out) in enumerate(tape.meetings) if getattr(out, "above", False)]
    assert hits
    assert [i + 1 for i in hits] == [i for i, kind in enumerate(kinds) if kind == "Laplace"][1:]


def law(mechanism: PMW, given: tuple[int, ...], queries: Queries, faster: float = 1.0) -> tuple[dict[tuple[Any, ...], float], list[int]]:
    """The law of where the one hit falls, for queries asked in order at the uniform hypothesis, and the counts."""
    n = mechanism.records or 1
    estimates = [round(n * queries.means(np.ones(mechanism.domain))[i]) for i in range(queries.size)]
    counts = queries.answers(given).tolist()
    stream = [x for c, e in zip(counts, estimates, strict=True) for x in (c - e, e - c)]
    svt = mechanism.rounds.stream(math.ceil(mechanism.accuracy * n * 3 / 4))
    threshold, question = (float(s) / faster for s in svt.scales)
    return laws.sparse_vector(stream, threshold, question, 1, shift=float(svt.threshold) + question - threshold), counts


@pytest.mark.parametrize("faster", [1.0, 3.0])
def test_no_output_of_one_round_tells_more_than_epsilon(faster: float) -> None:
    """Where the hit is, by integrals, and its count; two queries, all data sets of 4 records, all with one replaced."""
    mechanism = online(epsilon=1, records=4, updates=1)
    queries = Queries.thresholds(3)
    assert isinstance(mechanism.rounds.noisy_count, Laplace)
    scale = float(mechanism.rounds.noisy_count.scale)
    worst = 0.0
    for given in (h for h in histograms(3, 4) if sum(h) == 4):
        here, counts = law(mechanism, given, queries, faster)
        assert sum(here.values()) == pytest.approx(1, abs=1e-12)
        for other in neighbours(given, replace=True):
            there, others = law(mechanism, other, queries, faster)
            for pattern, chance in here.items():
                told = abs(counts[(len(pattern) - 1) // 2] - others[(len(pattern) - 1) // 2]) / scale if pattern[-1] else 0.0
                worst = max(worst, math.log(chance / there[pattern]) + told)
    assert 0.99 < worst <= 1 + 1e-9 if faster == 1 else worst > 2  # tight, to the accuracy of the integrals


# ── accuracy ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": "1/4"}, {"rho": "1/4", "records": True}], ids=str)
def test_all_answers_are_as_accurate_as_stated(budget: dict[str, Any], coins: Seeded) -> None:
    """α = 0.3 over 16 values at β = 10⁻⁶ and the least n for it: thresholds, points and random queries, skewed data, 150 queries."""
    settings = {"accuracy": "0.3", "queries_expected": 150, "beta": "1e-6", "updates": None}
    known = budget.get("records") is True
    n = PMW(**({"domain": 16} | settings | budget | ({"records": 1} if known else {}))).needs()
    mechanism = PMW(**({"domain": 16} | settings | budget | ({"records": n} if known else {})))
    assert mechanism.most_updates == 1 + math.floor(2 * math.log(16) / 0.09)
    rng = np.random.default_rng(5)
    for shape in (np.eye(16)[3], rng.dirichlet(np.full(16, 0.2))):
        data = rng.multinomial(n, shape)
        run = mechanism.open(Private(data))
        rows = np.vstack([Queries.thresholds(16).matrix, Queries.points(16).matrix, rng.integers(0, 2, (118, 16))])
        told = [run.ask(row) for row in rows]
        off = np.abs([a.value for a in told] - rows @ data)
        assert off.max() <= 0.3 * n
        assert 1 <= run.hits < mechanism.most_updates
        assert all(a.source != "refused" for a in told)


def test_the_error_is_known_where_the_theorem_holds() -> None:
    mechanism = PMW(domain=8, accuracy="0.2", queries_expected=50, epsilon=1, delta="1e-6")
    n = mechanism.needs()
    assert mechanism.error(size=n) == pytest.approx(0.2 * n) == mechanism.error(0.95, n)
    assert mechanism.error(size=n - 1) == math.inf  # too few records
    assert mechanism.error(0.999, size=n) == math.inf  # surer than they allow
    assert mechanism.error(0.999, size=mechanism.needs("0.001")) < math.inf
    limited = PMW(domain=8, accuracy="0.2", queries_expected=50, epsilon=1, updates=5)
    assert limited.error(size=10**9) == math.inf  # five rounds may be used up


def test_few_updates_then_only_the_hypothesis(coins: Seeded) -> None:
    run = online(16, epsilon=1000, accuracy="0.05", updates=2).open(Private(np.arange(16) * 100))
    sources = [run.ask(row).source for row in Queries.thresholds(16).matrix]
    assert sources.count("paid") == 2
    assert sources[-1] == "refused"
    assert run.hypothesis.sum() == pytest.approx(1)


# ── input ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "wrong",
    [{"accuracy": 0}, {"accuracy": 1}, {"beta": 1}, {"domain": 0}, {"queries_expected": 0}, {"updates": 0}, {"rho": 1}, {"epsilon": None}],
    ids=str,
)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        online(**({"epsilon": 1} | wrong))


@pytest.mark.parametrize("wrong", [[1, 0], [1, 0, 2], [1, 0, -1], [0.5, 0, 1], 3, None])
def test_wrong_queries(wrong: Any) -> None:
    with pytest.raises(Invalid):
        online(epsilon=1).open(Private([1, 2, 3])).ask(wrong)


def test_wrong_data() -> None:
    for wrong in ([1, 2], [1, -2, 3], [0.5, 1, 2]):
        with pytest.raises(Invalid):
            online(epsilon=1).open(wrong)
    online(epsilon=1).open(Private([math.nan, 1, 2])).ask([1, 0, 0])
