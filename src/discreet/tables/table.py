"""A table: its columns, its protected unit, and the contribution limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

from attrs import frozen

from discreet import exact
from discreet.errors import Invalid
from discreet.tables.column import ColumnMetadata
from discreet.tables.profile import TableProfile
from discreet.tables.unit import EachRow, Link, Person, Unit

MOST_CONTRIBUTED = 1024  # more would need wider weights; see plan/bounding.py


@final
@frozen
class Contributions:
    """Contribution limits per unit: `rows` in all, or `per_group` rows in each of `groups` groups; open limits are discovered privately.

    >>> Contributions.of({"groups": 3, "per_group": 5})
    Contributions(rows=None, groups=3, per_group=5)
    """

    rows: int | None = None
    groups: int | None = None
    per_group: int | None = None

    @classmethod
    def of(cls, given: Any) -> Contributions:
        """Read limits from a dict."""
        if given is None:
            return cls()
        if isinstance(given, Contributions):
            return given
        if not isinstance(given, Mapping) or not given or set(given) - {"rows", "groups", "per_group"}:
            raise Invalid('contributions must be {"rows": 10} or {"groups": 3, "per_group": 5}')
        if "rows" in given and len(given) > 1:
            raise Invalid('contributions are limited by {"rows": …} or by {"groups": …, "per_group": …}, not by both')
        read = {name: exact.whole(value, name) for name, value in given.items()}
        if any(value > MOST_CONTRIBUTED for value in read.values()):
            raise Invalid(f"contributions are at most {MOST_CONTRIBUTED}, for noise grows with the limit: give a lower one")
        return cls(**read)

    def __bool__(self) -> bool:
        return any((self.rows, self.groups, self.per_group))


@final
@frozen
class Table:
    """What is declared about a table; a table without a unit is public."""

    name: str
    columns: tuple[ColumnMetadata, ...]
    unit: Unit | None = None
    contributions: Contributions = Contributions()
    one_row: bool = False  # declared: no unit has more than one row
    size: int | None = None  # declared: the number of rows, if public
    profile: TableProfile | None = None  # released earlier; what it found is filled in above where nothing is declared
    untyped: tuple[str, ...] = ()  # columns that are read as text only because nobody declared a type; for messages
    keys_found: tuple[str, ...] = ()  # columns whose keys the profile found, and nobody declared

    @property
    def private(self) -> bool:
        """Whether someone is protected in it."""
        return self.unit is not None

    def column(self, name: str) -> ColumnMetadata | None:
        """The column of exactly this name, if there is one."""
        return next((column for column in self.columns if column.name == name), None)

    @property
    def unit_column(self) -> str | None:
        """The column with the unit, or the link to it."""
        match self.unit:
            case Person(column) | Link(column):
                return column
            case EachRow() | None:
                return None
