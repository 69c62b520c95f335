"""Name resolution: the columns in scope, and which one a name refers to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias, TypeVar, final

from attrs import frozen
from sqlglot import exp

from discreet.errors import Refused
from discreet.hints import suggest_and_list
from discreet.query.relation.expr import Call, Column, Expr
from discreet.query.relation.node import Relation, Select, Where
from discreet.query.sql.refuse import only, piece, place, refused
from discreet.query.sql.typed import Typed, column
from discreet.tables.catalog import Catalog

T = TypeVar("T")
LARGEST = 100  # the most relations in one question, repeated ones included


@final
@frozen
class Body:
    """A relation and how many nodes it has when written out."""

    relation: Relation
    size: int = 1

    def grown(self, relation: Relation) -> Body:
        """One node more."""
        return combined(relation, self)


def combined(relation: Relation, *parts: Body) -> Body:
    """A node over others; too many are refused, and a name used twice adds twice."""
    size = 1 + sum(part.size for part in parts)
    if size > LARGEST:
        raise Refused(f"this question has more than {LARGEST} relations, repeated ones included: split it into several questions")
    _ = relation.schema  # type rules refuse now, not later
    return Body(relation, size)


@final
@frozen
class ScopedTable:
    """One table or subquery in FROM: its name, and for each of its columns the name it has in the joined relation."""

    name: str
    columns: tuple[tuple[str, str], ...]


@final
@frozen
class Scope:
    """The result of FROM: a relation and the names of its columns; `hidden` are those that USING merged into their namesakes."""

    body: Body
    sources: tuple[ScopedTable, ...]
    hidden: frozenset[str] = frozenset()

    @property
    def relation(self) -> Relation:
        return self.body.relation

    def column(self, node: exp.Column) -> Typed:
        """The column that a name refers to."""
        inner = self.find(node)
        return column(inner, self.relation.schema[inner])

    def find(self, node: exp.Column) -> str:
        """The name, in the joined relation, of the column that a name refers to."""
        return found_in(node, self.sources, self.hidden)

    def candidates(self, node: exp.Column) -> list[str]:
        """The columns that a name may refer to."""
        return candidates_in(node, self.sources, self.hidden)

    def star(self, table: exp.Identifier | None) -> list[tuple[str, str]]:
        """All columns, or those of one table: the names they show and the names they have."""
        sources = list(self.sources) if table is None else matching(table, ((source.name, source) for source in self.sources))
        if not sources:
            raise Refused(f"{piece(table or exp.Star())}.*: there is no such table here; name one that FROM lists")
        return [pair for source in sources for pair in source.columns if table is not None or pair[1] not in self.hidden]


def found_in(node: exp.Column, sources: tuple[ScopedTable, ...], hidden: frozenset[str] = frozenset()) -> str:
    """The one column that a name refers to, or Refused."""
    found = candidates_in(node, sources, hidden)
    if len(found) > 1:
        raise refused(node, "more than one table has a column of this name", "qualify it, as in table.column")
    if not found:
        shown = {name for source in sources for name, _ in source.columns}
        dotted = ".".join(part.name for part in node.parts)
        if (whole := next((name for name in shown if "." in name and name.casefold() == dotted.casefold()), None)) is not None:
            raise Refused(f'{piece(node)}{place(node)}: the name of this column has a dot: write it in double quotes, as "{whole}"')
        raise Refused(
            f"{piece(node)}{place(node)}: there is no such column here; {_perhaps_text(node)}{suggest_and_list(node.name, shown)}"
        )
    return found[0]


def _perhaps_text(node: exp.Column) -> str:
    quoted = node.this.args.get("quoted") and not node.args.get("table") and piece(node).startswith('"')
    return f"text is written in single quotes, as in '{node.name[:40]}'; " if quoted else ""


def candidates_in(node: exp.Column, sources: tuple[ScopedTable, ...], hidden: frozenset[str]) -> list[str]:
    """The columns that a name may refer to."""
    only(node, "this", "table")
    if not isinstance(node.this, exp.Identifier):
        raise refused(node, "* is allowed in a SELECT list only", "name the column")
    table = node.args.get("table")
    meant = sources if table is None else matching(table, ((source.name, source) for source in sources))
    return [inner for source in meant for inner in matching(node.this, source.columns) if table is not None or inner not in hidden]


def matching(name: exp.Identifier, known: Iterable[tuple[str, T]]) -> list[T]:
    """What a name matches: itself exactly, or if it is not quoted, the same letters in another case."""
    only(name, "this", "quoted")
    pairs = list(known)
    exact = [value for other, value in pairs if other == name.name]
    return exact or ([] if name.args.get("quoted") else [value for other, value in pairs if _fold(other) == _fold(name.name)])


def _fold(name: str) -> str:
    return name.lower() if name.isascii() else name


def new_name(node: exp.Identifier | str) -> str:
    """A name that an analyst chooses."""
    if not isinstance(node, str):
        only(node, "this", "quoted")
    name = node if isinstance(node, str) else node.name
    if name.startswith("__") or not name.isprintable() or not name or len(name) > 200:
        raise Refused(f"{name[:40]!r}: names must be printable and must not begin with two underscores; choose another")
    return name


def renamed(body: Body, names: Iterable[str]) -> Body:
    """The same columns under other names, in order."""
    below, new = body.relation, list(names)
    if new == list(below.schema):
        return body
    if isinstance(below, Select):
        return Body(Select(below.input, tuple((name, expr) for name, (_, expr) in zip(new, below.columns, strict=True))), body.size)
    return body.grown(Select(below, tuple((name, Column(old)) for name, old in zip(new, below.schema, strict=True))))


def kept(body: Body, *conditions: Expr) -> Body:
    """Add conditions to those already there."""
    below = body.relation
    known = _conjuncts(below.condition) if isinstance(below, Where) else []
    all_of = list(dict.fromkeys([*known, *(part for condition in conditions for part in _conjuncts(condition))]))
    whole = all_of[0] if len(all_of) == 1 else Call("and", tuple(all_of))
    return body.grown(Where(below.input if isinstance(below, Where) else below, whole))


def _conjuncts(condition: Expr) -> list[Expr]:
    return list(condition.arguments) if isinstance(condition, Call) and condition.function == "and" else [condition]


SubqueryReader: TypeAlias = Callable[[exp.Expr, "Context"], Body]


@final
@frozen
class Context:
    """What a query may refer to: declared tables and the names of WITH; and the reader of subqueries."""

    catalog: Catalog
    dialect: str
    query: SubqueryReader
    names: tuple[tuple[str, Body], ...] = ()
