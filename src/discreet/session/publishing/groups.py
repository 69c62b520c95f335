"""The rows of a release by the grouping set that they belong to."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.plots.table import Series


def rows_by_set(series: Sequence[Series]) -> dict[tuple[str, ...], list[int]]:
    """The rows of each grouping set, by the names of its keys, in the order in which they are shown."""
    keys = [one for one in series if one.is_key]
    found: dict[tuple[str, ...], list[int]] = {}
    for row in range(len(series[0].values) if series else 0):
        names = tuple(key.name for key in keys if key.summed is None or not key.summed[row])
        found.setdefault(names, []).append(row)
    return found
