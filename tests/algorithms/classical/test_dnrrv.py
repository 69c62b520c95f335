"""DNRRV: its price, noise replayed on neighbours, its law by enumeration, generalisation counted, and broken variants."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from algorithms.classical.tape import Strayed, Tape, histograms, neighbours
from scipy import stats
from scripted import Seeded
from theorems import laws

from discreet.algorithms.classical import dnrrv as module
from discreet.algorithms.classical.dnrrv import DNRRV, part_of
from discreet.algorithms.classical.linear import Queries
from discreet.algorithms.classical.nested import Nested
from discreet.errors import Invalid
from discreet.loss.loss import compose
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.streams import sparse_vector
from discreet.private import Private

BUDGETS: list[dict[str, Any]] = [{"epsilon": "3/2"}, {"rho": "1/7"}, {"epsilon": 1, "delta": "1e-6"}, {"epsilon": 2, "records": 4}]
SHAPES: list[dict[str, Any]] = [{"sizes": ()}, {"sizes": (3,)}, {"sizes": (4, 2)}]

AVERAGES = Queries([[0, 3, 1], [2, 2, 0], [3, 0, 0], [1, 0, 2], [0, 0, 3]], top=3)


def small(queries: Queries | None = None, **more: Any) -> DNRRV:
    return DNRRV(queries=queries or Queries.intervals(3), **({"rows": 6, "epsilon": 1} | more))


# ── price ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
def test_the_steps_add_up(budget: dict[str, Any], shape: dict[str, Any]) -> None:
    sanitise = DNRRV(queries=Queries.intervals(3), rows=6, **shape, **budget)
    told = sanitise.release(Private([2, 0, 2]))
    assert told.losses == sanitise.losses
    assert compose(told.losses) == sanitise.loss
    assert len(told.losses) == ("records" not in budget) + 1 + sum(sanitise.nested.hits)
    if "rho" in budget:
        assert Fraction(9, 10) * Fraction(1, 7) < (sanitise.loss.rho or 0) <= Fraction(1, 7)
    elif "delta" in budget:
        assert sanitise.loss.epsilon_at(1e-6) <= 1
    else:
        assert sanitise.loss.epsilon == sanitise.epsilon


class Opened(Tape):
    """A tape that also counts the streams that are opened with coins of their own."""

    def __init__(self, patch: pytest.MonkeyPatch, seed: int) -> None:
        super().__init__(patch, seed)
        begin = sparse_vector.SparseVectorRun.__init__

        def init(run: Any, mechanism: Any, bits: Any) -> None:
            self.opened.append(mechanism.loss)
            begin(run, mechanism, bits)

        patch.setattr(sparse_vector.SparseVectorRun, "__init__", init)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize("queries", [Queries.intervals(3), AVERAGES], ids=["counts", "averages"])
def test_all_noise_replayed_on_neighbours(queries: Queries, budget: Any, shape: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sanitise = DNRRV(queries=queries, rows=6, beta="0.9", **shape, **budget)
    for seed, given in enumerate([(2, 1, 1), (4, 0, 0), (0, 3, 1)]):
        with monkeypatch.context() as patch:
            tape = Opened(patch, seed)
            first = sanitise.release(Private(given))
            spent = compose([m.loss for m, *_ in tape.meetings if not hasattr(m, "threshold")] + tape.opened)
            for price in ("epsilon", "rho"):
                if (limit := getattr(sanitise.loss, price)) is not None:
                    assert getattr(spent, price) <= limit  # rounds that were not needed are paid for all the same
            for other in neighbours(given, replace="records" in budget):
                tape.rewind()
                again = sanitise.release(Private(other))
                assert (again.answers == first.answers).all()
                assert (again.small.histogram == first.small.histogram).all()
                assert (again.hits, again.losses) == (first.hits, first.losses)


def test_a_sensitivity_of_one_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the queries of the smallest part could be paid for once."""
    monkeypatch.setattr(Nested, "measuring", property(lambda self: Laplace(epsilon="0.5", whole=True)))
    with pytest.raises(AssertionError, match="moves by"):
        Tape(monkeypatch, 1).same(lambda data: small().release(data).answers.tolist(), (2, 1, 1))


def test_parts_chosen_by_looking_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The part where the data has most, instead of a random one."""
    sample = DNRRV.sample

    def looking(self: DNRRV, answer: Any, bits: Any) -> Any:
        order = np.argsort(self.queries.answers(answer), kind="stable")
        monkeypatch.setattr(module, "part_of", lambda whole, size, bits: np.sort(order[-size:]))
        return sample(self, answer, bits)

    monkeypatch.setattr(DNRRV, "sample", looking)
    tape = Tape(monkeypatch, 1)
    with pytest.raises((Strayed, AssertionError)):
        tape.same(lambda data: small(sizes=(2,)).release(data).answers.tolist(), (3, 0, 2))


# ── the law, by enumeration ──────────────────────────────────────────────────────────────────────────────────────────

REACH = 60  # of the noise that is enumerated; what lies beyond has a chance below 10⁻¹²


def law(sanitise: DNRRV, given: tuple[int, ...], *, faster: float = 1.0) -> dict[tuple[Any, ...], float]:
    """P[part, noisy count, pattern of the two tests] for two queries of which one is measured, and its exact order."""
    nested, queries, n = sanitise.nested, sanitise.queries, sanitise.records or 1
    true = queries.answers(given)
    level = nested.levels(n)[1]
    assert isinstance(nested.measuring, Laplace)
    assert level.rounds is not None
    svt = level.rounds.stream(level.threshold)
    scales = [float(scale) / faster for scale in svt.scales]
    found: dict[tuple[Any, ...], float] = {}
    for measured in (0, 1):
        for noise, chance in laws.discrete_laplace(1 / float(nested.measuring.scale), REACH).items():
            noisy = int(true[measured]) + noise
            if abs(noisy) > REACH - 2:
                continue
            told = np.zeros(2, np.int64)
            told[measured] = noisy
            fit = sanitise._fit(told, np.array([measured]), n)
            other = 1 - measured
            gap = int(true[other] - np.rint(n * queries.means(fit))[other])
            for pattern, likely in laws.sparse_vector([gap, -gap], *scales, 1, shift=level.threshold + scales[1] - scales[0]).items():
                found[measured, noisy, pattern] = chance * likely / 2
    return found


TINY: dict[str, Any] = {"queries": Queries.points(2), "rows": 2, "sizes": (1,), "epsilon": 4, "records": 2, "beta": "0.9"}


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """A threshold of 1, so that there are hits: any is private, only accuracy asks for more."""
    levels = Nested.levels
    monkeypatch.setattr(Nested, "levels", lambda self, total: [level._replace(threshold=1) for level in levels(self, total)])


def test_what_comes_out_has_the_law(often: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """2,000 releases with fixed coins against the enumerated law: which part, what was measured, where the hit was."""
    sanitise, given = DNRRV(**TINY), (2, 0)
    seen: Counter[tuple[Any, ...]] = Counter()
    tape = Tape(monkeypatch, 3)
    bits = Seeded(3)
    for _ in range(2000):
        tape.meetings.clear()
        sanitise.sample(given, bits)
        first, *tests = [(answer, out) for _, answer, out in tape.meetings]
        measured = 0 if int(first[0][0]) == 2 else 1  # the counts are 2 and 0
        pattern = tuple(int(out.above) for _, out in tests if hasattr(out, "above"))
        seen[measured, int(first[1][0]), pattern] += 1
    expected = law(sanitise, given)
    assert sum(expected.values()) == pytest.approx(1, abs=1e-9)
    likely = [key for key, chance in expected.items() if chance * 2000 >= 5]
    rest = 1 - sum(expected[key] for key in likely)
    counts = [seen[key] for key in likely] + [2000 - sum(seen[key] for key in likely)]
    assert len(likely) > 20
    assert stats.chisquare(counts, 2000 * np.array([*(expected[key] for key in likely), rest])).pvalue > 1e-6


@pytest.mark.parametrize("faster", [1.0, 3.0])
def test_no_output_tells_more_than_epsilon(faster: float, often: None) -> None:
    """All data sets of 2 records, one replaced: part, measured count and tests, and the count of a hit; a faster test is caught."""
    sanitise = DNRRV(**TINY)
    noise = sanitise.nested.rounds[0].noisy_count
    assert isinstance(noise, Laplace)
    worst = 0.0
    for given in (h for h in histograms(2, 2) if sum(h) == 2):
        here = law(sanitise, given, faster=faster)
        for other in neighbours(given, replace=True):
            there = law(sanitise, other, faster=faster)
            for key, chance in here.items():
                if key in there and chance > 1e-13:
                    told = abs(given[1 - key[0]] - other[1 - key[0]]) / float(noise.scale) if key[2][-1] else 0.0
                    worst = max(worst, math.log(chance / there[key]) + told)
    assert sanitise.loss.epsilon == 4
    assert 2 < worst <= 4 + 1e-6 if faster == 1 else worst > 4


# ── generalisation ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_parts_are_uniform(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every outcome of the coins once: each of the 10 parts of 3 among 5 comes 6 times."""
    seen: Counter[tuple[int, ...]] = Counter()
    for script in itertools.product(range(5), range(4), range(3)):
        steps = iter(script)
        monkeypatch.setattr(module, "uniform", lambda count, bits, steps=steps: next(steps))
        seen[tuple(part_of(np.arange(5), 3, Seeded(0)).tolist())] += 1
    assert sorted(seen) == list(itertools.combinations(range(5), 3))
    assert set(seen.values()) == {6}


# ── input ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "wrong", [{"sizes": (6,)}, {"sizes": (2, 2)}, {"sizes": (0,)}, {"rows": 0}, {"beta": 0}, {"epsilon": None}, {"rho": 1}], ids=str
)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        small(**wrong)


def test_wrong_data() -> None:
    for wrong in ([1, 2], [1, 2, -1], [0.5, 1, 1]):
        with pytest.raises(Invalid):
            small().release(wrong)
    small(sizes=(2,)).release(Private([math.nan, 1, 0]))


def test_more_confidence_than_it_was_made_for_is_not_promised() -> None:
    assert small(beta="0.1").error(0.9, 100) < math.inf
    assert small(beta="0.1").error(0.95, 100) == math.inf == small(beta="0.1").small_error(0.95, 100)
