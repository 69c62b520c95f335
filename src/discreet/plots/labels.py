"""Which columns are drawn, and the words on their axes: what each measures, with its unit where one is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from attrs import evolve

from discreet.errors import Invalid
from discreet.plots.bins import read_fraction
from discreet.plots.table import Series, format_value

_OF = {"Average": "mean", "Sum": "sum", "StdDev": "standard deviation", "Mode": "most frequent value"}


def measured(statistic: Any, protected: str = "") -> tuple[str, str]:
    """What a statistic measures, from its description in a request, and the column whose unit it has; empty if there is no short way.

    >>> cost = {"is": "Column", "name": "cost"}
    >>> measured({"is": "Average", "expr": cost}), measured({"is": "CountUnits", "when": None}, "each patient")
    (('mean of cost', 'cost'), ('number of distinct patient', ''))
    """
    match statistic:
        case {"is": "Count", "value_of": None}:
            return "number of rows", ""
        case {"is": "Count", "value_of": {"is": "Column", "name": str(name)}}:
            return f"number of rows with {format_value(name)}", ""
        case {"is": "CountUnits", "when": None}:
            return f"number of distinct {format_value(protected.removeprefix('each ') or 'units')}", ""
        case {"is": "Percentile", "expr": {"is": "Column", "name": str(name)}, "q": q}:
            return f"{_quantile(q)} of {format_value(name)}", name
        case {"is": str(kind), "expr": {"is": "Column", "name": str(name)}} if kind in _OF:
            return f"{_OF[kind]} of {format_value(name)}", name
    return "", ""


def _quantile(q: Any) -> str:
    share = read_fraction(q)
    return "quantile" if share is None else "median" if share == Fraction(1, 2) else f"{float(share):g} quantile"


def with_unit(series: Series, units: Mapping[str, str]) -> Series:
    """The column with its unit in its label: that of its own name, or of the column that it was computed from.

    >>> with_unit(Series("m", [1.0], measures="mean of cost", of="cost"), {"cost": "€"}).measures
    'mean of cost (€)'
    """
    unit = units.get(series.name, units.get(series.of))
    if unit is None:
        return series
    bins = series.bins and evolve(series.bins, of=f"{series.bins.of} ({unit})")
    return evolve(series, measures=f"{series.measures or format_value(series.name)} ({format_value(unit)})", bins=bins)


def chosen(series: Sequence[Series], wanted: str | Sequence[str] | None, one: bool = False) -> list[Series]:
    """The columns to draw: those named, or all that have numbers. For one alone, the first with intervals if any has."""
    numbers = {column.name: column for column in series if not column.is_key}
    there = f"there are {', '.join(format_value(name) for name in numbers)}"
    if wanted is not None:
        names = [wanted] if isinstance(wanted, str) else list(wanted)
        if not names or set(names) - set(numbers):
            raise Invalid(f"there is no column to draw of that name; {there}")
        return [numbers[name] for name in names]
    drawn = [column for column in numbers.values() if column.to_the_right]
    if not drawn:
        raise Invalid(f"there is no column to draw; {there}")
    return sorted(drawn, key=lambda column: column.low is None)[:1] if one else drawn
