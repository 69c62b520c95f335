"""The history of error bounds: its numbers by hand, its rates, its tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.algorithms.classical.history import dnrrv, error_bounds, mwem, mwem_gaussian
from discreet.algorithms.classical.nested import Nested
from discreet.algorithms.classical.small import blr_accuracy, blr_textbook
from discreet.errors import Invalid
from discreet.loss.leaves import BoundedRange, GaussianLoss


def test_numbers_by_hand() -> None:
    bounds = error_bounds(queries=10**4, domain=2**10, records=10**6, epsilon="0.5", delta="1e-6", beta="0.1")
    ln = math.log(10**4)
    assert bounds["Laplace"].error == pytest.approx(10**4 * (ln + math.log(10)) / 0.5)
    assert bounds["BLR, closed form"].error == pytest.approx(10**6 * blr_textbook(10**4, 2**10, 10**6, 0.5, 0.1))
    assert bounds["BLR, best m"].error == pytest.approx(10**6 * blr_accuracy(10**4, 2**10, 10**6, 0.5, 0.1).share + 1)
    assert bounds["DRV (boosting)"].error == pytest.approx(ln**1.5 * 1000 / 0.5)
    assert bounds["HR (PMW)"].error == pytest.approx(ln * 1000 / 0.5)
    assert bounds["DNRRV"].error == pytest.approx(2 ** math.sqrt(math.log2(10**4)) * 2000)
    for row in bounds.rows:
        assert row.share == pytest.approx(row.error / 10**6)
        assert row.kind == ("rate" if row.algorithm.split(" (")[0] in ("DNRRV", "DRV", "HR") else "proved")
    assert [row.year for row in bounds.rows] == sorted(row.year for row in bounds.rows)


def test_how_they_grow() -> None:
    """Ten thousand times the records: BLR and pure MWEM grow like n^⅔, the others like √n; Laplace not at all."""
    few, many = (error_bounds(queries=10**9, domain=2**40, records=n, epsilon=1) for n in (10**9, 10**13))

    def power(name: str) -> float:
        return math.log(many[name].error / few[name].error) / math.log(10**4)

    assert power("Laplace") == 0
    assert power("BLR, closed form") == pytest.approx(2 / 3)
    assert power("BLR, best m") == pytest.approx(2 / 3, abs=0.03)
    assert power("HLM (MWEM)") == pytest.approx(2 / 3, abs=0.04)
    assert power("HLM, Gaussian noise") == pytest.approx(1 / 2, abs=0.04)
    for name in ("DNRRV", "DRV (boosting)", "HR (PMW)"):
        assert power(name) == pytest.approx(1 / 2)


def test_what_dnrrv_is_worth() -> None:
    """Parts are better than plain Gaussian noise only for very many queries, and there MWEM's proved bound is far below."""
    for queries, domain, n, parts in [(10**3, 16, 10**5, 0), (10**6, 2**16, 10**6, 0), (10**9, 8, 20_000, 1), (10**12, 16, 10**5, 2)]:
        shape = Nested(size=queries, domain=domain, rows=1, epsilon=1, delta="1e-9", records=n)
        plain = shape.measuring.error(1 - shape.beta / 2, queries)
        found = shape.best(n, 2**30)
        assert len(found.sizes) == parts
        assert dnrrv(queries, domain, n, 1, "1e-9", "0.05") == found.top_level(0.95, n).answers
        assert (dnrrv(queries, domain, n, 1, "1e-9", "0.05") < plain) == (parts > 0)
        if parts:
            assert mwem_gaussian(queries, domain, n, 1.0, 1e-9, 0.05).error < found.top_level(0.95, n).answers / 10


@pytest.mark.parametrize("domain", [4, 2**10, 2**20])
@pytest.mark.parametrize("records", [10**5, 10**8, 10**10])
def test_where_parts_pay_something_else_is_better(domain: int, records: int) -> None:
    """The statement of `DNRRV` about itself, on a grid: at ε = 1 it never has the least proved error by its parts."""
    for queries in (10**6, 10**8, 10**11, 10**13):
        found = Nested(size=queries, domain=domain, rows=1, epsilon=1, delta="1e-9", records=records).best(records, 2**30)
        assert not found.sizes or queries > 10**6
        others = [
            mwem_gaussian(queries, domain, records, 1.0, 1e-9, 0.05).error,
            records * blr_accuracy(queries, domain, records, 1, 0.05).share + 1,
        ]
        assert not found.sizes or min(others) < found.top_level(0.95, records).answers


def test_the_best_round_is_best_and_true() -> None:
    found = mwem(10**3, 2**10, 10**6, 1.0, 0.05)

    def error(t: int) -> float:
        noise = 4 * t * math.log(2 * t * 10**3 / 0.05) + 2 * t * math.log(2 * t / 0.05)
        return 2 * 10**6 * math.sqrt(math.log(2**10) / t) + noise

    assert found.error == pytest.approx(error(found.rounds))
    assert found.error <= 1.001 * min(map(error, range(1, 5 * found.rounds)))


def test_the_price_of_gaussian_rounds() -> None:
    """T choices and T Gaussian answers, as the theorem sets them, cost at most (ε, δ) by our own accounting."""
    epsilon, delta = 1.0, 1e-6
    rounds = mwem_gaussian(10**3, 2**10, 10**6, epsilon, delta, 0.05).rounds
    rho = (math.sqrt(math.log(1 / delta) + epsilon) - math.sqrt(math.log(1 / delta))) ** 2
    loss = rounds * BoundedRange(round(2 * math.sqrt(rho / rounds), 12)) + rounds * GaussianLoss(round(rho / rounds, 15))
    assert loss.rho is not None
    assert float(loss.rho) <= rho * (1 + 1e-6)
    assert loss.epsilon_at(delta) <= epsilon


def test_mwem_keeps_its_promise() -> None:
    """MWEM as the proof has it, simulated: thirty runs, none beyond the bound that may fail 1 in 20 times; and the divergence falls."""
    generator = np.random.default_rng(8)
    n, size, count, epsilon, beta, T = 10**6, 16, 40, 1.0, 0.05, 10
    queries = generator.integers(0, 2, (count, size))
    data = generator.multinomial(n, generator.dirichlet(np.ones(size) / 3)).astype(float)
    bound = 2 * n * math.sqrt(math.log(size) / T) + T * (4 * math.log(2 * T * count / beta) + 2 * math.log(2 * T / beta)) / epsilon
    for _ in range(30):
        model, mean = np.full(size, n / size), np.zeros(size)
        for _ in range(T):
            mean += model / T
            gaps = abs(queries @ (data - model))
            weights = np.exp((gaps - gaps.max()) * epsilon / (4 * T))
            q = queries[generator.choice(count, p=weights / weights.sum())]
            a, noise = q @ (data - model), generator.laplace(scale=2 * T / epsilon)
            new = model * np.exp(q * (a + noise) / (2 * n))
            new *= n / new.sum()
            fallen = (data / n) @ np.log(new / model)
            assert fallen >= (a**2 - noise**2) / (4 * n**2) - 1e-12
            model = new
        assert abs(queries @ (data - mean)).max() <= bound


def test_the_table() -> None:
    bounds = error_bounds(queries=10**6, domain=2**16, records=10**6, epsilon=1)
    text = repr(bounds).splitlines()
    assert text[0] == "10⁶ queries, 65,536 values, 10⁶ records, ε = 1, δ = 1e-09, β = 0.05"
    assert len(text) == 5 + len(bounds.rows) + 1
    assert "says nothing" in next(line for line in text if line.startswith("Laplace"))
    assert all(line == line.rstrip() for line in text)
    page = bounds._repr_html_()
    assert page.count("<tr>") == 1 + len(bounds.rows)
    assert "C(|D|+m−1, m)" in page
    assert "<td>rate</td>" in page


def test_where_a_bound_does_not_apply() -> None:
    assert not error_bounds(queries=3, domain=2, records=10**6, epsilon=1)["BLR, closed form"].applies
    assert not error_bounds(queries=100, domain=100, records=10, epsilon=1)["BLR, closed form"].applies
    assert error_bounds(queries=100, domain=100, records=10**6, epsilon=1)["BLR, closed form"].applies
    assert error_bounds(queries=1, domain=1, records=1, epsilon=1).rows
    with pytest.raises(Invalid, match="use one of Laplace, BLR"):
        error_bounds(queries=1, domain=1, records=1, epsilon=1)["RSA"]


@pytest.mark.parametrize(
    "wrong", [{"queries": 0}, {"domain": 0}, {"records": -1}, {"epsilon": 0}, {"delta": 0}, {"delta": 1}, {"beta": 0}, {"beta": 2}]
)
def test_wrong_numbers(wrong: dict[str, int]) -> None:
    with pytest.raises(Invalid, match=next(iter(wrong))):
        error_bounds(**{"queries": 10, "domain": 10, "records": 10, "epsilon": 1, **wrong})  # type: ignore[arg-type]
