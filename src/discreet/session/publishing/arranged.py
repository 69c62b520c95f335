"""How a printed table is laid out: two or three keys across each other with totals at the ends, levels below each other, or a list."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from typing import Any, final

from attrs import frozen

from discreet.plots.table import Series, format_value
from discreet.session.publishing.groups import rows_by_set

MOST_ACROSS = 10  # columns of a cross table, the total included
_FILLED = 0.6  # of the places of a cross table: with fewer it is a list


@final
@frozen
class CrossTable:
    """One key from left to right, the others from top to bottom; a place that was not released has no row."""

    across: tuple[str, ...]
    down: tuple[tuple[str, ...], ...]
    names: tuple[str, tuple[str, ...]]  # of the key across, and of those down
    rows: tuple[tuple[int | None, ...], ...]
    is_total: tuple[tuple[bool, ...], tuple[bool, ...]]  # of each place across, and down


@final
@frozen
class Levels:
    """Rows below the totals that they are part of: each with its depth and its label."""

    names: tuple[str, ...]
    rows: tuple[tuple[int, int, str], ...]


def arranged(series: Sequence[Series], rows: Sequence[int], ordered: bool = False) -> CrossTable | Levels | None:
    """The layout of these rows; None is a list, as they come."""
    keys = [one for one in series if one.is_key]
    if ordered or not rows or not any(key.summed and any(key.summed) for key in keys):
        return None
    return _crossed(keys, rows) or _levels(series, keys, rows)


def _crossed(keys: Sequence[Series], rows: Sequence[int]) -> CrossTable | None:
    if len(keys) not in (2, 3):
        return None
    values = {key.name: _values(key) for key in keys}
    across = min(reversed(keys), key=lambda key: len(values[key.name]))
    down = [key for key in keys if key is not across]
    where = {tuple(_value(key, row) for key in (*down, across)): row for row in rows}
    places = len(values[across.name]) * len(list(product(*(values[key.name] for key in down))))
    if len(where) < len(rows) or len(rows) < _FILLED * places or len(values[across.name]) > MOST_ACROSS:
        return None
    ends = values[across.name]
    found = [(at, tuple(where.get((*at, end)) for end in ends)) for at in product(*(values[key.name] for key in down))]
    kept = [(at, cells) for at, cells in found if any(cell is not None for cell in cells)]
    return CrossTable(
        tuple(_label(end) for end in ends),
        tuple(tuple(map(_label, at)) for at, _ in kept),
        (across.name, tuple(key.name for key in down)),
        tuple(cells for _, cells in kept),
        (tuple(summed for summed, _ in ends), tuple(any(summed for summed, _ in at) for at, _ in kept)),
    )


def _levels(series: Sequence[Series], keys: Sequence[Series], rows: Sequence[int]) -> Levels | None:
    sets = rows_by_set(series)
    names = sorted(sets, key=len)
    if len(names) < 2 or any(longer[: len(name)] != name for name, longer in pairwise(names)):
        return None
    order = {key.name: {value: place for place, value in enumerate(_values(key))} for key in keys}
    by_name = {key.name: key for key in keys}
    found, shown = [], set(rows)
    for name, places in sets.items():
        for row in (place for place in places if place in shown):
            path = tuple(order[one][_value(by_name[one], row)] for one in name)
            found.append((path, row, names.index(name), format_value(by_name[name[-1]].values[row]) if name else _label((True, None))))
    if len({path for path, *_ in found}) < len(found):
        return None
    return Levels(names[-1], tuple((row, depth, label) for _, row, depth, label in sorted(found)))


def _value(key: Series, row: int) -> tuple[bool, Any]:
    """Whether a row is a sum over a key, and else its value."""
    summed = key.summed is not None and key.summed[row]
    return summed, None if summed else key.values[row]


def _values(key: Series) -> list[tuple[bool, Any]]:
    """The values of a key as they come, the total last."""
    found = dict.fromkeys(_value(key, row) for row in range(len(key.values)))
    return sorted(found, key=lambda one: one[0])


def _label(value: tuple[bool, Any]) -> str:
    return "Total" if value[0] else format_value(value[1])
