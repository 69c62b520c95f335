"""Groups and their sizes, the input of partition selection: the list of labels is itself private."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias, final
from uuid import UUID

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from discreet.errors import Invalid
from discreet.mechanisms import answer as answers
from discreet.noise.refine import Integers


@final
@frozen(eq=False)
class Keys:
    """Labels as columns, as an engine returns them: distinct tuples, of which only the selected ones are built."""

    columns: tuple[NDArray[Any], ...]

    def __len__(self) -> int:
        return len(self.columns[0])

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return zip(*(column.tolist() for column in self.columns), strict=True)

    def where(self, selected: NDArray[np.bool_]) -> list[Any]:
        """The selected labels."""
        return list(zip(*(column[selected].tolist() for column in self.columns), strict=True))


class SelectedGroups(NamedTuple):
    """Which groups are selected, and their noisy sizes (0 for the others)."""

    selected: NDArray[np.bool_]
    sizes: Integers


Groups: TypeAlias = Mapping[Any, Any] | tuple[Sequence[Any] | NDArray[Any] | Keys, Any]  # label → size, or labels and sizes side by side


def read_groups(answer: Groups) -> tuple[list[Any] | Keys, Integers]:
    """The labels of the groups in the data and their sizes, totally; their number is private and may be 0.

    Labels are distinguished by type and representation (1, 1.0 and True are three groups), so that no unit can change another's label;
    sizes of equal representations are added. Only plain values, which are determined by their representation, are labels. An object of
    another type could carry data of one unit under a representation that many share, so it is dropped.
    """
    if isinstance(answer, tuple) and isinstance(answer[0], Keys):
        return answer[0], answers.sizes(answer[1])
    labels, sizes = _sides(answer)
    found: dict[tuple[str, str], tuple[Any, int]] = {}
    for label, size in zip(labels, answers.sizes(sizes).tolist(), strict=True):
        with suppress(Exception):  # an error would reveal that such a label exists
            if not _is_plain(label):
                continue
            spelling = _representation(label)
            found[spelling] = label, min(found.get(spelling, (label, 0))[1] + size, answers.LIMIT)
    return [label for label, _ in found.values()], np.array([size for _, size in found.values()], np.int64)


def _sides(answer: Groups) -> tuple[list[Any], Any]:
    if isinstance(answer, Mapping):
        return list(answer), list(answer.values())
    if (
        not isinstance(answer, tuple)
        or len(answer) != 2
        or isinstance(answer[0], Keys)
        or not all(hasattr(s, "__len__") and getattr(s, "ndim", 1) == 1 for s in answer)
    ):
        raise Invalid("give the groups as a dict from label to size, or as a pair (labels, sizes)")
    labels = answer[0].tolist() if isinstance(answer[0], np.ndarray) else list(answer[0])
    if len(labels) != len(answer[1]):
        raise Invalid("give one size for each label")
    return labels, answer[1]


def check_groups(answer: Groups) -> None:
    labels, sizes = _sides(answer)
    if len(sizes):
        answers.check_whole(sizes, "the group sizes")
    if any(size < 0 for size in sizes):
        raise Invalid("the group sizes must not be negative")
    try:
        different = len(set(labels)) == len(labels)
    except TypeError:
        different = False
    if not different or not all(map(_is_plain, labels)):
        raise Invalid("the labels must be distinct plain values: strings, numbers, dates, booleans, or tuples of these")


def sorted_labels(labels: list[Any]) -> list[Any]:
    """The labels in an order that does not depend on the order of the data."""
    kinds = set(map(type, labels))
    if kinds <= {str} or kinds <= {int, bool}:
        return sorted(labels)
    return sorted(labels, key=_representation)


_PLAIN = {str, bytes, int, bool, float, type(None), Fraction, Decimal, UUID, datetime.date, datetime.timedelta}


def _is_plain(label: Any) -> bool:
    """Whether a label is determined by its type and representation."""
    kind = type(label)
    if kind in (tuple, frozenset):
        return all(map(_is_plain, label))
    if kind in (datetime.datetime, datetime.time):
        return label.tzinfo is None or type(label.tzinfo) is datetime.timezone
    return kind in _PLAIN or (isinstance(label, np.generic) and kind.__module__ == "numpy" and label.dtype.kind in "biufSUMm")


def _representation(label: Any) -> tuple[str, str]:
    if isinstance(label, int):
        return type(label).__name__, hex(label)  # repr raises an error for very long numbers
    return type(label).__name__, repr(sorted(map(repr, label)) if isinstance(label, frozenset) else label)


def selected_labels(labels: list[Any] | Keys, selected: NDArray[np.bool_]) -> list[Any]:
    """The selected labels."""
    return labels.where(selected) if isinstance(labels, Keys) else [label for label, one in zip(labels, selected, strict=True) if one]


def sizes_by_label(labels: list[Any] | Keys, found: SelectedGroups) -> dict[Any, int]:
    """The selected labels in order, with their noisy sizes."""
    sizes = dict(zip(selected_labels(labels, found.selected), found.sizes[found.selected].tolist(), strict=True))
    return {label: sizes[label] for label in sorted_labels(list(sizes))}
