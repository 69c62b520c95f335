"""The policy: who is protected, the privacy budget, and what is declared about the tables."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, final

from attrs import frozen

from discreet import exact, parameter
from discreet.errors import PolicyError
from discreet.mechanisms.sensitivity import Adjacency
from discreet.tables.catalog import Catalog
from discreet.tables.declaration import EACH_ROW, TableDeclaration
from discreet.tables.kind import Kind
from discreet.tables.problems import Problems, hint, subpath
from discreet.tables.table import Table
from discreet.tables.unit import EachRow, Link, Person, Unit

_TOP = ("version", "adjacency", "engine", "budget", "ledger", "tables")
_ADJACENCIES: tuple[Adjacency, ...] = ("add/remove", "replace-one")


@final
@frozen
class AnalystShare:
    """The part of the budget that one analyst may spend: in all, or in each week or month."""

    analyst: str
    epsilon: Fraction
    delta: Fraction
    every: str | None = None


@final
@frozen
class Policy:
    """The decisions of the data owner; it contains no data, and nothing derived from data.

    >>> policy = Policy.of_arguments(["visits"], unit="patient_id", epsilon=1, bounds={"cost": (0, 500)})
    >>> policy.catalog({"visits": {"patient_id": Kind.INTEGER, "cost": Kind.REAL}}).protected
    'each patient_id'
    """

    epsilon: Fraction
    delta: Fraction
    tables: tuple[TableDeclaration, ...]
    adjacency: Adjacency = "add/remove"
    version: str = "1"
    ledger: str | None = None  # a path, ":memory:", or None for a file beside the data
    witness: str | None = None
    engine: str | None = None  # if the data does not determine it
    analysts: tuple[AnalystShare, ...] = ()

    @classmethod
    def of_arguments(
        cls,
        names: Collection[str],
        *,
        epsilon: Any,
        delta: Any = 0,
        unit: str | Unit | None = None,
        bounds: Mapping[str, Any] | None = None,
        keys: Mapping[str, Any] | None = None,
        contributions: Any = None,
        columns: Mapping[str, Any] | None = None,
        not_null: Collection[str] | str = (),
        one_row_per_unit: bool = False,
        size: int | Mapping[str, int] | None = None,
        public: Collection[str] | str = (),
        adjacency: str = "add/remove",
        version: str = "1",
        ledger: str | None = None,
        witness: str | None = None,
    ) -> Policy:
        """The policy that the arguments of connect() declare; with several tables, a column is written "table.column"."""
        problems = Problems()
        if callable(unit):
            problems.add("unit", "this is a function: call it, as in unit=each_row()")
            unit = EachRow()
        public, not_null = ([names] if isinstance(names, str) else names for names in (public, not_null))  # one name is a list of one
        sections: dict[str, dict[str, Any]] = {name: {"columns": {}} for name in names}
        for name in public:
            if name not in sections:
                problems.add("public", f"there is no table {name}{hint(name, sections)}")
        for name, section in sections.items():
            if name in public:
                section["public"] = True
            else:
                section |= {"unit": EACH_ROW if isinstance(unit, EachRow) else unit} if unit is not None else {}
                section |= {"one_row_per_unit": one_row_per_unit, "contributions": contributions}
        _spread_sizes(sections, size, problems)
        there = dict.fromkeys(not_null, False)
        for what, given in (("bounds", bounds), ("keys", keys), ("type", columns), ("nullable", there)):
            _spread(sections, what, given or {}, problems)
        top = {"version": version, "adjacency": adjacency, "budget": {"epsilon": epsilon, "delta": delta}, "tables": sections}
        places = {key: place for key, place in (("path", ledger), ("witness", witness)) if place is not None}
        policy = _read(top | {"ledger": places}, problems)
        problems.stop()
        return policy

    def table(self, name: str) -> TableDeclaration | None:
        """The declaration of the table of this name."""
        return next((table for table in self.tables if table.name == name), None)

    @property
    def declared(self) -> dict[str, dict[str, Kind]]:
        """The declared kinds, by which an engine reads untyped texts."""
        return {table.name: {column.name: column.kind for column in table.columns if column.kind} for table in self.tables}

    @property
    def identities(self) -> dict[str, set[str]]:
        """The columns of each table that identify units: the unit columns, and both ends of links."""
        found: dict[str, set[str]] = {table.name: set() for table in self.tables}
        for table in self.tables:
            match table.unit:
                case Person(column):
                    found[table.name].add(column)
                case Link(column, target, key):
                    found[table.name].add(column)
                    found.setdefault(target, set()).add(key)
        return found

    def catalog(self, schemas: Mapping[str, Mapping[str, Kind | None]], untyped: Mapping[str, Sequence[str]] | None = None) -> Catalog:
        """Combine the declarations with the stored schemas, or raise one PolicyError with all mismatches.

        `untyped` are the columns of each table whose types neither its source nor a declaration gives.
        """
        problems = Problems()
        for table in self.tables:
            if table.name not in schemas:
                problems.add(table.path, f"there is no such table in the data{hint(table.name, schemas)}")
        for name in schemas:
            if self.table(name) is None:
                problems.add(subpath("tables", name), "this table is not declared: declare it, or do not pass it")
        tables = self.fit(schemas, problems, untyped)
        problems.stop()
        return Catalog(tables, self.adjacency, self.version)

    def fit(
        self, schemas: Mapping[str, Mapping[str, Kind | None]], problems: Problems, untyped: Mapping[str, Sequence[str]] | None = None
    ) -> tuple[Table, ...]:
        """The tables whose stored schemas are known; mismatches are recorded as problems."""
        elsewhere = {name: {column for other in schemas if other != name for column in schemas[other]} for name in schemas}
        tables = tuple(
            table.table(schemas[table.name], problems, elsewhere[table.name], (untyped or {}).get(table.name, ()))
            for table in self.tables
            if table.name in schemas
        )
        for table in self.tables:
            _check_key(table, schemas, problems)
        return tables


def read_policy(text: str) -> Policy:
    """Read a discreet.toml, or raise one PolicyError with every problem and its path.

    >>> read_policy('tables.t.unit = "id"')
    Traceback (most recent call last):
    discreet.errors.PolicyError: budget.epsilon: is missing: give the privacy loss that is allowed per unit, for example 1.0
    """
    problems = Problems()
    policy = begin_policy(text, problems)
    problems.stop()
    return policy


def begin_policy(text: str, problems: Problems) -> Policy:
    """Read a discreet.toml as far as possible and record problems; the policy is valid only if there are none."""
    try:
        given = tomllib.loads(text, parse_float=Decimal)
    except (ArithmeticError, RecursionError):
        raise PolicyError("this is not valid TOML: correct numbers that are too extreme, or sections that are nested too deeply") from None
    except ValueError as error:
        raise PolicyError(f"this is not valid TOML: {error}") from None
    return _read(given, problems)


def _read(given: Mapping[str, Any], problems: Problems) -> Policy:
    """Read everything, and record all problems before any is raised."""
    top = problems.known(given, "", _TOP)
    epsilon, delta, analysts = _budget(top.get("budget", {}), problems)
    adjacency = next((known for known in _ADJACENCIES if known == top.get("adjacency", "add/remove")), None)
    if adjacency is None:
        problems.add("adjacency", 'must be "add/remove" or "replace-one"')
    version, engine = problems.text(top, "", "version"), problems.text(top, "", "engine")
    ledger = problems.known(top.get("ledger", {}), "ledger", ("path", "witness"))
    path, witness = problems.text(ledger, "ledger", "path"), problems.text(ledger, "ledger", "witness")
    sections = top.get("tables", {})
    if not isinstance(sections, Mapping):
        problems.add("tables", "must be a section with one entry per table, such as [tables.visits]")
        sections = {}
    tables = tuple(TableDeclaration.read(of, str(name), problems) for name, of in sections.items())
    _check_tables(tables, sections, problems)
    for table in tables:
        if table.size is not None and adjacency == "add/remove":
            problems.add(subpath(table.path, "size"), 'is not public under "add/remove": declare adjacency = "replace-one", or remove size')
    return Policy(epsilon, delta, tables, adjacency or "add/remove", version or "1", path, witness, engine, analysts)


def _budget(given: Any, problems: Problems) -> tuple[Fraction, Fraction, tuple[AnalystShare, ...]]:
    entries = problems.known(given, "budget", ("epsilon", "delta", "analysts"))
    epsilon = delta = Fraction(0)
    if "epsilon" not in entries:
        problems.add("budget.epsilon", "is missing: give the privacy loss that is allowed per unit, for example 1.0")
    else:
        with problems.at("budget.epsilon"):
            epsilon = exact.positive(entries["epsilon"], "epsilon")
    with problems.at("budget.delta"):
        delta = parameter.any_delta(entries.get("delta", 0))
    shares = entries.get("analysts", {})
    if not isinstance(shares, Mapping):
        problems.add("budget.analysts", "must be a section with one entry per analyst, such as ada = { epsilon = 0.5 }")
        shares = {}
    found = [_share(str(name), share, problems) for name, share in shares.items()]
    for share in found:
        if share.epsilon > epsilon > 0 or share.delta > delta:
            problems.add(subpath("budget.analysts", share.analyst), "must not exceed the whole budget: grant less")
    return epsilon, delta, tuple(found)


def _share(name: str, given: Any, problems: Problems) -> AnalystShare:
    path, epsilon, delta = subpath("budget.analysts", name), Fraction(0), Fraction(0)
    if not name.strip() or name != name.strip() or not name.isprintable() or name.casefold() == "owner":
        problems.add(path, 'an analyst needs a name without spaces around it, other than "owner", who needs no share: rename it')
    entries = problems.known(given, path, ("epsilon", "delta", "every"))
    every = entries.get("every")
    if every not in (None, "week", "month"):
        problems.add(subpath(path, "every"), 'must be "week" or "month", after which the budget renews; leave it out for one that does not')
    if "epsilon" not in entries:
        problems.add(subpath(path, "epsilon"), "is missing: give the ε that this analyst may spend in total, for example 0.5")
    else:
        with problems.at(subpath(path, "epsilon")):
            epsilon = exact.positive(entries["epsilon"], "epsilon")
    with problems.at(subpath(path, "delta")):
        delta = parameter.any_delta(entries.get("delta", 0))
    return AnalystShare(name, epsilon, delta, every)


def _check_tables(tables: tuple[TableDeclaration, ...], sections: Mapping[str, Any], problems: Problems) -> None:
    """Check what concerns several tables."""
    if len({table.name.casefold() for table in tables}) != len(tables):
        problems.add("tables", "table names must differ in more than upper and lower case: rename one")
    for table in tables:
        if table.name.startswith("__"):  # as tables that are sent with a statement
            problems.add(table.path, "the name of this table begins with two underscores: rename it")
    said = [of for of in sections.values() if isinstance(of, Mapping) and ("unit" in of or "link" in of)]
    if not said:
        problems.add("tables", "there must be a table in which someone is protected: declare its unit")
    named = {table.name: table for table in tables}
    for table in tables:
        if isinstance(table.unit, Link):
            _check_link(table, table.unit, named, problems)


def _check_link(table: TableDeclaration, link: Link, named: Mapping[str, TableDeclaration], problems: Problems) -> None:
    path = subpath(table.path, "link.table")
    if (target := named.get(link.table)) is None:
        problems.add(path, f"there is no table {link.table}{hint(link.table, named)}")
    elif target.unit is None:
        problems.add(path, f"{link.table} has no unit: link to a table in which someone is protected")
    seen = {table.name}
    here: TableDeclaration | None = target
    while here is not None and isinstance(here.unit, Link):
        if here.name in seen:
            problems.add(path, "these links form a cycle and never reach a unit: link one of the tables to a table with a unit")
            return
        seen.add(here.name)
        here = named.get(here.unit.table)


def _check_key(table: TableDeclaration, schemas: Mapping[str, Mapping[str, Kind | None]], problems: Problems) -> None:
    """Both ends of a link must have the same kind."""
    if not isinstance(link := table.unit, Link) or link.table not in schemas or table.name not in schemas:
        return
    here, there = schemas[table.name].get(link.column), schemas[link.table]
    if link.key not in there:
        problems.add(subpath(table.path, "link.key"), f"there is no column {link.key} in {link.table}{hint(link.key, there)}")
    elif here is not None and there[link.key] is not here:
        problems.add(
            subpath(table.path, "link.key"), f"{link.key} must have the same type as {link.column}, {here.value}: store both in one type"
        )


def _spread_sizes(sections: Mapping[str, dict[str, Any]], size: Any, problems: Problems) -> None:
    """Put sizes into the sections of their tables: that of the only private table, or one per table."""
    private = [name for name, section in sections.items() if "public" not in section]
    if isinstance(size, Mapping):
        for name, rows in size.items():
            if name in sections:
                sections[name]["size"] = rows
            else:
                problems.add("size", f"there is no table {name}{hint(str(name), sections)}")
    elif size is not None and len(private) == 1:
        sections[private[0]]["size"] = size
    elif size is not None:
        problems.add("size", f'there are several tables: name the table, for example {{"{next(iter(sections), "table")}": 1000}}')


def _spread(sections: Mapping[str, dict[str, Any]], what: str, given: Any, problems: Problems) -> None:
    """Put arguments about columns into the sections of their tables."""
    argument = "columns" if what == "type" else what
    if not isinstance(given, Mapping):
        problems.add(argument, 'must be a dict by column, such as {"cost": …}')
        return
    for name, value in given.items():
        table, _, column = str(name).partition(".")
        if table in sections and column:
            sections[table]["columns"].setdefault(column, {})[what] = value
        elif len(sections) == 1:
            next(iter(sections.values()))["columns"].setdefault(str(name), {})[what] = value
        else:
            one = next(iter(sections), "table")
            problems.add(argument, f'there are several tables: write {name} with its table, for example "{one}.{name}"')
