"""Moments of values that fill little of their bounds: all powers are of the same rounded values, so that they cancel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet

N = 2000
SHAPES: dict[str, Any] = {
    "ages in wide bounds": lambda coin: np.clip(coin.normal(40, 15, N), 0, 1000).round(),
    "skewed, at the lower end": lambda coin: -50 + coin.exponential(3, N),
    "far from the middle": lambda coin: coin.normal(30_000, 8_000, N),
    "very narrow": lambda coin: coin.normal(50, 10, N),
}
BOUNDS = {
    "ages in wide bounds": (0, 1000),
    "skewed, at the lower end": (-50, 150),
    "far from the middle": (0, 10**6),
    "very narrow": (0, 10**6),
}
TEXT = "SELECT STDDEV(x) AS s, SKEWNESS(x) AS g, KURTOSIS(x) AS k, CORR(y, x) AS r, REGR_SLOPE(y, x) AS b FROM t"


def told(shape: str, **limits: Any) -> tuple[discreet.Release, dict[str, float]]:
    coin = np.random.default_rng(5)
    x = SHAPES[shape](coin)
    y = np.clip(x / 5 + coin.normal(0, x.std() / 20, N), *BOUNDS[shape])
    table = pa.table({"id": list(range(N)), "x": x.tolist(), "y": y.tolist()})
    db = discreet.connect(
        {"t": table}, unit="id", epsilon=10**15, bounds={"x": BOUNDS[shape], "y": BOUNDS[shape]}, ledger=":memory:", **limits
    )
    centred = x - x.mean()
    second = (centred**2).mean()
    expected = {
        "s": x.std(ddof=1),
        "g": (centred**3).mean() / second**1.5 * np.sqrt(N * (N - 1)) / (N - 2),
        "k": ((N + 1) * ((centred**4).mean() / second**2 - 3) + 6) * (N - 1) / ((N - 2) * (N - 3)),
        "r": np.corrcoef(x, y)[0, 1],
        "b": np.polyfit(x, y, 1)[0],
    }
    # fresh noise, at a confidence with which no test fails by it
    return db.sql(TEXT).release(epsilon=10**11, delta=0, confidence=0.99999999), expected


def check(release: discreet.Release, expected: dict[str, float], tolerance: float) -> None:
    """Each answer is near the truth, or its interval holds the truth (noise in cubes of wide bounds is wide), or it is NULL."""
    for name, truth in expected.items():
        value, interval = release.rows[0][name], release.intervals[0].get(name)
        near = value is None or value == pytest.approx(truth, rel=tolerance, abs=tolerance)
        assert near or (interval is not None and interval[0] <= truth <= interval[1]), (name, value, interval, truth)


@pytest.mark.parametrize("shape", SHAPES)
def test_one_row_for_each_unit(shape: str) -> None:
    release, expected = told(shape, one_row_per_unit=True)
    check(release, expected, 0.03)
    if shape != "very narrow":
        assert None not in release.rows[0].values()


@pytest.mark.parametrize("limits", [{"rows": 3}, {"groups": 1, "per_group": 2}], ids=str)
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "very narrow"])
def test_with_weights_there_are_fewer_bits(shape: str, limits: dict[str, int]) -> None:
    """Where values lie within a step or two of the grid, ratios of moments are NULL and not invented."""
    release, expected = told(shape, contributions=limits)
    check(release, expected, 0.15)
    assert release.rows[0]["s"] is not None
