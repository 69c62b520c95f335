"""What an owner declares about one table, before and after its stored schema is known."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, final

from attrs import evolve, frozen

from discreet import exact
from discreet.errors import Invalid
from discreet.tables.column import ColumnMetadata, read_bounds, read_keys
from discreet.tables.kind import Kind
from discreet.tables.problems import Problems, hint, subpath
from discreet.tables.table import Contributions, Table
from discreet.tables.unit import EachRow, Link, Person, Unit
from discreet.tables.untyped import ask_for_types

EACH_ROW = "each row"
_TABLE = ("source", "delimiter", "unit", "link", "public", "one_row_per_unit", "size", "contributions", "columns")
_COLUMN = ("type", "bounds", "keys", "nullable", "unique")
_LINK = ("column", "table", "key")
IDENTITIES = (Kind.INTEGER, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP)  # kinds whose values can identify units


@final
@frozen
class ColumnDeclaration:
    """A column as declared; its bounds and keys are parsed once the kind is known."""

    name: str
    kind: Kind | None = None
    bounds: tuple[Any, ...] | None = None
    keys: tuple[Any, ...] | None = None
    nullable: bool = True
    unique: bool = False

    @classmethod
    def read(cls, given: Any, name: str, path: str, problems: Problems) -> ColumnDeclaration:
        """Read the section of a column and record every problem."""
        entries = problems.known(given, path, _COLUMN)
        kind = _kind(entries.get("type"), subpath(path, "type"), problems)
        found = cls(
            name,
            kind,
            _pair(entries.get("bounds"), subpath(path, "bounds"), problems),
            _list(entries.get("keys"), subpath(path, "keys"), problems),
            problems.boolean(entries, path, "nullable", True),
            problems.boolean(entries, path, "unique", False),
        )
        if kind is not None:
            found.column(kind, path, problems)
        return found

    def column(self, kind: Kind, path: str, problems: Problems) -> ColumnMetadata:
        """The metadata of the column, once its kind is known."""
        bounds = keys = None
        with problems.at(subpath(path, "bounds")):
            bounds = read_bounds(kind, self.bounds, self.name)
        with problems.at(subpath(path, "keys")):
            keys = read_keys(kind, self.keys, self.name)
        return ColumnMetadata(self.name, kind, bounds, keys, self.nullable, self.unique)


@final
@frozen
class TableDeclaration:
    """A table as declared; without a unit it is public."""

    name: str
    source: str | None = None
    unit: Unit | None = None
    one_row: bool = False
    contributions: Contributions = Contributions()
    columns: tuple[ColumnDeclaration, ...] = ()
    size: int | None = None
    delimiter: str | None = None  # of a CSV file, where it is not the usual one

    @property
    def path(self) -> str:
        """Its path in the policy."""
        return subpath("tables", self.name)

    @classmethod
    def read(cls, given: Any, name: str, problems: Problems) -> TableDeclaration:
        """Read the section of a table and record every problem."""
        path = subpath("tables", name)
        entries = problems.known(given, path, _TABLE)
        unit = _unit(entries, path, problems) if entries else None
        contributions = Contributions()
        with problems.at(subpath(path, "contributions")):
            contributions = Contributions.of(entries.get("contributions"))
        if entries.get("public") is True and "contributions" in entries:
            problems.add(subpath(path, "contributions"), "nobody is protected in a public table: remove contributions")
        columns = entries.get("columns", {})
        if not isinstance(columns, Mapping):
            problems.add(subpath(path, "columns"), "must be a section with one entry per column, such as [tables.visits.columns.cost]")
            columns = {}
        return cls(
            name,
            problems.text(entries, path, "source"),
            unit,
            problems.boolean(entries, path, "one_row_per_unit", False),
            contributions,
            tuple(ColumnDeclaration.read(of, str(column), f"{path}.columns.{column}", problems) for column, of in columns.items()),
            _size(entries, unit, path, problems),
            problems.text(entries, path, "delimiter"),
        )

    def table(
        self, schema: Mapping[str, Kind | None], problems: Problems, elsewhere: Collection[str] = (), untyped: Sequence[str] = ()
    ) -> Table:
        """The table, once its stored schema and the columns of other tables are known; mismatches are recorded as problems.

        `untyped` columns are texts only because nobody declared their types.
        """
        declared = {column.name: column for column in self.columns}
        for name in declared:
            if name not in schema:
                problems.add(f"{self.path}.columns.{name}", f"there is no such column in the data{hint(name, schema)}")
        columns = []
        for name, stored in schema.items():
            path, about = f"{self.path}.columns.{name}", declared.get(name, ColumnDeclaration(name))
            if about.unique and self.unit is not None:
                problems.add(path, "unique is for public tables, so that joins with them do not multiply rows: remove it here")
            if stored is None and name in declared:
                supported = "a number, text, boolean, date or timestamp (in a Parquet file, in microseconds)"
                problems.add(path, f"its stored type is not supported: store it as {supported}")
            if about.bounds is not None and name in untyped:  # bounds are of numbers and dates
                problems.add(subpath(self.path, "columns"), f"bounds of {name} need its type: {ask_for_types(self.name, untyped)}")
                about = evolve(about, bounds=None)
            if stored is not None:
                columns.append(about.column(_merged(about.kind, stored, path, problems), path, problems))
        self._check_unit(schema, problems, elsewhere)
        return Table(self.name, tuple(columns), self.unit, self.contributions, self.one_row, self.size, untyped=tuple(untyped))

    def _check_unit(self, schema: Mapping[str, Kind | None], problems: Problems, elsewhere: Collection[str]) -> None:
        match self.unit:
            case Person(column):
                path = subpath(self.path, "unit")
            case Link(column):
                path = subpath(self.path, "link.column")
            case EachRow() | None:
                return
        if column not in schema:
            # a table without the column must not become public by default, nor should a misspelt name lead its writer to make it public
            advice = "name the column that identifies the protected units"
            if column in elsewhere:
                public = f'public = true (or public=["{self.name}"])'
                advice = f"if nobody in this table needs protection, declare {public}; otherwise link it to a unit"
            problems.add(path, f"there is no column {column} in the data{hint(column, schema)}; {advice}")
        elif schema[column] not in IDENTITIES:
            advice = "name another column"
            if schema[column] is Kind.REAL:
                advice = f'if its values are integers, declare columns={{"{column}": "integer"}} (in discreet.toml: type = "integer")'
            problems.add(path, f"to identify units, {column} must hold integers, texts, dates or timestamps: {advice}")


def _merged(declared: Kind | None, stored: Kind, path: str, problems: Problems) -> Kind:
    """The kind to use: the stored one, or real if integers are stored and real is declared."""
    if declared in (None, stored) or (declared is Kind.REAL and stored is Kind.INTEGER):
        return declared or stored
    problems.add(
        subpath(path, "type"), f"{declared.value if declared else ''} is declared, but {stored.value} is stored: declare the stored type"
    )
    return stored


def _unit(entries: Mapping[str, Any], path: str, problems: Problems) -> Unit | None:
    declared = [key for key in ("unit", "link", "public") if key in entries and entries[key] is not False]
    if len(declared) != 1:
        choices = f'unit = "column", unit = "{EACH_ROW}", link = {{ column, table, key }} or public = true'
        problems.add(path, f"say {'only once ' if declared else ''}who is protected: {choices}")
    if "public" in entries:
        problems.boolean(entries, path, "public", False)
    if "unit" in declared:
        unit = entries["unit"]
        if isinstance(unit, EachRow | Person | Link):
            return unit
        column = problems.text(entries, path, "unit")
        return None if column is None else EachRow() if column == EACH_ROW else Person(column)
    return _link(entries["link"], subpath(path, "link"), problems) if "link" in declared else None


def _size(entries: Mapping[str, Any], unit: Unit | None, path: str, problems: Problems) -> int | None:
    """The public number of rows. It is the number of units, so each unit must have one row."""
    if entries.get("size") is None:
        return None
    place = subpath(path, "size")
    if unit is None or not (isinstance(unit, EachRow) or entries.get("one_row_per_unit") is True):
        problems.add(place, "is the number of protected units, each with one row: declare one_row_per_unit = true, or remove size")
    with problems.at(place):
        return exact.whole(entries["size"], "size")
    return None


def _link(given: Any, path: str, problems: Problems) -> Link | None:
    entries = problems.known(given, path, _LINK)
    for name in _LINK:
        if isinstance(given, Mapping) and name not in entries:
            problems.add(subpath(path, name), "is missing: write link = { column = …, table = …, key = … }")
    column, table, key = (problems.text(entries, path, name) for name in _LINK)
    return Link(column, table, key) if column and table and key else None


def _kind(given: Any, path: str, problems: Problems) -> Kind | None:
    if given is None or isinstance(given, Kind):
        return given
    names = [kind.value for kind in Kind]
    if isinstance(given, str) and given in names:
        return Kind(given)
    problems.add(path, f"must be one of {', '.join(names)}")
    return None


def _pair(given: Any, path: str, problems: Problems) -> tuple[Any, ...] | None:
    pair = _list(given, path, problems)
    if pair is not None and len(pair) != 2:
        problems.add(path, "must be a pair [lower, upper]")
        return None
    return pair


def _list(given: Any, path: str, problems: Problems) -> tuple[Any, ...] | None:
    if given is None:
        return None
    try:
        if isinstance(given, str | bytes | Mapping):
            raise Invalid("not a list")
        return tuple(given)
    except (TypeError, Invalid):
        problems.add(path, "must be a list of values")
        return None
