"""The textbook's queries over a list of records, one record for each unit, as thin uses of the mechanisms.

Each function gives a mechanism and the exact answer it is to release, so that the price can be seen first:

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
from discreet.mechanisms import sensitivity
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import Processed
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.sensitivity import Adjacency, is_replacement
from discreet.private import Private

_STEPS = 2**40

Records = Private[Any] | Iterable[Any]
Label = TypeVar("Label", bound=Hashable)


def _map(records: Records, function: Callable[[Iterable[Any]], Any]) -> Private[Any]:
    return (records if isinstance(records, Private) else Private(list(records))).map(function)


def counting(
    records: Records, predicate: Callable[[Any], bool], *, epsilon: Number, adjacency: Adjacency = "add/remove"
) -> tuple[Laplace, Private[int]]:
    """How many records satisfy a predicate; one on which it fails does not."""
    moved = sensitivity.counting(adjacency).l1
    return Laplace(epsilon=epsilon, sensitivity=moved, whole=True), _map(records, lambda rows: sum(_holds(predicate, r) for r in rows))


def _holds(predicate: Callable[[Any], bool], row: Any) -> bool:
    with suppress(Exception):  # an error would tell that there is such a record
        return bool(predicate(row))
    return False


def averaging(
    records: Records, function: Callable[[Any], float], *, size: int, epsilon: Number, lower: Number = 0, upper: Number = 1
) -> tuple[Laplace, Private[Fraction]]:
    """The mean of a function with values in [lower, upper], over a public number of records; neighbours replace one record.

    Values are clamped; what is no number, or fails, counts as `lower`. Each is put on a grid and summed in whole numbers: the mean is
    exact, and the order does not matter.

    >>> mechanism, answer = averaging([0.5, -1, 1, 0.25], lambda x: x, size=4, lower=-1, upper=1, epsilon=1000)
    >>> mechanism.sensitivity, round(mechanism.release(answer), 1)
    (Fraction(1, 2), 0.2)
    """
    moved = sensitivity.mean(lower, upper, size).l1
    low, high = sensitivity.interval(lower, upper)
    if isinstance(records, Sequence) and len(records) != size:
        raise Invalid("size must be the number of records")
    return Laplace(epsilon=epsilon, sensitivity=moved, whole=False), _map(records, lambda rows: _mean(rows, function, low, high, size))


def _mean(rows: Iterable[Any], function: Callable[[Any], float], low: Fraction, high: Fraction, size: int) -> Fraction:
    step = (high - low) / _STEPS
    return low + step * sum(_place(function, row, low, high) for row in rows) / size


def _place(function: Callable[[Any], float], row: Any, low: Fraction, high: Fraction) -> int:
    """Where the value of a record lies between low and high, in steps."""
    with suppress(Exception):  # an error would tell that there is such a record
        value = answers.exactly(function(row))
        return 0 if value is None else round((min(max(value, low), high) - low) / (high - low) * _STEPS)
    return 0


def histogram(
    records: Records, cells: Sequence[Label], *, epsilon: Number, adjacency: Adjacency = "add/remove"
) -> tuple[Processed[dict[Label, int]], Private[list[int]]]:
    """Counts of a public list of cells; records of no cell are left out, empty cells are in.

    >>> grades, counts = histogram("ABBCAABD", cells="ABCDF", epsilon=100)
    >>> grades.release(counts)
    {'A': 3, 'B': 3, 'C': 1, 'D': 1, 'F': 0}
    """
    labels = _labels(cells)
    noise = Laplace(epsilon=epsilon, sensitivity=sensitivity.histogram(adjacency).l1, whole=True)
    named = noise.then(lambda noisy: dict(zip(labels, np.asarray(noisy).tolist(), strict=True)))
    return named, _map(records, lambda rows: _count(rows, labels))


def most_popular(
    records: Records, cells: Sequence[Label], *, epsilon: Number, adjacency: Adjacency = "add/remove"
) -> tuple[Processed[Label], Private[list[int]]]:
    """The item of a public list that most records have, with high probability; of equals the first is as likely as any.

    >>> fruit, counts = most_popular(["apple"] * 30 + ["pear"] * 5, cells=["apple", "pear", "plum"], epsilon=10)
    >>> fruit.release(counts)
    'apple'
    """
    labels = _labels(cells)
    winner = NoisyMax(epsilon=epsilon, sensitivity=1, monotone=not is_replacement(adjacency))
    return winner.then(lambda i: labels[i]), _map(records, lambda rows: _count(rows, labels))


def _labels(cells: Sequence[Label]) -> list[Label]:
    labels = list(cells)
    if not labels or len(set(labels)) < len(labels):
        raise Invalid("cells must be a list of different labels, at least one")
    return labels


def _count(rows: Iterable[Any], labels: list[Label]) -> list[int]:
    counts = dict.fromkeys(labels, 0)
    for row in rows:
        with suppress(Exception):  # no label, or nothing that could be one
            counts[row] += 1
    return list(counts.values())
