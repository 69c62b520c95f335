"""Counts of records by label, for a public list of labels.

A record has one label, or it is a collection of items and has several; a repeated item counts once. The contribution of a record depends
on that record and on public values alone, so one record changes each count by at most 1.

Private records are read totally: one that cannot be read contributes nothing, for an error would reveal that it exists. Plain records
belong to the caller, so an invalid one is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np

from discreet.errors import Invalid
from discreet.private import Private

Label = TypeVar("Label")
Read = Callable[[Any], set[int]]  # from a record to the positions of its labels; it may raise any exception

_COLLECTIONS = (Set, list, tuple, np.ndarray)


def distinct(cells: Sequence[Label]) -> list[Label]:
    """Read a public list of distinct labels."""
    try:
        labels = list(cells)
        different = len(set(labels)) == len(labels)
    except TypeError:
        raise Invalid("cells must be a list of hashable labels, such as strings or numbers") from None
    if not labels or not different:
        raise Invalid("cells must be a list of distinct labels, at least one")
    return labels


# ── the labels of a record ───────────────────────────────────────────────────────────────────────────────────────────


def one_of(labels: Sequence[Any], bucket: Callable[[Any], Any] | None = None) -> Read:
    """Read records that have at most one label: the record itself, or the result of the bucket function."""
    places = {label: place for place, label in enumerate(labels)}

    def read(record: Any) -> set[int]:
        label = record if bucket is None else bucket(record)
        if isinstance(label, _COLLECTIONS) and not _is_label(label, places):
            raise TypeError  # several labels are not a record of a histogram
        return {places[label]} if label in places else set()

    return read


def some_of(labels: Sequence[Any]) -> Read:
    """Read records that have any number of labels: sets, lists, tuples or arrays of items, or a single label."""
    places = {label: place for place, label in enumerate(labels)}

    def read(record: Any) -> set[int]:
        if isinstance(record, _COLLECTIONS) and not _is_label(record, places):
            return {places[item] for item in record if item in places}
        return {places[record]} if record in places else set()

    return read


def _is_label(record: Any, places: dict[Any, int]) -> bool:
    with suppress(TypeError):  # unhashable, so no label
        return record in places
    return False


# ── counts ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def count(records: Private[Any] | Iterable[Any], read: Read, size: int, advice: str) -> Private[list[int]]:
    """Count the records with each of `size` labels; an invalid plain record is reported, with advice on valid ones."""
    if isinstance(records, Private):
        return records.map(lambda rows: _totals((_totally(read, row) for row in rows), size))
    rows = as_list(records)
    return Private(_totals(_checked(rows, read, advice), size))


def as_list(records: Iterable[Any]) -> list[Any]:
    """Plain records as a list."""
    try:
        return list(records)
    except TypeError:
        raise Invalid("records must be a list with one record for each person") from None


def _totals(found: Iterable[set[int]], size: int) -> list[int]:
    totals = [0] * size
    for places in found:
        for place in places:
            totals[place] += 1
    return totals


def _totally(read: Read, row: Any) -> set[int]:
    with suppress(Exception), np.errstate(all="ignore"):  # an error or a warning would reveal that such a record exists
        return read(row)
    return set()


def _checked(rows: list[Any], read: Read, advice: str) -> list[set[int]]:
    found = []
    for number, row in enumerate(rows):
        try:
            found.append(read(row))
        except Exception as error:
            raise Invalid(f"record {number} cannot be counted ({type(error).__name__}): {advice}") from None
    if not any(found) and not all(_is_empty(row) for row in rows):
        raise Invalid(f"no record has a label from cells: {advice}")
    return found


def _is_empty(row: Any) -> bool:
    return isinstance(row, _COLLECTIONS) and (row.size if isinstance(row, np.ndarray) else len(row)) == 0
