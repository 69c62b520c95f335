"""Numbers whose squares are no floats are refused before paying; they failed after it, or while errors were computed."""

from __future__ import annotations

import pyarrow as pa
import pytest

import discreet
from discreet.errors import Refused

HUGE = 10**45
TINY = "SELECT AVG(x / 1e80 / 1e80) AS m FROM t"


@pytest.mark.parametrize(
    ("text", "sample"),
    [
        ("SELECT g, SUM(y * 1e80 * 1e80) AS s FROM t GROUP BY ROLLUP(g)", None),
        ("SELECT SUM(x * x * x * x) AS s FROM t", 0.5),
        ("SELECT AVG(x * x * x * x) AS s FROM t", 0.5),
        ("SELECT g, AVG(x * x * x * x) AS s FROM t GROUP BY g", None),
    ],
)
def test_what_cannot_be_squared_is_refused(text: str, sample: float | None) -> None:
    rows = pa.table({"id": [0, 1, 2, 3], "x": [1.0, 2.0, 3.0, 4.0], "y": [1.0, 2.0, 3.0, 4.0], "g": ["a", "b", "a", "b"]})
    declared = {"bounds": {"t.x": (-HUGE, HUGE), "t.y": (0, 10)}, "keys": {"t.g": ["a", "b"]}, "one_row_per_unit": True}
    with discreet.connect({"t": rows}, unit="id", epsilon=10, ledger=":memory:", **declared) as db:  # type: ignore[arg-type]
        with pytest.raises(Refused, match="too large or too small to be squared"):
            db.sql(text, sample=sample).release(epsilon=1)
        with pytest.raises(Refused, match="too large or too small to be squared"):
            db.batch([text] if sample is None else ["SELECT SUM(x * x * x * x) AS s FROM t"]).plan(epsilon=1)
        assert db.spent.epsilon == 0


@pytest.mark.parametrize("power", [20, 38])
def test_what_is_answered_is_explained_too(power: int) -> None:
    """Large bounds that are not refused have an error, an explanation and an answer."""
    rows = pa.table({"id": [0, 1, 2, 3], "x": [1.0, 2.0, 3.0, 4.0], "g": ["a", "b", "a", "b"]})
    declared = {"bounds": {"t.x": (-(10**power), 10**power)}, "keys": {"t.g": ["a", "b"]}, "one_row_per_unit": True}
    with discreet.connect({"t": rows}, unit="id", epsilon=100, ledger=":memory:", **declared) as db:  # type: ignore[arg-type]
        for text in ("SELECT g, SUM(x * x * x) AS s, AVG(x * x * x) AS m FROM t GROUP BY ROLLUP(g)", "SELECT STDDEV(x) AS s FROM t", TINY):
            asked = db.sql(text)
            assert asked.plan(epsilon=1).error(size=4)
            assert str(asked.plan(epsilon=1).explain())
            assert len(asked.release(epsilon=1)) in (1, 3)
        assert len(db.sql("SELECT SUM(x * x * x) AS s, AVG(x * x * x) AS m FROM t", sample=0.5).release(epsilon=1)) == 1
