"""Plans that read a sample: the loss against laws by enumeration, ways of charging too little, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from attrs import evolve
from plan.questions import DELTA, catalog, steps

from discreet.errors import Refused
from discreet.loss.amplify import PoissonSubsampled, Subsampled, amplified, before_sampling
from discreet.loss.filter import Filter
from discreet.loss.promise import Promised
from discreet.plan.compile import compile_plan
from discreet.plan.steps import NoisyTotal, Steps
from discreet.query.sql.read import read
from discreet.tables.catalog import Catalog

RATE = Fraction(1, 10)
BOTH = "SELECT COUNT(*) AS n, SUM(x) AS s FROM t"
ONE_EACH = {"rows": 1}


def sampled(sql: str = BOTH, tables: Catalog | None = None, epsilon: Any = 1, delta: Any = 0, rate: Fraction | None = RATE) -> Steps:
    tables = catalog(ONE_EACH) if tables is None else tables
    question = evolve(read(sql, tables), sample=rate)
    return compile_plan(question, tables, Fraction(epsilon), Fraction(delta), lambda table, column: ())


@pytest.mark.parametrize(("epsilon", "rate"), [("0.001", "0.5"), ("0.1", "0.01"), ("1", "0.01"), ("8", "0.000001"), ("1", "0.999")])
def test_the_price_before_sampling_is_the_largest_that_sampling_brings_down_to_the_price(epsilon: str, rate: str) -> None:
    price, share = Fraction(epsilon), Fraction(rate)
    before = before_sampling(price, share)
    after = amplified(before, share)
    assert after is not None
    assert after <= price < (amplified(before * Fraction(1_000_001, 1_000_000), share) or 0)
    assert before == pytest.approx(math.log1p(math.expm1(float(price)) / float(share)), rel=1e-9)


def test_the_plan_costs_its_price_and_pays_more_on_the_sample() -> None:
    plan = sampled(epsilon=1)
    assert (plan.epsilon, plan.delta) == (1, 0)
    assert plan.loss.basic == (1, 0)
    assert plan.budget.epsilon == before_sampling(Fraction(1), RATE)
    assert isinstance(plan.loss, Promised)
    assert isinstance(plan.loss.parts, PoissonSubsampled)
    assert isinstance(sampled(tables=catalog(ONE_EACH, adjacency="replace-one")).loss.parts, Subsampled)  # type: ignore[attr-defined]


MANY = ", ".join(f"COUNT(*) FILTER (WHERE age > {age}) AS n{age}" for age in range(30))


def test_gaussian_noise_is_calibrated_to_what_sampling_leaves_of_delta() -> None:
    plan = sampled(f"SELECT {MANY} FROM t", delta=DELTA)
    assert plan.budget.noise == "gaussian"
    assert (plan.delta, plan.budget.delta) == (DELTA, DELTA / RATE)
    assert plan.loss.basic == (1, DELTA)


def test_budgets_without_a_theorem_charge_the_loss_on_the_sample() -> None:
    plan = sampled(f"SELECT {MANY} FROM t", delta=DELTA)
    assert isinstance(plan.loss, Promised)
    assert isinstance(plan.loss.parts, PoissonSubsampled)
    spent, inside = Filter(10, 10 * DELTA).spend(plan.loss).spent, plan.loss.parts.part
    assert spent.basic == (1, DELTA)
    assert spent.rho is not None
    assert inside.rho is not None
    assert spent.rho >= inside.rho
    assert spent.mu_squared is not None
    assert inside.mu_squared is not None
    assert spent.mu_squared >= inside.mu_squared


# ── by enumeration ───────────────────────────────────────────────────────────────────────────────────────────────────

PEOPLE = ((1, 100.0), (1, 40.0), (1, 0.0))  # what each adds to both totals
FAR = (-1, 0, 1, 2, 3, 4)


def _pmf(one: NoisyTotal, distance: float) -> float:
    scale = float(one.mechanism.scale * one.unit) * float(RATE)  # on the sample, before totals are divided by the rate
    return math.exp(-abs(distance) / scale)


def _density(plan: Steps, people: tuple[tuple[float, float], ...], at: tuple[float, float]) -> float:
    """The law of both noisy totals on one sample, up to a constant, by enumerating the samples."""
    first, second = (next(one for one in plan.totals if bool(one.total.factors) is summed) for summed in (False, True))
    found = 0.0
    for chosen in product((0, 1), repeat=len(people)):
        chance = math.prod(float(RATE if one else 1 - RATE) for one in chosen)
        count, total = (sum(one * person[k] for one, person in zip(chosen, people, strict=True)) for k in (0, 1))
        found += chance * _pmf(first, at[0] - count) * _pmf(second, at[1] - total)
    return found


def _loss(plan: Steps) -> float:
    """The largest privacy loss between data with the first person and without, over points far and near."""
    points = list(product([float(at) for at in (-50, *FAR, 50)], [100.0 * at for at in (-50, *FAR, 50)]))
    ratios = [math.log(_density(plan, PEOPLE, at) / _density(plan, PEOPLE[1:], at)) for at in points]
    return max(map(abs, ratios))


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
def test_both_totals_on_one_sample_lose_what_is_charged(epsilon: str) -> None:
    plan = sampled(epsilon=epsilon)
    assert not plan.budget.centred
    assert 0.98 * float(plan.epsilon) < _loss(plan) <= float(plan.epsilon) * (1 + 1e-9)


def test_amplifying_each_total_by_itself_would_charge_too_little() -> None:
    plan = sampled(epsilon=1)
    parts = [amplified(one.mechanism.loss.epsilon, RATE) for one in plan.totals]
    assert float(sum(part for part in parts if part is not None)) < 0.8 * _loss(plan)


def test_one_key_for_two_questions_would_cost_more_than_both_prices() -> None:
    price = Fraction(1, 2)
    inside = before_sampling(price, RATE)
    together = amplified(2 * inside, RATE)  # both answers see one sample
    assert together is not None
    assert together > 3 * price


def test_sampling_rows_would_cost_more_than_sampling_units() -> None:
    """A unit with ten rows, of which any in the sample counts for one: it is in the sample nearly ten times as often."""
    price = Fraction(1, 2)
    inside = before_sampling(price, RATE)
    by_row = math.log1p(float(1 - (1 - RATE) ** 10) * math.expm1(float(inside)))
    assert by_row > 2 * float(price)


# ── what is refused ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("sql", "tables", "said"),
    [
        ("SELECT MEDIAN(x) AS m FROM t", catalog(ONE_EACH), "m: only COUNT"),
        ("SELECT COUNT(DISTINCT age) AS d FROM t", catalog(ONE_EACH), "d: only COUNT"),
        ("SELECT VARIANCE(x) AS v FROM t", catalog(ONE_EACH), "v: only COUNT"),
        ("SELECT COUNT(*) AS n FROM t", catalog(ONE_EACH, each=True), "the unit is the row"),
        ("SELECT COUNT(*) AS n FROM t", catalog(), 'contributions={"rows": …}'),
        ("SELECT SUM(x) AS s FROM t", catalog(ONE_EACH, bounds=None), 'bounds={"x": (low, high)}'),
        ("SELECT dept, COUNT(*) AS n FROM t GROUP BY dept", catalog(ONE_EACH, keys=None), "of the groups, buy a profile that finds it"),
        ("SELECT dept, COUNT(*) AS n FROM t GROUP BY ROLLUP (dept)", catalog(ONE_EACH), "grouping sets"),
    ],
)
def test_what_has_no_honest_interval_or_no_unit_to_sample_is_refused(sql: str, tables: Catalog, said: str) -> None:
    with pytest.raises(Refused) as refused:
        sampled(sql, tables, delta=DELTA)
    assert said in str(refused.value)
    assert "leave out sample=" in str(refused.value)


def test_numbers_of_both_signs_are_summed_with_a_count() -> None:
    plan = sampled("SELECT SUM(x) AS s FROM t", catalog(ONE_EACH, bounds=(-5, 100)))
    assert sorted(one.total.form for one in plan.totals) == ["present", "product"]


def test_a_question_that_reads_all_units_is_planned_as_before() -> None:
    plan = steps(BOTH, catalog(ONE_EACH))
    assert plan.question.sample is None
    assert not any("sample" in note for note in plan.notes)


def test_a_huge_price_is_not_amplified() -> None:
    assert before_sampling(Fraction(10**5), RATE) == 10**5
