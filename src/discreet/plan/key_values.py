"""The groups of a question as values of its keys: a tuple of groups, or all combinations of public values, which are not written out."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias, final, overload

from attrs import frozen

from discreet.tables.kind import Value

Group: TypeAlias = tuple[Value | None, ...]  # a value for each key
KeyValues: TypeAlias = Sequence[Group]
OTHER = "(other)"  # stands for all values that are not listed


@final
@frozen
class Combinations(Sequence[Group]):
    """All combinations of the values of each key, the last key varying fastest.

    A hundred thousand public keys are so kept as they were declared: planning makes no object for each.

    >>> list(Combinations((("a", "b"), (1, 2))))
    [('a', 1), ('a', 2), ('b', 1), ('b', 2)]
    """

    values: tuple[tuple[Value | None, ...], ...]

    def __len__(self) -> int:
        return math.prod(map(len, self.values))

    def __iter__(self) -> Iterator[Group]:
        return itertools.product(*self.values)

    @overload
    def __getitem__(self, at: int) -> Group: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[Group, ...]: ...

    def __getitem__(self, at: int | slice) -> Group | tuple[Group, ...]:
        return tuple(self)[at]


def key_column(groups: KeyValues, place: int) -> Sequence[Value | None]:
    """The value of one key in every group."""
    if isinstance(groups, Combinations) and len(groups.values) == 1:
        return groups.values[place]
    return [group[place] for group in groups]


def values_of(groups: KeyValues, place: int) -> Sequence[Value | None]:
    """The values that one key has in any group, perhaps more than once, in the order of the groups."""
    if isinstance(groups, Combinations):
        return groups.values[place] if groups else ()
    return key_column(groups, place)
