"""Second moments: the sensitivity on whole grids, the noise's weights, the norm of the noise, and what is computed from it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mechanisms.shake import Shake

from discreet.errors import Invalid
from discreet.mechanisms import covariance
from discreet.mechanisms.covariance import Covariance, positive_semidefinite, vectors_on_grid
from discreet.private import Private

SURE = 1 - Fraction(1, 10**9)


# ── privacy ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def vectors(dimension: int, length: int) -> Iterator[tuple[int, ...]]:
    """All whole vectors of at most this length."""
    for vector in itertools.product(range(-length, length + 1), repeat=dimension):
        if sum(x * x for x in vector) <= length**2:
            yield vector


def spent(dimension: int, levels: int, replaced: bool, centred: bool, off: Fraction) -> Fraction:
    """The largest Σ (change/scale)² over all neighbours on a small grid, for noise of variance 1 on the diagonal and `off` elsewhere."""
    grid = [(*v, levels) if centred else v for v in vectors(dimension, levels)]
    products = [np.outer(v, v) for v in grid]
    pairs = itertools.combinations(products, 2) if replaced else ((one, np.zeros_like(one)) for one in products)
    worst = Fraction(0)
    for one, other in pairs:
        change = one - other
        diagonal = int((np.diag(change) ** 2).sum())
        above = int((np.triu(change, 1) ** 2).sum())
        worst = max(worst, diagonal + above / off)
    return worst


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize(("dimension", "levels"), [(1, 5), (2, 4), (3, 2)])
def test_the_sensitivity_is_exact_on_small_grids(
    monkeypatch: pytest.MonkeyPatch, dimension: int, levels: int, replaced: bool, centred: bool
) -> None:
    """Every vector of the grid, every replacement: what is charged is never less, and in some cases exactly what is spent."""
    monkeypatch.setattr(covariance, "_LEVELS", levels)
    charged = covariance._squared(replaced, centred)
    found = spent(dimension, levels, replaced, centred, Fraction(1, 2))
    assert found <= charged
    if dimension > 1 and not centred:
        assert found == charged


def test_wrong_variants_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(covariance, "_LEVELS", 5)  # where (3, 4) is as long as is allowed
    # replacing a unit at the price of adding one
    assert spent(2, 5, True, False, Fraction(1, 2)) > covariance._squared(False, False)
    # what is off the diagonal counted once though it is there twice: its noise divided by 2, not by √2
    assert spent(2, 5, False, False, Fraction(1, 4)) > covariance._squared(False, False)
    # the constant forgotten
    assert spent(2, 5, False, True, Fraction(1, 2)) > covariance._squared(False, False)


def test_noise_off_the_diagonal_has_half_the_variance() -> None:
    """2,000 draws with fixed coins, on nothing: variances σ² and σ²/2, each within five standard errors (√(2/2000) each)."""
    mechanism = Covariance(dimension=2, norm=1, rho=1, centred=False)
    draws = np.array([mechanism.sample([], Shake(i)).second for i in range(2000)]) * covariance._LEVELS**2 / float(mechanism.gaussian.scale)
    assert (draws == draws.transpose(0, 2, 1)).all()
    assert draws[:, 0, 0].var() == pytest.approx(1, abs=0.16)
    assert draws[:, 1, 1].var() == pytest.approx(1, abs=0.16)
    assert draws[:, 0, 1].var() == pytest.approx(0.5, abs=0.08)
    assert abs(np.corrcoef(draws[:, 0, 0], draws[:, 0, 1])[0, 1]) < 0.12


@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
@pytest.mark.parametrize("centred", [False, True])
def test_the_price(adjacency: Any, centred: bool) -> None:
    said: dict[str, Any] = {"dimension": 3, "norm": 2, "adjacency": adjacency, "centred": centred}
    assert Covariance(rho="1/2", **said).loss.rho == pytest.approx(0.5, rel=1e-9)
    assert Covariance(rho="1/2", **said).loss.rho <= Fraction(1, 2)  # type: ignore[operator]
    assert Covariance(epsilon=1, delta="1e-6", **said).loss.epsilon_at("1e-6") == pytest.approx(1, rel=1e-6)
    assert Covariance(rho="1/2", **said).loss_at(2).rho == pytest.approx(2, rel=1e-9)
    found = Covariance(dimension=3, search="1/10", rho="1/2", adjacency=adjacency, centred=centred)
    assert found.loss.rho == pytest.approx(0.5 + 0.1**2 / 2, rel=0.01)


STRANGE: list[Any] = [
    [0.0, 0.0], [1.0, 0.0], [0.6, 0.8], [-0.8, 0.6], [1e300, -1e300], [1e308, 1e-308], [5e-324, 0.0], [math.nan, 1.0], [math.inf, 1.0],
    [-math.inf, math.inf], [1 / 3, 2 / 3], [math.sqrt(0.5), math.sqrt(0.5)], [0.99999, 0.0044], [1e-9, 1.0], [123.4, 567.8],
]  # fmt: skip


def test_vectors_are_never_longer_than_the_norm_and_read_one_by_one() -> None:
    coin = np.random.default_rng(3)
    angles = coin.uniform(0, 2 * math.pi, 20_000)
    around = np.stack([np.cos(angles), np.sin(angles)], axis=1) * coin.uniform(0.99999, 1.00001, 20_000)[:, None]
    rows = np.concatenate([covariance._rows(STRANGE, 2), around])
    for norm in (1.0, 2.0**-200, 0.1, 1e9):
        found = vectors_on_grid(rows, norm)
        assert (found == np.rint(found)).all()
        assert max(int(a) ** 2 + int(b) ** 2 for a, b in found.tolist()) <= covariance._LEVELS**2
        for place in range(len(STRANGE)):
            assert (vectors_on_grid(rows[place : place + 1], norm)[0] == found[place]).all()
    near = vectors_on_grid(around, 1.0) / covariance._LEVELS
    assert np.abs(near - around).max() < 3e-5  # the direction stays


FORMS: dict[str, Any] = {
    "rows in memory": np.ascontiguousarray,
    "columns in memory": np.asfortranarray,
    "reversed in memory": lambda rows: rows[:, ::-1].copy()[:, ::-1],
    "every other": lambda rows: np.repeat(rows, 2, axis=1)[:, ::2],
    "objects": lambda rows: rows.astype(object),
    "long floats": lambda rows: rows.astype(np.longdouble),
    "complex": lambda rows: rows.astype(complex),
    "complex objects": lambda rows: rows.astype(complex).astype(object),
    "masked": np.ma.masked_array,
    "lists": lambda rows: rows.tolist(),
    "a list of arrays": list,
}


def differ(rows: Any, read: Any, squares: Any = None) -> set[str]:
    """The forms in which some row, alone or with others, comes to other numbers: lengths, or places on the grid."""
    dimension, wrong = rows.shape[1], set()

    def numbers(given: Any) -> Any:
        found = read(given, dimension)
        return np.concatenate([covariance._lengths(found)[:, None], vectors_on_grid(found, 1.0)], axis=1)

    with pytest.MonkeyPatch.context() as patch:
        if squares is not None:
            patch.setattr(covariance, "_squares", squares)
        usual = numbers(rows)
        for name, form in FORMS.items():
            if (numbers(form(rows)) != usual).any():
                wrong.add(name)
            if any((numbers(form(rows[i : i + 1]))[0] != usual[i]).any() for i in range(40)):
                wrong.add(f"{name}, alone")
    return wrong


@pytest.mark.parametrize("dimension", [1, 7, 8, 16, 130])
def test_a_row_is_the_same_in_every_form_alone_and_with_others(dimension: int) -> None:
    rows = np.random.default_rng(12).normal(0, 1, (400, dimension))
    rows[::2] /= np.linalg.norm(rows[::2], axis=1, keepdims=True)  # of length 1, but for rounding: there it matters
    assert differ(rows, covariance._rows) == set()


def test_sums_in_the_order_of_memory_are_caught() -> None:
    rows = np.random.default_rng(12).normal(0, 1, (400, 16))

    def as_they_lie(given: Any, dimension: int) -> Any:
        return given if type(given) is np.ndarray and given.dtype == np.float64 else covariance._rows(given, dimension)

    plain = differ(rows, as_they_lie, lambda found: (found**2).sum(axis=1))
    assert "columns in memory" in plain
    assert differ(rows, as_they_lie) == set()  # with the columns' order it does not matter how they lie


def test_one_record_does_not_change_how_the_others_are_read() -> None:
    """A text, a number too long, a day, a gap: whatever one record makes of the table's type, only that record is read in another way."""
    pandas = pytest.importorskip("pandas")
    rows = np.random.default_rng(13).normal(0, 1, (50, 16)).tolist()

    def numbers(records: list[list[Any]]) -> Any:
        frame = pandas.DataFrame({f"c{i}": [record[i] for record in records] for i in range(16)})  # in columns, as tables come
        found = covariance._rows(frame, 16)
        return np.concatenate([covariance._lengths(found)[:, None], vectors_on_grid(found, 1.0)], axis=1)

    usual = numbers(rows)
    for odd in ("n/a", 10**400, None, 1j, pandas.Timestamp("2020-01-01"), True, Fraction(1, 3)):
        changed = [*rows[:-1], [odd, *rows[-1][1:]]]
        assert (numbers(changed)[:-1] == usual[:-1]).all()


@pytest.mark.filterwarnings("error")
def test_no_record_warns_or_raises_even_where_numpy_was_told_to() -> None:
    long = np.array([["1e4000", "-1e4000"], ["1e-4000", "nan"], ["1e-310", "1e-310"], ["inf", "0.5"]]).astype(np.longdouble)
    with np.errstate(all="raise"):
        found = covariance._rows(long, 2)
        assert (found == covariance._rows(long.astype(object), 2)).all()
        assert found[0].tolist() == [covariance._FURTHEST, -covariance._FURTHEST]
        for rows in (long, long.astype(object), list(long), np.array([[1e308, 5e-324], [1e-300, 1e-308]])):
            for norm in ({"norm": 1}, {"search": 1}):
                Covariance(dimension=2, rho=1, **norm).sample(rows, Shake(0, limit=1 << 20))


def test_sums_are_exact() -> None:
    coin = np.random.default_rng(5)
    rows = coin.normal(0, 1, (3000, 4))
    mechanism = Covariance(dimension=4, norm=3, rho=1)
    grid = [[int(x) for x in row] + [covariance._LEVELS] for row in vectors_on_grid(rows, 3.0).tolist()]
    exactly = [[sum(row[i] * row[j] for row in grid) for j in range(5)] for i in range(5)]
    assert mechanism.sums(rows, 3.0).tolist() == exactly


def test_more_rows_than_one_block_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(6).normal(0, 1, (1000, 3))
    mechanism = Covariance(dimension=3, norm=3, rho=1)
    whole = mechanism.sums(rows, 3.0)
    monkeypatch.setattr(covariance, "_ROWS", 7)
    assert (mechanism.sums(rows, 3.0) == whole).all()


# ── accuracy ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("dimension", [1, 2, 10, 60])
def test_the_norm_of_the_noise(dimension: int) -> None:
    """At 1 − 10⁻⁹ it holds every time; at ½ it is not far above what is seen."""
    mechanism = Covariance(dimension=dimension, norm=2, rho="1/8", centred=False)
    rows = np.random.default_rng(8).normal(0, 0.1, (50, dimension))
    exactly = mechanism.sums(rows, 2.0) * (2 / covariance._LEVELS) ** 2
    seen = [np.abs(np.linalg.eigvalsh(mechanism.release(Private(rows)).second - exactly)).max() for _ in range(20)]
    assert max(seen) <= mechanism.error(SURE) * 4
    if dimension >= 10:
        assert mechanism.error(0.5) * 4 < 2 * np.median(seen)


def test_the_grid_moves_sums_as_little_as_is_said() -> None:
    rows = np.random.default_rng(9).normal(0, 0.2, (500, 6))
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)
    mechanism = Covariance(dimension=6, norm=1, rho=1, centred=False)
    moved = mechanism.sums(rows, 1.0) / covariance._LEVELS**2 - rows.T @ rows
    assert np.abs(np.linalg.eigvalsh(moved)).max() <= 500 * math.sqrt(6) / covariance._LEVELS


@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
@pytest.mark.parametrize("found", [False, True])
def test_mean_and_covariance(adjacency: Any, found: bool) -> None:
    """50,000 vectors: every entry of mean and covariance is within ten standard deviations of what the noise of its sums does to it."""
    coin = np.random.default_rng(10)
    truth = np.array([[1.0, 0.6, 0.0], [0.6, 1.0, 0.2], [0.0, 0.2, 0.5]])
    rows = coin.multivariate_normal([2.0, -1.0, 0.0], truth, 50_000)
    norm: dict[str, Any] = {"search": 1} if found else {"norm": 8}
    moments = Covariance(dimension=3, rho=1, adjacency=adjacency, **norm).release(Private(rows))
    assert moments.norm >= 8  # 2,500 vectors are longer than 4, and none is longer than 8
    sigma = 2 * moments.norm**2 / 50_000  # ρ = 1 and Δ = 2√2·norm², or less
    assert moments.mean == pytest.approx(rows.mean(0), abs=10 * sigma / moments.norm + 1e-3)
    assert moments.covariance == pytest.approx(np.cov(rows.T), abs=15 * sigma + 5e-3)
    assert moments.count == pytest.approx(50_000, abs=50)
    assert np.linalg.eigvalsh(moments.covariance).min() > -1e-9
    assert repr(moments).startswith("Moments(about ")


def test_positive_is_the_nearest() -> None:
    coin = np.random.default_rng(11)
    for _ in range(20):
        half = coin.normal(size=(4, 4))
        truth, noise = half @ half.T, coin.normal(size=(4, 4))
        noisy = truth + noise + noise.T
        mended = positive_semidefinite(noisy)
        assert np.linalg.eigvalsh(mended).min() > -1e-9
        assert np.linalg.norm(mended - truth) <= np.linalg.norm(noisy - truth) + 1e-9
        assert np.linalg.norm(mended - truth, 2) <= 2 * np.linalg.norm(noisy - truth, 2) + 1e-9
    assert positive_semidefinite(np.eye(2)) == pytest.approx(np.eye(2))


# ── totality and slips ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "rows",
    [
        [],
        STRANGE,
        [[1]],
        [[1, 2, 3]],
        [None, "ab", 7],
        np.zeros((0, 2)),
        np.full((3, 2), np.nan),
        np.zeros((4, 3)),
        [["a", None]],
        np.zeros((3, 2), "M8[ns]"),
    ],
)
def test_private_vectors_are_total(rows: Any) -> None:
    for norm in ({"norm": 1}, {"search": 1}):
        moments = Covariance(dimension=2, rho=1, **norm).sample(rows, Shake(0, limit=1 << 20))
        assert np.isfinite(moments.second).all()
        assert np.isfinite(moments.covariance).all()


def test_slips() -> None:
    mechanism = Covariance(dimension=2, norm=1, rho=1)
    for rows in ([[1, 2, 3]], [1, 2], [[math.nan, 0]], [["a", "b"]], [[1, 2], [3]]):
        with pytest.raises(Invalid):
            mechanism.release(rows)
    with pytest.raises(Invalid, match="centred"):
        _ = Covariance(dimension=2, norm=1, rho=1, centred=False).release([[0, 1]]).mean


@pytest.mark.parametrize(
    "wrong",
    [{"dimension": 0}, {"norm": 0}, {"norm": None}, {"search": 1}, {"rho": None}, {"adjacency": "x"}, {"centred": 1}, {"epsilon": 1}],
)
def test_wrong_parameters(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        Covariance(**({"dimension": 2, "norm": 1, "rho": 1} | wrong))
