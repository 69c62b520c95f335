"""Boosting for queries: its price draw by draw, noise replayed on neighbours, its law, its accuracy, and general queries."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, final

import numpy as np
import pytest
from algorithms.classical.tape import Strayed, Tape, histograms, neighbours
from attrs import evolve, frozen
from scripted import Seeded
from theorems import laws

from discreet.algorithms.classical.boosting import Boosting, rounds_needed
from discreet.algorithms.classical.linear import Queries
from discreet.algorithms.classical.shares import BudgetShare
from discreet.algorithms.classical.synthesis import ErrorBound, FewRows, draws_needed
from discreet.errors import Invalid
from discreet.loss.loss import NOTHING, Loss, compose
from discreet.private import Private


def linear(**more: Any) -> Boosting:
    return Boosting.linear(Queries.thresholds(3), **({"rounds": 4, "draws": 3, "rows": 6, "near": 0} | more))


BUDGETS: list[dict[str, Any]] = [{"epsilon": "30"}, {"rho": "20"}]


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_steps_add_up(budget: dict[str, Any]) -> None:
    boost = linear(**budget)
    told = boost.release(Private([2, 0, 1]))
    assert told.losses == boost.losses
    assert compose(told.losses) == boost.loss
    assert len(told.losses) == 3 * 3 + 4  # the first draws are free
    alpha, margin = Fraction("0.549306"), boost.margin
    if "epsilon" in budget:
        assert boost.loss.epsilon == 4 * (boost.base.loss.epsilon or 0) + 2 * 3 * alpha * 4 * 3 / margin <= 30
    else:
        stated = 2 * 3 * alpha**2 * 14 / Fraction(margin) ** 2 + 4 * (boost.base.loss.rho or 0)  # 1² + 2² + 3² = 14
        assert (boost.loss.rho or 0) <= stated <= 20


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("queries", [Queries.thresholds(3), Queries([[0, 3, 1], [2, 2, 0]], top=3)], ids=["counts", "averages"])
def test_all_noise_replayed_on_neighbours(budget: dict[str, Any], queries: Queries, monkeypatch: pytest.MonkeyPatch) -> None:
    boost = Boosting.linear(queries, rounds=4, draws=3, rows=6, near=1, **budget)
    for seed, given in enumerate([(2, 1, 1), (9, 0, 0), (0, 3, 1)]):
        with monkeypatch.context() as patch:
            tape = Tape(patch, seed)
            first = boost.release(Private(given))
            assert tape.loss == boost.loss
            for other in neighbours(given):
                tape.rewind()
                again = boost.release(Private(other))
                assert again.losses == first.losses
                assert (again.rounds == first.rounds).all()
                assert (again.answers == first.answers).all()


def test_draws_priced_as_if_one_round_were_past_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """After j rounds the misses move by up to j; a draw that is made for 1 is dearer than it says."""
    boost = linear(epsilon="1/10")
    drawing = Boosting.drawing
    monkeypatch.setattr(Boosting, "drawing", lambda self, past: drawing(self, 1))
    tape = Tape(monkeypatch, 1)
    with pytest.raises(AssertionError, match="moves by"):
        tape.same(lambda data: boost.release(data).answers.tolist(), (200, 1, 1))


def test_a_base_that_looks_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    boost = linear(epsilon=5)
    monkeypatch.setattr(FewRows, "sample", lambda self, data, drawn, bits: self.queries.answers(data))
    tape = Tape(monkeypatch, 1)
    with pytest.raises(Strayed):
        tape.same(lambda data: boost.release(data).answers.tolist(), (2, 1, 1))


def worst_draw(margin: int, near: int, past: int, faster: int = 1) -> float:
    """The largest log-ratio of one draw over all data sets, neighbours, and answers of the base in a box (the same each round)."""
    boost = linear(epsilon=1)
    queries = Queries.thresholds(3)
    drawing = Boosting(
        questions=queries.answers, size=3, base=boost.base, rounds=4, draws=3, near=near, margin=margin
    ).drawing(past)  # fmt: skip
    rate = faster * drawing.epsilon / (2 * drawing.sensitivity)
    found = 0.0
    for answer in np.ndindex(5, 5, 5):
        chances = {
            given: np.log(laws.softmax((past * np.clip(np.abs(queries.answers(given) - answer) - near, 0, margin)).tolist(), rate))
            for given in histograms(3, 4)
        }
        pairs = ((x, y) for x in chances for y in neighbours(x) if y in chances)
        found = max(found, max(float(np.abs(chances[x] - chances[y]).max()) for x, y in pairs))
    return found / float(drawing.epsilon)


@pytest.mark.parametrize(("margin", "near", "past"), [(1, 0, 1), (3, 1, 2), (2, 0, 3)])
def test_no_draw_tells_more_than_its_epsilon(margin: int, near: int, past: int) -> None:
    assert 0.3 < worst_draw(margin, near, past) <= 1
    assert worst_draw(margin, near, past, faster=4) > 1


# ── accuracy ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@final
@frozen
class Spiteful:
    """Answers right for all drawn queries and for as few others as the weak promise allows, the heaviest wrong by far."""

    truth: Any
    boost: dict[str, Any]

    @property
    def loss(self) -> Loss:
        return NOTHING

    def check(self, data: Any) -> None:
        pass

    def error_bound(self, confidence: Fraction, size: int, edge: Fraction) -> ErrorBound:
        return ErrorBound(0.0)

    def sample(self, data: Any, drawn: Any, bits: Any) -> Any:
        weights, sums = self.boost["weights"], self.boost["sums"]
        wrong, left = [], weights.sum() / 4  # wrong for ½ − η of the weight, the heaviest that fit
        for i in np.argsort(-weights, kind="stable"):
            if weights[i] <= left:
                wrong.append(i)
                left -= weights[i]
        answers = np.array(self.truth)
        answers[wrong] += self.boost["far"] * (-1) ** np.array(wrong, int)  # some too high, some too low
        sums[wrong] += 2  # a = −1 rather than 1
        self.boost["weights"] = np.exp(self.boost["step"] * sums)
        return answers


class Silent:
    """A base without a promise."""

    loss = NOTHING

    def check(self, data: Any) -> None:
        pass

    def sample(self, data: Any, drawn: Any, bits: Any) -> Any:
        return np.zeros(3, np.int64)


@pytest.mark.parametrize("size", [5, 40, 300])
def test_a_base_that_is_as_bad_as_it_may_be(size: int) -> None:
    """Wrong on a quarter of the weight each time, always the heaviest: with T = rounds_needed all medians are right."""
    rounds = rounds_needed(size)
    assert rounds <= 1 + math.log(size) / (2 / 16)
    truth = np.arange(size)
    state = {"weights": np.ones(size), "sums": np.zeros(size), "far": 100, "step": math.atanh(0.5)}
    boost = Boosting(
        questions=lambda data: truth, size=size, base=Spiteful(truth, state), rounds=rounds, draws=1, near=0, margin=50
    )  # fmt: skip
    told = boost.sample(None, Seeded(1))
    assert np.abs(told.answers - truth).max() <= boost.error() == 50
    assert (np.abs(told.rounds - truth).max(axis=1) == 100).sum() > rounds // 2  # yet most rounds were wrong somewhere


def test_nothing_is_promised_that_was_only_typed() -> None:
    """It said near + margin, 18 to 120 here, whatever the data, the draws and the rows; errors are above 200,000."""
    for size in (8, 16):
        queries = Queries.thresholds(size)
        data = np.random.default_rng(1).multinomial(10**6, np.random.default_rng(1).dirichlet(np.full(size, 0.3)))
        boost = Boosting.linear(queries, rho=10, rounds=rounds_needed(size), draws=4, rows=4, near=10)
        off = np.abs(boost.sample(data, Seeded(1)).answers - queries.answers(data)).max()
        assert off > 200_000 > 1000 * (boost.near + boost.margin)
        assert off <= boost.error(size=10**6)


def test_why_nothing_is_promised() -> None:
    n = 10**5
    fine = Boosting.proven(Queries.thresholds(3), size=n, epsilon=30)
    assert fine.error_bound(size=n) == (fine.near + fine.margin, "")
    for less, says in [
        ({"rounds": 2}, "2 rounds are too few for 3 queries: use rounds=8"),
        ({"near": fine.near - 1}, f"the base's error may be {fine.near}, above near: use near={fine.near}"),
        ({"base": evolve(fine.base, draws=3)}, "3 drawn queries are too few to represent the others"),  # type: ignore[type-var]
        ({"base": Silent()}, "the base states no error bound"),
    ]:
        told = evolve(fine, **less).error_bound(size=n)
        assert told.error == math.inf == evolve(fine, **less).error(size=n)
        assert says in told.reason
    assert fine.error(size=10 * n) == math.inf  # more records than near was chosen for
    assert fine.error(0.9999, size=n) == math.inf  # surer than it was chosen for


@pytest.mark.parametrize("budget", [{"rho": 1}, {"epsilon": 40}], ids=str)
def test_the_base_and_the_boosting_keep_their_promise(budget: dict[str, Any]) -> None:
    """Thresholds over 6 values, n = 10⁶, parameters by the theorems at β = 10⁻⁶ in all: drawn, most and finally all queries are near."""
    queries, n, rows = Queries.thresholds(6), 10**6, 120
    rounds = rounds_needed(queries.size)
    beta = Fraction(1, 2 * 10**6 * rounds)
    draws = draws_needed(6, rows, beta)
    shape: dict[str, Any] = {"rounds": rounds, "draws": draws, "rows": rows}
    near = Boosting.linear(queries, near=0, **shape, **budget).base.near(1 - beta, n)  # type: ignore[attr-defined]
    boost = Boosting.linear(queries, near=near, **shape, **budget)
    assert near < n / 2
    for seed, data in enumerate(([n, 0, 0, 0, 0, 0], [n // 2, 0, 0, n // 4, n // 4, 0])):
        told = boost.sample(data, Seeded(seed))
        off = np.abs(told.rounds - queries.answers(data))
        assert (off[0] <= near).mean() > 0.75
        assert np.abs(told.answers - queries.answers(data)).max() <= boost.error(1 - Fraction(1, 10**6), n) < math.inf


def test_general_queries() -> None:
    """Medians of parts of a list, which are no linear queries: ranks move by 1. The base here is a noisy count for each drawn query."""
    data = [3, 8, 1, 9, 4, 7] * 200

    def ranks(values: Any) -> Any:
        return np.array([sum(v <= t and v % p == 0 for v in values) for t in (3, 6, 9) for p in (1, 2)])

    @final
    @frozen
    class Direct:
        noise: Any

        @property
        def loss(self) -> Loss:
            return compose([self.noise.loss] * 20)

        def check(self, data: Any) -> None:
            pass

        def sample(self, data: Any, drawn: Any, bits: Any) -> Any:
            out = np.full(6, 600)
            for i in drawn:
                out[i] = self.noise.sample(int(ranks(data)[i]), bits)
            return out

    base = Direct(BudgetShare.of(rho=1).count(1))
    boost = Boosting(questions=ranks, size=6, base=base, rounds=rounds_needed(6), draws=20, near=30, margin=200)
    told = boost.sample(data, Seeded(4))
    assert np.abs(told.answers - ranks(data)).max() <= boost.near + boost.margin
    assert boost.error(size=1200) == math.inf  # this base says nothing
    assert compose(told.losses) == boost.loss


# ── input ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "wrong", [{"rounds": 0}, {"draws": 0}, {"rows": 0}, {"near": -1}, {"edge": "1/2"}, {"edge": 0}, {"rho": 1}, {"epsilon": None}], ids=str
)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        linear(**({"epsilon": 1} | wrong))


def test_wrong_data() -> None:
    for wrong in ([1, 2], [1, 2, -1]):
        with pytest.raises(Invalid):
            linear(epsilon=1).release(wrong)
    linear(epsilon=1).release(Private([math.nan, 1, 0]))


def test_one_round_is_the_base() -> None:
    boost = linear(epsilon=1, rounds=1)
    assert boost.losses == (boost.base.loss,)
