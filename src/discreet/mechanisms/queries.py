"""The textbook's queries over a list of records, one record for each unit, built on the mechanisms.

Each function returns a mechanism and its exact private answer, so that the privacy loss is known before the release:

>>> from discreet.private import Private
>>> ages = Private([34, 51, 29, 62, 45])
>>> mechanism, answer = counting(ages, lambda age: age > 40, epsilon=100)
>>> mechanism.loss.epsilon_at(0), mechanism.release(answer)
(100.0, 3)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from discreet.errors import Invalid
from discreet.exact import Number
from discreet.mechanisms import answer as answers
from discreet.mechanisms import labels, sensitivity
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import Processed
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.sensitivity import Adjacency, is_replacement
from discreet.private import Private

_STEPS = 2**40

Records = Private[Any] | Iterable[Any]
Label = TypeVar("Label", bound=Hashable)


def _map(records: Records, function: Callable[[Iterable[Any]], Any]) -> Private[Any]:
    with np.errstate(all="ignore"):  # a warning from a caller's function would reveal something about a record
        return (records if isinstance(records, Private) else Private(labels.as_list(records))).map(function)


def counting(
    records: Records, predicate: Callable[[Any], bool], *, epsilon: Number, adjacency: Adjacency = "add/remove"
) -> tuple[Laplace, Private[int]]:
    """The number of records that satisfy a predicate; a record on which it raises an exception does not."""
    change = sensitivity.counting(adjacency).l1
    return Laplace(epsilon=epsilon, sensitivity=change, whole=True), _map(records, lambda rows: sum(_holds(predicate, r) for r in rows))


def _holds(predicate: Callable[[Any], bool], row: Any) -> bool:
    with suppress(Exception):  # an error would reveal that such a record exists
        return bool(predicate(row))
    return False


def averaging(
    records: Records, function: Callable[[Any], float], *, size: int, epsilon: Number, lower: Number = 0, upper: Number = 1
) -> tuple[Laplace, Private[Fraction]]:
    """The mean of a function with values in [lower, upper], over a public number of records; neighbours replace one record.

    Values are clamped; a value that is not a number, or an exception, becomes `lower`. Values are rounded to a grid and summed as
    integers, so the mean does not depend on the order of records.

    >>> mechanism, answer = averaging([0.5, -1, 1, 0.25], lambda x: x, size=4, lower=-1, upper=1, epsilon=1000)
    >>> mechanism.sensitivity, round(mechanism.release(answer), 1)
    (Fraction(1, 2), 0.2)
    """
    change = sensitivity.mean(lower, upper, size).l1
    low, high = sensitivity.interval(lower, upper)
    if isinstance(records, Sequence) and len(records) != size:
        raise Invalid("size must be the number of records")
    return Laplace(epsilon=epsilon, sensitivity=change, whole=False), _map(records, lambda rows: _mean(rows, function, low, high, size))


def _mean(rows: Iterable[Any], function: Callable[[Any], float], low: Fraction, high: Fraction, size: int) -> Fraction:
    step = (high - low) / _STEPS
    return low + step * sum(_place(function, row, low, high) for row in rows) / size


def _place(function: Callable[[Any], float], row: Any, low: Fraction, high: Fraction) -> int:
    """The position of a record's value between low and high, in steps."""
    with suppress(Exception):  # an error would reveal that such a record exists
        value = answers.exactly(function(row))
        return 0 if value is None else round((min(max(value, low), high) - low) / (high - low) * _STEPS)
    return 0


def histogram(
    records: Records,
    cells: Sequence[Label],
    *,
    bucket: Callable[[Any], Label | None] | None = None,
    epsilon: Number,
    adjacency: Adjacency = "add/remove",
) -> tuple[Processed[dict[Label, int]], Private[list[int]]]:
    """Count the records in each cell of a public list; empty cells are included, records in no cell are dropped.

    A record is the label of its cell, or `bucket` is a function h from a record to its label. A private record on which h fails, or whose
    label is not in the list, is in no cell. A plain record on which h fails, or that has several labels, is reported.

    >>> grades, counts = histogram("ABBCAABD", cells="ABCDF", epsilon=100)
    >>> grades.release(counts)
    {'A': 3, 'B': 3, 'C': 1, 'D': 1, 'F': 0}
    >>> ages, counts = histogram([34, 51, 29, 62], cells=[20, 30, 40, 50, 60], bucket=lambda age: age // 10 * 10, epsilon=100)
    >>> ages.release(counts)
    {20: 1, 30: 1, 40: 0, 50: 1, 60: 1}
    """
    names = labels.distinct(cells)
    noise = Laplace(epsilon=epsilon, sensitivity=sensitivity.histogram(adjacency).l1, whole=True)
    named = noise.then(lambda noisy: dict(zip(names, np.asarray(noisy).tolist(), strict=True)))
    return named, labels.count(records, labels.one_of(names, _callable(bucket)), len(names), _ONE_CELL if bucket is None else _BUCKET)


_ONE_CELL = (
    "each record of a histogram is in one cell; give labels from cells as records, or bucket=, or use most_popular for sets of items"
)
_BUCKET = "bucket must return a label from cells, or None for no cell, for each record"


def _callable(bucket: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
    if bucket is not None and not callable(bucket):
        raise Invalid("bucket must be a function from a record to a label from cells, as in lambda age: age // 10 * 10")
    return bucket


def most_popular(
    records: Records, cells: Sequence[Label], *, epsilon: Number, adjacency: Adjacency = "add/remove"
) -> tuple[Processed[Label], Private[list[int]]]:
    """Choose the item of a public list that most records have; ties are broken uniformly.

    A record holds the items of one person: one item, or a set, list, tuple or array of items (fruits they like, conditions they were
    diagnosed with). A repeated item counts once; items that are not in the list are dropped. A private record of another type has no
    items; a plain one is reported.

    Theorem (Dwork & Roth 2014, sec. 3.3).
        Each person adds 0 or 1 to each count, however many items they have. If a person is added or removed, all counts that change do so
        by 1 in the same direction, so noise for range 1 is enough. If a person's record is replaced, some counts may rise and others fall:
        range 2. The loss does not grow with the number of items of a person.

    Accuracy.
        `error(confidence, size)` bounds the difference of the counts of the most popular item and the chosen one, among `size` items.

    >>> people = [{"apple", "pear"}] * 30 + [{"pear", "plum"}] * 25 + [{"apple"}] * 5
    >>> fruit, counts = most_popular(people, cells=["apple", "pear", "plum"], epsilon=10)  # 35, 55 and 25 people
    >>> fruit.release(counts)
    'pear'
    """
    names = labels.distinct(cells)
    winner = NoisyMax(epsilon=epsilon, sensitivity=1, monotone=not is_replacement(adjacency))
    return winner.then(lambda place: names[place]), labels.count(records, labels.some_of(names), len(names), _ITEMS)


_ITEMS = "give each record as one item from cells, or as a set, list or tuple of items"
