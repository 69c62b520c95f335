"""Running totals by matrix factorisation: the rounding of the buffers, fresh noise for each step, the error."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mechanisms.streams.columns import coefficients, square, through
from scripted import Seeded

from discreet.errors import Invalid
from discreet.mechanisms.streams.toeplitz import Toeplitz, ToeplitzRun, measurement_sensitivity
from discreet.mechanisms.streams.toeplitz_factor import UNIT, ToeplitzFactor
from discreet.private import Private


def exactly_measured(mechanism: Toeplitz, x: list[int]) -> list[Fraction]:
    """What is rounded to the grid, before the noise."""
    return [Fraction(one, 2 ** (128 + UNIT)) for one in ToeplitzRun(mechanism, (), Seeded(0))._through(x)]


def test_rounded_buffers_move_no_further_than_is_said() -> None:
    """Streams of neighbours, exactly: the true difference, and the one of buffers that are rounded down."""
    choose, size, k = np.random.default_rng(7), 40, 3
    mechanism, c = Toeplitz(rho=1, horizon=size, sensitivity=9, contributions=k), coefficients(ToeplitzFactor.best(size, k))
    rounded = False
    for trial in range(30):
        x = choose.integers(-(10**9), 10**9, size).tolist()
        y = list(x)
        for step in (0, 1, 2) if trial == 0 else choose.choice(size, k, replace=False).tolist():
            y[step] += 9 if trial == 0 else int(choose.integers(-9, 10))
        a, b = exactly_measured(mechanism, x), exactly_measured(mechanism, y)
        for got, truth in zip(a, through(c, x), strict=True):
            assert 0 <= truth - got < Fraction(size, 2**128)
            rounded |= truth != got
        moved = square([one - other for one, other in zip(a, b, strict=True)])
        assert moved <= measurement_sensitivity(size, Fraction(9), k) ** 2
        if trial == 0:
            assert moved > measurement_sensitivity(size, Fraction(9), k) ** 2 * (1 - Fraction(1, 2**60))
    assert rounded  # or the slack would not have been tried


@pytest.mark.parametrize(("size", "k"), [(1, 1), (40, 3), (365, 1), (10**6, 100)])
def test_the_rounding_of_the_buffers_is_paid_for(size: int, k: int) -> None:
    """T·√T·2⁻¹²⁸ in length, beyond what the columns move; also where units are exchanged, which makes √2 of the columns."""
    columns = 9 * ToeplitzFactor.best(size, k).sensitivity(k)
    allowed = measurement_sensitivity(size, Fraction(9), k) - columns
    assert allowed**2 >= Fraction(size**3, 2**256)
    assert allowed <= Fraction(2 * size**2, 2**128)
    exchanged = measurement_sensitivity(size, Fraction(9), k, exchanged=True) - allowed
    assert 2 * columns**2 <= exchanged**2 < 2 * columns**2 * (1 + Fraction(1, 2**50))


def test_exchanged_units_move_by_what_is_said() -> None:
    """All pairs of units that add 0 or 1 in at most two of four steps: the square is at most twice that of one; one alone would not do."""
    size, k = 4, 2
    c = coefficients(ToeplitzFactor.best(size, k))
    units = [v for v in itertools.product((0, 1), repeat=size) if sum(v) <= k]
    longest = max(square(through(c, [a - b for a, b in zip(v, w, strict=True)])) for v in units for w in units)
    assert ToeplitzFactor.best(size, k).sensitivity(k) ** 2 < longest <= measurement_sensitivity(size, Fraction(1), k, exchanged=True) ** 2
    one, two = (Toeplitz(rho=1, horizon=size, contributions=k, exchanged=each) for each in (False, True))
    assert float(two.scale / one.scale) == pytest.approx(math.sqrt(2))
    assert one.loss.rho == pytest.approx(1)
    assert two.loss.rho == pytest.approx(1)


def rounded_apart(sensitivity: Fraction) -> bool:
    """Whether private reals that are no further apart than this may move a measurement further, in any pair of hundredths."""
    mechanism = Toeplitz(rho=1, horizon=1)
    near = [Fraction(i, 100) for i in range(-250, 251)]

    def held(x: Fraction) -> int:
        run = mechanism.open()
        run.add(Private(x))
        return run._private[-1]

    kept = {x: Fraction(held(x), 2**128) for x in near}
    return any(abs(kept[x] - kept[x + sensitivity]) > sensitivity for x in near if x + sensitivity in kept)


def test_only_whole_sensitivities_hold_for_rounded_reals() -> None:
    assert not rounded_apart(Fraction(1))
    assert not rounded_apart(Fraction(2))
    assert rounded_apart(Fraction(1, 100))
    assert rounded_apart(Fraction(3, 2))


def test_the_noise_is_as_wide_as_is_said() -> None:
    for rho in ("1e-10", "1/2", "1e10"):
        mechanism = Toeplitz(rho=rho, horizon=30, contributions=4)
        assert mechanism.open()._law.scale * Fraction(2) ** mechanism.grid == mechanism.scale


def test_the_noise_is_drawn_around_the_exact_number() -> None:
    class Recorded:
        def around(self, near: Any, offset: Any, bits: Any) -> Any:
            self.offsets = [offset(i) for i in range(len(near))]
            assert all(abs(Fraction(float(one)) - exactly) <= Fraction(1, 2**52) for one, exactly in zip(near, self.offsets, strict=True))
            return np.zeros(len(near), np.int64)

        def draw(self, near: float, exactly: Any, bits: Any) -> int:
            assert abs(Fraction(near) - exactly()) <= Fraction(1, 2**52)
            self.offsets = [exactly()]
            return 0

    x = [5, -7, 1000, 3, -(10**15)]
    for rho in ("1e-30", "1/2", "1e30", "1e100"):
        mechanism = Toeplitz(rho=rho, horizon=9)
        run = ToeplitzRun(mechanism, (), Seeded(0))
        run._law = Recorded()  # type: ignore[assignment]
        run.add_many(x)
        for told, offset, truth in zip(run.measured, run._law.offsets, exactly_measured(mechanism, x), strict=True):
            assert (told + offset) * Fraction(2) ** mechanism.grid == truth
        run.add(Private(8))
        assert (run.measured[0] + run._law.offsets[0]) * Fraction(2) ** mechanism.grid == exactly_measured(mechanism, [*x, 8])[-1]


def noise_is_fresh(run: type[ToeplitzRun]) -> bool:
    """Whether the measurements of a stream of zeros are independent and as wide as is said, at fixed coins: every step and every pair."""
    mechanism, bits, seen = Toeplitz(rho="1/2", horizon=12), Seeded(17), []
    for trial in range(4000):
        one = run(mechanism, (), bits)
        if trial % 2:
            one.add_many(Private([0] * 12))
            seen.append(one.measured)
        else:
            seen.append([(one.add(Private(0)), one.measured[0])[1] for _ in range(12)])
    scaled = np.array(seen, float) * 2.0**mechanism.grid / float(mechanism.scale)
    return bool(abs(np.cov(scaled.T) - np.eye(12)).max() < 0.12)  # five deviations and a half of a variance's estimate


def test_every_measurement_has_fresh_noise() -> None:
    assert noise_is_fresh(ToeplitzRun)


@pytest.mark.parametrize("broken", ["left out", "used twice", "halved"])
def test_noise_that_is_not_fresh_is_seen(broken: str) -> None:
    class Broken(ToeplitzRun):  # type: ignore[misc]
        def _noised(self, exactly: list[int]) -> list[int]:
            told = super()._noised(exactly)
            if broken == "halved":
                return [one // 2 for one in told]
            before = getattr(self, "before", 0)
            out = []
            for i, one in enumerate(told, self.steps):
                out.append((0 if broken == "left out" else before) if i % 4 == 3 else one)
                before = self.before = one
            return out

    assert not noise_is_fresh(Broken)


@pytest.mark.parametrize(("horizon", "k"), [(1, 1), (8, 3), (365, 40), (2**20, 1)])
def test_the_loss_is_what_the_measurements_cost(horizon: int, k: int) -> None:
    mechanism = Toeplitz(rho="1/8", horizon=horizon, sensitivity=4, contributions=k)
    assert mechanism.loss.rho is not None
    assert Fraction(1, 8) * (1 - Fraction(1, 2**30)) < mechanism.loss.rho <= Fraction(1, 8)
    assert mechanism.loss_at(3).rho == 9 * mechanism.loss.rho
    assert 0.999 < Toeplitz(epsilon=1, delta="1e-6", horizon=horizon, contributions=k).loss.epsilon_at(1e-6) <= 1


def test_the_error_holds_and_is_not_far_off() -> None:
    """1500 runs at fixed coins: a true miss of 10 % would be seen as more than 14.7 % once in 10⁹ choices of coins."""
    mechanism, bits = Toeplitz(rho="1/2", horizon=100), Seeded(11)
    errors = np.array([mechanism.sample([0] * 100, bits) for _ in range(1500)])
    assert (abs(errors).max(axis=1) > mechanism.error(0.9, size=100)).mean() < 0.147
    assert (abs(errors).max(axis=1) > mechanism.error(0.9, size=100) / 2).mean() > 0.147
    assert (abs(errors[:, -1]) > mechanism.error(0.9)).mean() == pytest.approx(0.1, abs=0.047)
    assert errors[:, -1].std() == pytest.approx(mechanism.deviation, rel=0.11)
    week = errors[:, 7:] - errors[:, :-7]
    assert week[:, -1].std() == pytest.approx(float(mechanism.scale) * mechanism.factor.row_of_window(7), rel=0.11)
    assert (abs(week).max(axis=1) > mechanism.error(0.9, size=93, window=7)).mean() < 0.147


def test_totals_are_right_when_the_noise_is_small() -> None:
    values = [3, -1, 4, 10**6, -5, 9] * 50
    run = Toeplitz(rho=10**14, horizon=300).open(windows=(7,))
    one_by_one = [run.add(value) for value in values]
    assert one_by_one == pytest.approx(list(itertools.accumulate(values)), abs=1e-3)
    assert run.window(7) == pytest.approx(sum(values[-7:]), abs=1e-3)
    assert Toeplitz(rho=10**14, horizon=300).release(np.array(values)) == pytest.approx(one_by_one, abs=1e-3)


def test_memory_is_logarithmic() -> None:
    kept = {}
    for power in (4, 10, 20, 40):
        run = Toeplitz(rho=1, horizon=2**power).open()
        run.add_many(Private([1, 2, 3]))
        kept[power] = run.numbers_kept
    assert kept[20] == 19
    assert kept[40] <= 2 * kept[20]
    assert kept[4] < kept[10] < kept[20]


def test_a_run_is_taken_up_where_it_was_left() -> None:
    mechanism, values = Toeplitz(rho=1, horizon=50), list(range(50))
    first = ToeplitzRun(mechanism, (7,), Seeded(1))
    told = first.add_many(values[:23])
    again = ToeplitzRun(mechanism, (7,), Seeded(2))
    assert again.follow(Private(values[:23]), first.measured) == told
    assert again.window(7) == first.window(7)
    first._bits, again._bits = Seeded(3), Seeded(3)
    assert again.add_many(values[23:]) == first.add_many(values[23:])


def test_it_halts_at_its_horizon() -> None:
    run = Toeplitz(rho=1, horizon=2).open()
    run.add_many(Private([1, 1]))
    with pytest.raises(Invalid, match="open a new run"):
        run.add(Private(1))


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, None, 10**400, 1.5, 2**80, "x", {}])
def test_private_values_are_total(odd: Any) -> None:
    for rho in (1, "1e-40", "1e40"):
        run = Toeplitz(rho=rho, horizon=4).open()
        assert math.isfinite(run.add(Private(odd)))
        assert all(map(math.isfinite, run.add_many(Private([odd, 2, odd]))))


@pytest.mark.parametrize("wrong", [1.5, math.nan, "1", None])
def test_plain_values_are_checked(wrong: Any) -> None:
    with pytest.raises(Invalid):
        Toeplitz(rho=1, horizon=4).open().add(wrong)
    with pytest.raises(Invalid):
        Toeplitz(rho=1, horizon=4).release([1, wrong])


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"epsilon": 1},
        {"epsilon": 1, "rho": 1},
        {"rho": 1, "horizon": 0},
        {"rho": 1, "contributions": 0},
        {"rho": 0},
        {"rho": 1, "sensitivity": "1/100"},
    ],
)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        Toeplitz(**({"horizon": 10} | wrong))
