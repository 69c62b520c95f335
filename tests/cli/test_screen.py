"""What is printed."""

from __future__ import annotations

import pyarrow as pa

import discreet
from discreet.cli.screen import gauge, table_of


def test_the_gauge_fills_with_what_is_spent() -> None:
    assert str(gauge(0, 1, 10)) == "░" * 10
    assert str(gauge(1, 1, 10)) == "█" * 10
    assert str(gauge(0.5, 1, 10)) == "█████░░░░░"
    assert len(str(gauge(0.123, 1, 10))) == 10
    assert str(gauge(5, 1, 4)) == "█" * 4


def test_the_last_rows_are_shown_too() -> None:
    """The last row may be the grand total."""
    rows = pa.table({"id": range(100), "k": range(100)})
    with discreet.connect({"t": rows}, unit="id", keys={"t.k": list(range(100))}, epsilon=9, ledger=":memory:") as db:
        table = table_of(db.ask("SELECT k, COUNT(DISTINCT id) AS n FROM t GROUP BY k", epsilon=1), most=10)
    assert [str(cell) for cell in table.columns[0].cells] == [*"01234", "… 90 rows are not shown …", *map(str, range(95, 100))]
