"""How released groups are arranged in a figure, decided from their keys: bars, bins, lines over time, or a grid for two keys.

Figures and inline drawings follow the same layout, so they look alike. Nothing here costs anything: the groups are released.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any, final

from attrs import frozen

from discreet.plots.bins import Bins
from discreet.plots.palette import SERIES
from discreet.plots.table import TOTAL, Series, decimals, format_value
from discreet.plots.ticks import edge_label

MOST_BARS, MOST_LINES, MOST_BINS = 30, len(SERIES), 400
MOST_GROUPED, MOST_CELLS = 36, 30  # bars of a grouped chart; cells along one side of a heat map
OTHER = "(other)"  # the group of all values that are not among the keys


@final
@frozen
class Bars:
    """One bar or point for each group, from top to bottom."""

    labels: tuple[str, ...]
    rows: tuple[int, ...]
    note: str = ""


@final
@frozen
class Binned:
    """Neighbouring bins of a number from left to right; a bin that was not released has no row."""

    of: str
    edges: tuple[float, ...]
    rows: tuple[int | None, ...]
    below: int | None = None
    above: int | None = None
    apart: tuple[tuple[str, int], ...] = ()  # groups that are no bin, such as NULL
    note: str = ""


@final
@frozen
class Lines:
    """A line over numbers or dates for each name; one line without a name if there is one key."""

    key: Series
    names: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]
    other: str = ""  # the key that names the lines
    apart: tuple[tuple[str, int], ...] = ()
    note: str = ""

    @property
    def is_dated(self) -> bool:
        """Whether the key has dates or moments."""
        return any(isinstance(self.key.values[row], datetime.date) for rows in self.rows for row in rows)


@final
@frozen
class Grid:
    """Two keys: grouped bars if there are few, otherwise a heat map. A pair that was not released has no row."""

    down: tuple[str, ...]
    across: tuple[str, ...]
    names: tuple[str, str]  # of the keys
    rows: tuple[tuple[int | None, ...], ...]
    is_heat: bool
    note: str = ""


Layout = Bars | Binned | Lines | Grid


def layout_of(keys: Sequence[Series], first: Series, rows: int, ordered: bool = False, most: int = MOST_BARS) -> Layout:
    """The layout of some groups. `first` is the column that decides which are the largest; `ordered` groups are taken as they come."""
    if len(keys) == 1 and rows > 1:
        found = _binned(keys[0], rows) or _lines(keys[0], [""] * rows, rows)
        if found is not None:
            return found
    if len(keys) == 2 and rows > 1:
        for one, other in ((keys[0], keys[1]), (keys[1], keys[0])):
            names = [format_value(other.values[row]) for row in range(rows)]
            lines = _lines(one, names, rows, format_value(other.name)) if one.bins is None and len(set(names)) <= MOST_LINES else None
            if lines is not None:
                return lines
        crossed = _grid(keys[0], keys[1], first, rows, most)
        if crossed is not None:
            return crossed
    return _bars(keys, first, rows, ordered, most)


# ── one key ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _bars(keys: Sequence[Series], first: Series, rows: int, ordered: bool, most: int) -> Bars:
    def label(row: int) -> str:
        return " · ".join(format_value(key.values[row]) for key in keys)

    if rows <= most:
        return Bars(tuple(map(label, range(rows))), tuple(range(rows)))
    largest = not ordered and not first.is_place
    chosen = sorted(range(rows), key=lambda row: -(as_number(first.values[row]) or 0.0))[:most] if largest else range(most)
    which = f"the {most} largest by {format_value(first.name)}" if largest else f"the first {most} groups"
    return Bars(tuple(map(label, chosen)), tuple(chosen), f"{which}, and {_more(rows - most, 'group')}")


def _binned(key: Series, rows: int) -> Binned | None:
    bins, places, apart = key.bins, dict[int, int](), list[tuple[str, int]]()
    if bins is None or rows > 20 * MOST_BINS:
        return None
    for row in range(rows):
        if is_apart(key.values[row]):
            apart.append((_apart(key, row), row))
        elif isinstance(key.values[row], str):
            return None
        elif (place := bins.place(key.values[row])) is not None:  # no row has a value between two bins, so such a group is left out
            places.setdefault(place, row)
    below, above = (places.pop(-1, None), places.pop(bins.number, None)) if bins.number is not None else (None, None)
    if not places:
        return None
    inside = range(bins.number) if bins.number is not None else range(min(places), max(places) + 1)
    if inside.stop - inside.start > MOST_BINS:
        return None
    edges = (*(bins.edges(place)[0] for place in inside), bins.edges(inside[-1])[1] if bins.number is None else _last(bins))
    return Binned(bins.of, edges, tuple(places.get(place) for place in inside), below, above, tuple(apart))


def _last(bins: Bins) -> float:
    return float(bins.start + bins.width * (bins.number or 0))


def _lines(key: Series, names: Sequence[str], rows: int, other: str = "") -> Lines | None:
    some = [key.values[row] for row in range(rows) if not is_apart(key.values[row])]
    if len(set(some)) < 2 or not (_are(some, datetime.date) or _are(some, int, float)):
        return None
    mine: dict[str, list[int]] = {name: [] for name in names}
    apart = []
    for row, name in enumerate(names):
        if is_apart(key.values[row]):
            apart.append((" · ".join(part for part in (_apart(key, row), name) if part), row))
        else:
            mine[name].append(row)
    places = tuple(tuple(sorted(some, key=lambda row: key.values[row])) for some in mine.values())
    return Lines(key, tuple(mine), places, other, tuple(apart[:MOST_LINES]))


# ── two keys ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _grid(one: Series, other: Series, first: Series, rows: int, most: int) -> Grid | None:
    sides = [_in_order(key, rows) for key in (one, other)]
    where = {(one.values[row], other.values[row]): row for row in range(rows)}
    if len(where) < rows or min(len(side) for side in sides) < 2:
        return None
    down, across = sides
    if len(across) > len(down):
        down, across, where = across, down, {(b, a): row for (a, b), row in where.items()}
        one, other = other, one
    notes = []
    if len(down) > MOST_GROUPED // len(across) or len(across) > MOST_LINES:
        limit = min(MOST_CELLS, most)
        (down, note), (across, also) = (_largest(key, side, first, rows, limit) for key, side in ((one, down), (other, across)))
        notes, heat = [part for part in (note, also) if part], True
    else:
        heat = False
    cells = tuple(tuple(where.get((a, b)) for b in across) for a in down)
    names = _name(one), _name(other)
    return Grid(tuple(_label(one, a) for a in down), tuple(_label(other, b) for b in across), names, cells, heat, "; ".join(notes))


def _in_order(key: Series, rows: int) -> list[Any]:
    """The values of a key: numbers and dates in order, names as they come; NULL and others last."""
    values = list(dict.fromkeys(key.values[row] for row in range(rows)))
    some = [value for value in values if not is_apart(value)]
    if _are(some, int, float) or _are(some, datetime.date):
        some.sort()
    return some + [value for value in values if is_apart(value)]


def _largest(key: Series, side: list[Any], first: Series, rows: int, most: int) -> tuple[list[Any], str]:
    """The values with the largest totals, in the order of the side, and a note on how many were left out."""
    if len(side) <= most:
        return side, ""
    totals: dict[Any, float] = dict.fromkeys(side, 0.0)
    for row in range(rows):
        totals[key.values[row]] += as_number(first.values[row]) or 0.0
    kept = set(sorted(side, key=lambda value: -totals[value])[:most])
    note = f"{format_value(key.name)}: the {most} largest, and {_more(len(side) - most, 'value')}"
    return [value for value in side if value in kept], note


def _name(key: Series) -> str:
    return format_value(key.name if key.bins is None else key.bins.of)


def _label(key: Series, value: Any) -> str:
    """A value of a key; the range of a bin."""
    place = None if key.bins is None else key.bins.place(value)
    if key.bins is None or place is None:
        return format_value(value)
    low, high = key.bins.edges(place)
    below, above = key.bins.number is not None and place < 0, key.bins.number is not None and place >= key.bins.number
    return f"< {edge_label(high)}" if below else f"≥ {edge_label(low)}" if above else f"{edge_label(low)} … {edge_label(high)}"


def typical_error(layout: Grid, column: Series) -> str:
    """The median half-width of all cells in words, for a map whose cells have no room for theirs."""
    found = (column.ends(row) for cells in layout.rows for row in cells if row is not None)
    halves = sorted((ends[1] - ends[0]) / 2 for ends in found if ends is not None)
    if not halves:
        return ""
    middle = halves[len(halves) // 2]
    return f"{format_value(column.name)}: ± {middle:,.{decimals(middle)}f} in most cells"


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def as_number(value: Any) -> float | None:
    """A number to draw, or None."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300 else None


def is_apart(value: Any) -> bool:
    """Whether a key is NULL, the group of all other values, or the sum of all groups: none has a place on an axis."""
    return value is None or value in (OTHER, TOTAL)


def _apart(key: Series, row: int) -> str:
    return f"without {format_value(key.name)}" if key.values[row] is None else str(key.values[row])


def _are(values: Sequence[Any], *kinds: type) -> bool:
    return bool(values) and all(isinstance(value, kinds) and not isinstance(value, bool) for value in values) and _alike(values)


def _alike(values: Sequence[Any]) -> bool:
    """Dates and moments cannot be compared."""
    return len({isinstance(value, datetime.datetime) for value in values}) == 1


def _more(number: int, what: str) -> str:
    return f"{number:,} more {what}{'' if number == 1 else 's'}"
