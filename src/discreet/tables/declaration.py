"""What an owner declares about one table, before and after its stored schema is known."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, final

from attrs import frozen

from discreet import exact
from discreet.errors import Invalid
from discreet.tables.column import ColumnMetadata, read_bounds, read_keys
from discreet.tables.kind import Kind
from discreet.tables.problems import Problems, hint, join
from discreet.tables.table import Contributions, Table
from discreet.tables.unit import EachRow, Link, Person, Unit

EACH_ROW = "each row"
_TABLE = ("source", "unit", "link", "public", "one_row_per_unit", "size", "contributions", "columns")
_COLUMN = ("type", "bounds", "keys", "nullable", "unique")
_LINK = ("column", "table", "key")
_IDENTITIES = (Kind.INTEGER, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP)  # values that can tell one unit from another


@final
@frozen
class ColumnDeclaration:
    """A column as declared; bounds and keys wait, as they were written, until the kind is known."""

    name: str
    kind: Kind | None = None
    bounds: tuple[Any, ...] | None = None
    keys: tuple[Any, ...] | None = None
    nullable: bool = True
    unique: bool = False

    @classmethod
    def read(cls, given: Any, name: str, path: str, problems: Problems) -> ColumnDeclaration:
        """Read a column's section and note all that is wrong with it."""
        entries = problems.known(given, path, _COLUMN)
        kind = _kind(entries.get("type"), join(path, "type"), problems)
        found = cls(
            name,
            kind,
            _pair(entries.get("bounds"), join(path, "bounds"), problems),
            _list(entries.get("keys"), join(path, "keys"), problems),
            problems.boolean(entries, path, "nullable", True),
            problems.boolean(entries, path, "unique", False),
        )
        if kind is not None:
            found.column(kind, path, problems)
        return found

    def column(self, kind: Kind, path: str, problems: Problems) -> ColumnMetadata:
        """The column, once its kind is known."""
        bounds = keys = None
        with problems.at(join(path, "bounds")):
            bounds = read_bounds(kind, self.bounds, self.name)
        with problems.at(join(path, "keys")):
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

    @property
    def path(self) -> str:
        """Where it stands in the policy."""
        return join("tables", self.name)

    @classmethod
    def read(cls, given: Any, name: str, problems: Problems) -> TableDeclaration:
        """Read a table's section and note all that is wrong with it."""
        path = join("tables", name)
        entries = problems.known(given, path, _TABLE)
        unit = _unit(entries, path, problems) if entries else None
        contributions = Contributions()
        with problems.at(join(path, "contributions")):
            contributions = Contributions.of(entries.get("contributions"))
        if entries.get("public") is True and "contributions" in entries:
            problems.add(join(path, "contributions"), "nobody is protected in a public table: leave this out")
        columns = entries.get("columns", {})
        if not isinstance(columns, Mapping):
            problems.add(join(path, "columns"), "must be a section with one entry for each column")
            columns = {}
        return cls(
            name,
            problems.text(entries, path, "source"),
            unit,
            problems.boolean(entries, path, "one_row_per_unit", False),
            contributions,
            tuple(ColumnDeclaration.read(of, str(column), f"{path}.columns.{column}", problems) for column, of in columns.items()),
            _size(entries, unit, path, problems),
        )

    def table(self, schema: Mapping[str, Kind | None], problems: Problems, elsewhere: Collection[str] = ()) -> Table:
        """The table, once its stored schema is known, and which columns others have; whatever does not fit is noted."""
        declared = {column.name: column for column in self.columns}
        for name in declared:
            if name not in schema:
                problems.add(f"{self.path}.columns.{name}", f"there is no such column in the data{hint(name, schema)}")
        columns = []
        for name, stored in schema.items():
            path, about = f"{self.path}.columns.{name}", declared.get(name, ColumnDeclaration(name))
            if about.unique and self.unit is not None:
                problems.add(path, "unique is for public tables, which may then be joined without multiplying rows: leave it out here")
            if stored is None and name in declared:
                used = "a number, text, boolean, date or timestamp (in a Parquet file, in microseconds)"
                problems.add(path, f"its stored type cannot be used: store it as {used}")
            if stored is not None:
                columns.append(about.column(_merged(about.kind, stored, path, problems), path, problems))
        self._check_unit(schema, problems, elsewhere)
        return Table(self.name, tuple(columns), self.unit, self.contributions, self.one_row, self.size)

    def _check_unit(self, schema: Mapping[str, Kind | None], problems: Problems, elsewhere: Collection[str]) -> None:
        match self.unit:
            case Person(column):
                path = join(self.path, "unit")
            case Link(column):
                path = join(self.path, "link.column")
            case EachRow() | None:
                return
        if column not in schema:
            # a table without the column must not become public by silence, and whoever misspelt it must not be led to make it so
            advice = "name the column that tells the protected units apart"
            if column in elsewhere:
                said = f'public = true (or public=["{self.name}"])'
                advice = f"if nobody in this table needs protection, say so with {said}; else link it to a unit"
            problems.add(path, f"there is no column {column} in the data{hint(column, schema)}; {advice}")
        elif schema[column] not in _IDENTITIES:
            read = f'; whole numbers that are stored otherwise can be read as such, columns={{"{column}": "integer"}}, type = "integer"'
            said = read if schema[column] is Kind.REAL else ""
            problems.add(path, f"{column} must be of whole numbers, texts, dates or timestamps to tell units apart{said}")


def _merged(declared: Kind | None, stored: Kind, path: str, problems: Problems) -> Kind:
    """The kind to use: the stored one, or real numbers where whole ones are stored and real ones declared."""
    if declared in (None, stored) or (declared is Kind.REAL and stored is Kind.INTEGER):
        return declared or stored
    problems.add(join(path, "type"), f"{declared.value if declared else ''} is declared, but {stored.value} is stored")
    return stored


def _unit(entries: Mapping[str, Any], path: str, problems: Problems) -> Unit | None:
    said = [key for key in ("unit", "link", "public") if key in entries and entries[key] is not False]
    if len(said) != 1:
        choices = f'unit = "column", unit = "{EACH_ROW}", link = {{ column, table, key }} or public = true'
        problems.add(path, f"say {'only once ' if said else ''}who is protected: {choices}")
    if "public" in entries:
        problems.boolean(entries, path, "public", False)
    if "unit" in said:
        unit = entries["unit"]
        if isinstance(unit, EachRow | Person | Link):
            return unit
        column = problems.text(entries, path, "unit")
        return None if column is None else EachRow() if column == EACH_ROW else Person(column)
    return _link(entries["link"], join(path, "link"), problems) if "link" in said else None


def _size(entries: Mapping[str, Any], unit: Unit | None, path: str, problems: Problems) -> int | None:
    """The public number of rows; it is that of units, so each must have one row."""
    if entries.get("size") is None:
        return None
    place = join(path, "size")
    if unit is None or not (isinstance(unit, EachRow) or entries.get("one_row_per_unit") is True):
        problems.add(place, "is the number of protected units, each with one row: declare one_row_per_unit = true, or leave it out")
    with problems.at(place):
        return exact.whole(entries["size"], "size")
    return None


def _link(given: Any, path: str, problems: Problems) -> Link | None:
    entries = problems.known(given, path, _LINK)
    for name in _LINK:
        if isinstance(given, Mapping) and name not in entries:
            problems.add(join(path, name), "is missing; a link is { column = …, table = …, key = … }")
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
