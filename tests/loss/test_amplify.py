"""Losses on random samples: against laws by enumeration, dp-accounting, and the budgets that add them up."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import pytest
from dp_accounting.pld import privacy_loss_distribution as oracle

from discreet.errors import BudgetExceeded, Invalid
from discreet.loss import calibrate, divergence
from discreet.loss.amplify import PoissonSubsampled, Subsampled, amplified, subsampled
from discreet.loss.filter import Filter
from discreet.loss.leaves import (
    Approx,
    DiscreteLaplaceLoss,
    GaussianLoss,
    GaussianThreshold,
    LaplaceLoss,
    Pure,
    RandomizedResponseLoss,
    Revealed,
    Zcdp,
)
from discreet.loss.loss import NOTHING, Loss, compose, parallel
from discreet.loss.promise import Promised

Pmf = dict[int, Fraction]
REACH = 10  # noise beyond it is merged into the ends: a post-processing


def noisy(total: int, q: Fraction) -> Pmf:
    """total + noise P[x] ∝ q^|x|, exactly, merged at the ends."""
    law: Pmf = {}
    for x in range(-REACH - total, REACH - total + 1):
        ends = x in (-REACH - total, REACH - total)
        law[total + x] = q ** abs(x) / (1 + q) if ends else (1 - q) / (1 + q) * q ** abs(x)
    return law


def mixed(parts: list[tuple[Fraction, Pmf]]) -> Pmf:
    out: Pmf = {}
    for weight, law in parts:
        for k, mass in law.items():
            out[k] = out.get(k, Fraction(0)) + weight * mass
    return out


def poisson(values: list[int], rate: Fraction, q: Fraction) -> Pmf:
    """The exact law of a noisy sum over a Poisson sample."""
    subsets = [s for n in range(len(values) + 1) for s in combinations(range(len(values)), n)]
    weights = [rate ** len(s) * (1 - rate) ** (len(values) - len(s)) for s in subsets]
    return mixed([(w, noisy(sum(values[i] for i in s), q)) for w, s in zip(weights, subsets, strict=True)])


def fixed(values: list[int], size: int, q: Fraction) -> Pmf:
    subsets = list(combinations(values, size))
    return mixed([(Fraction(1, len(subsets)), noisy(sum(s), q)) for s in subsets])


def covers(loss: Loss, p: Pmf, q: Pmf) -> bool:
    """Whether the loss is never below the exact divergence of two explicit laws, in both directions."""
    return all(loss.delta_at(e) >= divergence.tight_delta(p, q, e) * (1 - Fraction(1, 10**9)) for e in ("0", "1/50", "1/10", "1/3", "1"))


HALF = Fraction(1, 2)  # q of the noise in the enumerations: e^(−1/scale), so that laws are rational


def enough(shift: int) -> Loss:
    """A loss for discrete Laplace noise with q = ½ and this sensitivity; 1/scale = ln 2, rounded up."""
    return DiscreteLaplaceLoss(1 / Fraction("0.693147180559945310"), shift)


@pytest.mark.parametrize("rate", [Fraction(1, 10), HALF, Fraction(9, 10)])
@pytest.mark.parametrize("others", [[], [1], [1, 1, 0]])
def test_poisson_sample_with_and_without_a_unit(rate: Fraction, others: list[int]) -> None:
    loss = PoissonSubsampled(enough(1), rate)
    p, q = poisson([*others, 1], rate, HALF), poisson(others, rate, HALF)
    assert covers(loss, p, q)
    if not others:  # this pair is the worst: the bound is tight
        for e in ("0", "1/20"):
            assert loss.delta_at(e) <= float(divergence.tight_delta(p, q, e)) * (1 + 1e-3) + 1e-9
    assert not covers(PoissonSubsampled(enough(1), rate * Fraction(4, 5)), poisson([1], rate, HALF), poisson([], rate, HALF))


@pytest.mark.parametrize(("values", "other"), [([1, 0, 0], 0), ([1, 0, 0, 1], 0), ([1, 1, 0], 0)])
@pytest.mark.parametrize("size", [1, 2])
def test_sample_of_fixed_size_with_a_unit_replaced(values: list[int], other: int, size: int) -> None:
    rate = Fraction(size, len(values))
    p, q = fixed(values, size, HALF), fixed([other, *values[1:]], size, HALF)
    assert covers(Subsampled(enough(1), rate), p, q)
    assert covers(subsampled(enough(1), rate, sampling="without replacement", adjacency="replace-one"), p, q)


def test_sample_of_one_of_three_is_tight_and_a_smaller_rate_is_caught() -> None:
    p, q = fixed([1, 0, 0], 1, HALF), fixed([0, 0, 0], 1, HALF)
    assert Subsampled(enough(1), Fraction(1, 3)).delta_at(0) <= float(divergence.tight_delta(p, q, 0)) * (1 + 1e-6)
    assert not covers(Subsampled(enough(1), Fraction(1, 4)), p, q)


@pytest.mark.parametrize("rate", [Fraction(1, 10), HALF])
def test_poisson_sample_with_a_unit_replaced_needs_the_loss_of_replacing(rate: Fraction) -> None:
    p, q = poisson([1], rate, HALF), poisson([-1], rate, HALF)
    assert covers(subsampled(enough(2), rate, sampling="poisson", adjacency="replace-one"), p, q)
    assert not covers(subsampled(enough(1), rate, sampling="poisson", adjacency="replace-one"), p, q)


def test_composition_examines_both_directions() -> None:
    """Two enumerated steps: (with, without) and (without, with) have different profiles, and both are covered."""
    rate, loss = Fraction(1, 4), 2 * PoissonSubsampled(enough(1), Fraction(1, 4))
    one, none = poisson([1], rate, HALF), poisson([], rate, HALF)

    def twice(law: Pmf) -> dict[object, Fraction]:
        return {(a, b): x * y for a, x in law.items() for b, y in law.items()}

    for e in ("0", "1/10", "1/4", "2/5"):
        for p, q in ((one, none), (none, one)):
            first = twice(p)
            pairs = [(first.get(key, Fraction(0)), mass) for key, mass in twice(q).items()]
            factor = Fraction(math.exp(float(Fraction(e))))
            truth = sum((max(Fraction(0), a - factor * b) for a, b in pairs), Fraction(0))
            assert loss.delta_at(e) >= truth * (1 - Fraction(1, 10**9))
    law = (PoissonSubsampled(enough(1), rate).laws or ())[0][0]
    assert law.reverse != law
    assert law.reverse.reverse == law
    assert law.symmetric.reverse == law.symmetric


def _oracle(noise: str, size: float, rate: float, k: int, pessimistic: bool) -> object:
    options = {"sampling_prob": rate, "pessimistic_estimate": pessimistic, "value_discretization_interval": 1e-4}
    options |= {"use_connect_dots": pessimistic}
    make = oracle.from_gaussian_mechanism if noise == "gaussian" else oracle.from_laplace_mechanism
    return make(size, **options).self_compose(k)


@pytest.mark.parametrize(("noise", "size", "rate", "k", "delta"), [
    ("gaussian", 1.0, "1/10", 1, 1e-5), ("gaussian", 2.0, "1/100", 200, 1e-6), ("gaussian", 0.8, "1/50", 1000, 1e-5),
    ("laplace", 1.0, "1/10", 1, 1e-3), ("laplace", 2.0, "1/20", 100, 1e-6), ("laplace", 0.5, "1/2", 20, 1e-6),
])  # fmt: skip
def test_against_dp_accounting(noise: str, size: float, rate: str, k: int, delta: float) -> None:
    part = GaussianLoss(1 / Fraction(size) ** 2) if noise == "gaussian" else LaplaceLoss(1 / Fraction(size))
    found = (k * PoissonSubsampled(part, rate)).epsilon_at(delta)
    low, high = (_oracle(noise, size, float(Fraction(rate)), k, side).get_epsilon_for_delta(delta) for side in (False, True))  # type: ignore[attr-defined]
    assert low * (1 - 1e-6) - 1e-9 <= found <= high * 1.01 + 1e-4


def test_the_generic_bound() -> None:
    loss = Subsampled(Approx(1, "1e-6"), "1/100")
    assert math.isclose(float(loss.epsilon), math.log1p(math.expm1(1) / 100), rel_tol=1e-12)
    assert loss.epsilon > Fraction(math.log1p(math.expm1(1) / 100)) * (1 - Fraction(1, 2**50))
    assert loss.delta == Fraction(1, 10**8)
    assert loss.basic == (loss.epsilon, loss.delta)
    assert amplified(None, HALF) is None
    assert amplified(Fraction(1000), HALF) == 1000  # no e^1000
    two = Subsampled(Pure(1) + GaussianLoss(1), HALF)  # two kinds of law on one sample: what is known stays
    assert two.laws == Pure(1).laws + GaussianLoss(1).laws
    assert PoissonSubsampled(2 * GaussianLoss("1/2"), HALF).laws == PoissonSubsampled(GaussianLoss(1), HALF).laws
    assert PoissonSubsampled(PoissonSubsampled(GaussianLoss(1), HALF), HALF).laws == PoissonSubsampled(GaussianLoss(1), HALF).laws


def test_zcdp_and_gdp_of_a_sampled_gaussian_are_those_of_the_gaussian() -> None:
    for loss in (PoissonSubsampled(GaussianLoss("1/4"), "1/100"), Subsampled(GaussianLoss("1/4"), "1/100")):
        assert (loss.rho, loss.mu_squared, loss.epsilon, loss.delta) == (Fraction(1, 8), Fraction(1, 4), None, 0)
        assert not math.isfinite(loss.epsilon_at(0))
        assert loss.group(3) == GaussianLoss("9/4")
    sampled = PoissonSubsampled(Pure(1), "1/10")
    assert sampled.rho == Pure(sampled.epsilon).rho < Pure(1).rho
    assert sampled.group(2).epsilon == 2 * sampled.epsilon
    assert PoissonSubsampled(Zcdp("1/2"), "1/10").rho == Fraction(1, 2)
    assert PoissonSubsampled(Zcdp("1/2"), "1/10").laws is None


def test_a_budget_charges_what_its_notion_has_a_theorem_for() -> None:
    """A zCDP budget charges a sampled Gaussian in full; with an (ε, δ) as a whole, basic composition adds that."""
    gaussian, sampled = GaussianLoss("1/4"), PoissonSubsampled(GaussianLoss("1/4"), "1/100")
    budget = Filter(5, 1e-6)
    assert budget.spend(sampled).spent.rho == budget.spend(gaussian).spent.rho
    assert budget.spend(sampled).spent.mu_squared == budget.spend(gaussian).spent.mu_squared
    assert budget.spend(sampled).spent.basic[0] is None
    whole = Promised(100 * sampled, 1, "1e-8")
    assert (100 * gaussian).epsilon_at(1e-8) > 10
    spent = budget.spend(whole).spent
    assert spent.basic == (1, Fraction(1, 10**8))
    assert spent.rho == 100 * gaussian.rho
    with pytest.raises(Invalid):
        Promised(100 * sampled, "1/100", "1e-8")
    with pytest.raises(BudgetExceeded):
        Filter("1/2", 1e-6).spend(whole)
    pure = Subsampled(Pure(1), "1/10")
    left = Filter(1)
    for _ in range(6):  # 6 · 0.1586
        left = left.spend(pure)
    assert not left.admits(pure)


def test_revealed_mass_is_sampled_too() -> None:
    loss = PoissonSubsampled(GaussianThreshold("1/4", "1e-6"), "1/10")
    assert loss.delta == Fraction(1, 10**7)
    assert loss.delta_at(1) >= PoissonSubsampled(GaussianLoss("1/4"), "1/10").delta_at(1)
    assert PoissonSubsampled(Revealed(), "1/10").delta_at(5) >= 0.1


def test_a_unit_that_leaves_one_part_and_enters_another() -> None:
    """Under replace-one the first part is seen in one direction and the second in the other: neither direction alone covers that."""
    rate = Fraction(1, 2)
    part = PoissonSubsampled(enough(1), rate)
    one, none = poisson([1], rate, HALF), poisson([], rate, HALF)
    p = {(a, b): x * y for a, x in one.items() for b, y in none.items()}
    q = {(a, b): x * y for a, x in none.items() for b, y in one.items()}
    both = parallel(part, part, adjacency="replace-one")
    for e in ("0", "1/10", "1/2", "1"):
        assert both.delta_at(e) >= divergence.tight_delta(p, q, e) * (1 - Fraction(1, 10**9))
    assert both.laws == tuple((law.symmetric, k) for law, k in (part.laws or ()) * 2)
    assert parallel(part, PoissonSubsampled(enough(1), Fraction(1, 4))).laws == part.laws


def test_more_of_the_units_lose_more() -> None:
    rates = ["1/1000", "1/10", "1/2", "9/10", "999/1000"]
    for kind in (PoissonSubsampled, Subsampled):
        for part in (GaussianLoss(1), LaplaceLoss(1), RandomizedResponseLoss(1, 4)):
            found = [(10 * kind(part, rate)).epsilon_at(1e-6) for rate in rates]
            assert found == sorted(found)
            assert found[-1] <= (10 * part).epsilon_at(1e-6) * 1.01
            assert kind(part, "1/10").below(kind(part, "1/2"))
            assert not kind(part, "1/2").below(kind(part, "1/10"))
    assert not PoissonSubsampled(Pure(1), HALF).below(Subsampled(Pure(1), HALF))


@pytest.mark.parametrize("square", ["1/10000", "400", "2500", "1000000"])
def test_extreme_noise_is_bounded_all_the_same(square: str) -> None:
    found = PoissonSubsampled(GaussianLoss(square), "1/100").epsilon_at(1e-6)
    assert 0 <= found <= GaussianLoss(square).epsilon_at(1e-6)


def test_parameters() -> None:
    assert subsampled(Pure(1), 1, sampling="poisson", adjacency="add/remove") == Pure(1)
    assert subsampled(Pure(1), 0, sampling="poisson", adjacency="add/remove") == NOTHING
    with pytest.raises(Invalid, match="replace-one"):
        subsampled(Pure(1), "1/2", sampling="without replacement", adjacency="add/remove")
    with pytest.raises(Invalid, match="sampling"):
        subsampled(Pure(1), "1/2", sampling="with replacement", adjacency="replace-one")  # type: ignore[arg-type]
    for rate in (0, 1, "3/2"):
        with pytest.raises(Invalid, match="rate"):
            Subsampled(Pure(1), rate)
    with pytest.raises(Invalid, match="rate"):
        subsampled(Pure(1), 2, sampling="poisson", adjacency="replace-one")
    assert compose([Subsampled(Pure(1), HALF)] * 2) == 2 * Subsampled(Pure(1), HALF)


def test_a_sampled_gaussian_is_within_what_it_was_calibrated_to() -> None:
    rate, delta = Fraction(1, 10), Fraction(1, 10**6)
    sigma = calibrate.gaussian_scale(Fraction(2), delta, Fraction(1))
    loss = PoissonSubsampled(Promised(GaussianLoss(1 / sigma**2), 2, delta), rate)
    epsilon = amplified(Fraction(2), rate)
    assert epsilon is not None
    assert loss.basic == (epsilon, delta * rate)
    assert loss.within(Approx(epsilon, delta * rate))
    assert not loss.within(Approx(epsilon / 2, delta * rate))
