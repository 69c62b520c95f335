"""How printed tables are laid out."""

from __future__ import annotations

from itertools import product
from typing import Any

from discreet.plots.table import Series
from discreet.session.publishing.arranged import CrossTable, Levels, arranged


def table(names: str, rows: list[tuple[Any, ...]]) -> list[Series]:
    """Keys by letter; ... is a sum over a key."""
    columns = list(zip(*rows, strict=True))
    keys = [
        Series(name, ["Total" if value is ... else value for value in values], is_key=True, summed=[value is ... for value in values])
        for name, values in zip(names, columns, strict=True)
    ]
    return [*keys, Series("n", list(range(len(rows))))]


def test_a_cube_of_two_keys() -> None:
    rows = list(product(["x", "y", "z", ...], [1, None, ...]))
    found = arranged(table("ab", rows), range(len(rows)))
    assert isinstance(found, CrossTable)
    assert found.names == ("b", ("a",))
    assert (found.across, found.down) == (("1", "–", "Total"), (("x",), ("y",), ("z",), ("Total",)))
    assert found.rows == ((0, 1, 2), (3, 4, 5), (6, 7, 8), (9, 10, 11))
    assert found.is_total == ((False, False, True), (False, False, False, True))


def test_a_value_that_is_called_total_is_none() -> None:
    rows = list(product(["Total", "y", ...], ["p", "q", ...]))
    found = arranged(table("ab", rows), range(len(rows)))
    assert isinstance(found, CrossTable)
    assert found.down == (("Total",), ("y",), ("Total",))
    assert found.is_total[1] == (False, False, True)


def test_a_cube_of_three_keys() -> None:
    rows = list(product([..., "f", "m"], ["p", "q", "r", ...], ["x", "y", "z", ...]))
    found = arranged(table("abc", rows), range(len(rows)))
    assert isinstance(found, CrossTable)
    assert found.names == ("a", ("b", "c"))
    assert found.across == ("f", "m", "Total")
    assert found.down[-1] == ("Total", "Total")
    assert found.rows[-1] == (31, 47, 15)


def test_a_hierarchy_has_levels() -> None:
    rows = [("s", "b"), ("n", "a"), ("s", "c"), ("n", "d"), ("n", ...), ("s", ...), (..., ...)]
    found = arranged(table("rc", rows), range(len(rows)))
    assert found == Levels(("r", "c"), ((6, 0, "Total"), (5, 1, "s"), (0, 2, "b"), (2, 2, "c"), (4, 1, "n"), (1, 2, "a"), (3, 2, "d")))


def test_other_tables_are_lists() -> None:
    cube = list(product(["x", "y", ...], ["p", "q", ...]))
    assert arranged(table("ab", cube), range(9), ordered=True) is None, "an order was asked for"
    assert arranged(table("ab", list(product("xy", "pq"))), range(4)) is None, "no totals"
    assert arranged(table("ab", cube * 2), range(18)) is None, "rows twice"
    wide = list(product([*range(20), ...], [*range(20), ...]))
    assert arranged(table("ab", wide), range(len(wide))) is None
    assert arranged([Series("n", [])], range(0)) is None


def test_levels_have_the_rows_that_are_printed() -> None:
    rows: list[tuple[Any, ...]] = [(region, city) for region in range(20) for city in (1, 2, ...)]
    found = arranged(table("ab", [*rows, (..., ...)]), range(7))
    assert isinstance(found, Levels)
    assert sorted(row for row, _, _ in found.rows) == list(range(7))
