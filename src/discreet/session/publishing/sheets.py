"""The sheets of a workbook: the answers, one sheet for each grouping set, and what the numbers mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.plots.table import TOTAL, Series
from discreet.session.publishing.groups import rows_by_set
from discreet.session.publishing.words import bounds_in_words, price_in_words
from discreet.session.publishing.workbook import Amount, Sheet

MOST_SHEETS = 30
ENDS = "NAME_low and NAME_high are the ends of the interval of the column NAME"
TIDY = "NAME_tidy is the column NAME made non-negative, whole for counts, and such that every total is the sum of its parts; no interval"


def answer_sheets(columns: Mapping[str, Sequence[Any]], series: Sequence[Series]) -> list[Sheet]:
    """One sheet for each grouping set, with its keys alone; or one for all."""
    keys = {one.name: one for one in series if one.is_key}
    sets = rows_by_set(series)
    every = {**columns, **{name: key.values for name, key in keys.items()}}  # dates stay dates, also beside (other)
    if not 1 < len(sets) <= MOST_SHEETS:
        return [_sheet("Answers", every, series)]
    found = []
    for names, rows in sets.items():
        shown = {name: [values[row] for row in rows] for name, values in every.items() if name not in keys or name in names}
        found.append(_sheet(" × ".join(names) or TOTAL, shown, series))
    return found


def _sheet(name: str, columns: Mapping[str, Sequence[Any]], series: Sequence[Series]) -> Sheet:
    """A sheet whose numbers have as many decimals as their errors justify; keys, and numbers without an error, are as they are."""
    keys = {one.name for one in series if one.is_key}
    digits = {f"{one.name}{end}": one.digits for one in series if one.low is not None for end in ("", "_low", "_high", "_tidy")}
    formats = [None if column in keys else Amount(digits.get(column)) for column in columns]
    return Sheet(name, list(columns), list(columns.values()), formats)


def about_sheet(told: Mapping[str, Any]) -> Sheet:
    """What the numbers mean, and what was paid for them, from the metadata of a release."""
    receipt = told["receipt"]
    entries = [str(paid["sequence"]) for paid in receipt["payments"] if paid["sequence"] is not None]
    columns = told["columns"].values()
    lines: list[tuple[str, str]] = [
        ("what this is", "answers with differential privacy: random noise was added to them" if not receipt["dry_run"] else "mock data"),
        *([("content", told["title"])] if told.get("title") else []),
        *([("tables", ", ".join(told["tables"]))] if told["tables"] else []),
        *([("asked", told["asked"])] if told.get("asked") else []),
        ("protects", f"{told['protects']}, under {told['adjacency']}"),
        ("price", price_in_words(told)),
        ("method", told["method"]),
        ("confidence", f"{told['confidence'] * 100:.4g} %"),
        *(("bounds found", f"{name}: {bounds_in_words(bounds)}") for name, bounds in told["bounds"].items()),
        *(("columns", f"{name}: {role['measures']}") for name, role in told["columns"].items() if role.get("measures")),
        *([("columns", ENDS)] if any("low" in role for role in columns) else []),
        *([("columns", TIDY)] if any("tidy" in role for role in columns) else []),
        *(("note", note) for note in told["notes"]),
        ("question", receipt["question"]),
        *([("ledger entries", ", ".join(entries))] if entries else []),
        ("receipt", receipt["hash"]),
    ]
    return Sheet("About", ["item", "value"], [[item for item, _ in lines], [value for _, value in lines]], wrapped=True)
