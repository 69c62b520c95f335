"""The kinds of a question's parameters $1, $2, …, before their values are known, for clients that prepare first and bind later."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from discreet.errors import Refused
from discreet.query.sql.tokens import parse
from discreet.tables.kind import Kind
from discreet.tables.table import Table

_MOST = 1000  # parameters, as over the wire
_TYPES = (
    (exp.DataType.INTEGER_TYPES, Kind.INTEGER),
    (exp.DataType.FLOAT_TYPES | {exp.DataType.Type.DECIMAL}, Kind.REAL),
    (exp.DataType.TEXT_TYPES, Kind.TEXT),
    ({exp.DataType.Type.DATE}, Kind.DATE),
    ({exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPTZ}, Kind.TIMESTAMP),
    ({exp.DataType.Type.BOOLEAN}, Kind.BOOLEAN),
)
_COMPARING = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Any)


def place_of(node: exp.Parameter) -> int | None:
    """The number of a parameter: 1 for $1; None if it has a name, or a number that is too large."""
    name = node.name
    return int(name) if name.isascii() and name.isdigit() and len(name) <= 4 and 0 < int(name) <= _MOST else None


def parameter_kinds(text: str, tables: Iterable[Table], dialect: str) -> list[Kind | None]:
    """The kind of each parameter, from what it is compared with or cast to; None where that does not tell."""
    tree = parse(text, dialect, bound=False).tree
    known, declared = dict[tuple[str, str], Kind](), {table.name.casefold(): table for table in tables}
    for source in tree.find_all(exp.Table):
        table = declared.get(source.name.casefold())
        for column in () if table is None else table.columns:
            for before in ("", source.alias_or_name.casefold()):
                known.setdefault((before, column.name.casefold()), column.kind)
    found: dict[int, Kind | None] = {}
    for node in tree.find_all(exp.Parameter):
        place = place_of(node)
        if place is None:
            raise Refused("parameters are written $1, $2, and so on: number them")
        found[place] = found.get(place) or _kind(node, known)
    return [found.get(place) for place in range(1, max(found, default=0) + 1)]


def _kind(node: exp.Parameter, known: dict[tuple[str, str], Kind]) -> Kind | None:
    above = node.parent
    while isinstance(above, exp.Paren | exp.Neg | exp.Array | exp.Tuple):
        above = above.parent
    if isinstance(above, exp.Cast):
        return next((kind for types, kind in _TYPES if above.to.this in types), None)
    if isinstance(above, exp.Limit | exp.Offset | exp.Fetch):
        return Kind.INTEGER
    if isinstance(above, exp.Like | exp.ILike):
        return Kind.TEXT
    if isinstance(above, _COMPARING):
        if above.find(exp.AggFunc) is not None:
            return Kind.REAL
        column = above.find(exp.Column)
        if column is None:
            return None
        name = column.name.casefold()
        return known.get((column.table.casefold(), name), known.get(("", name)))
    return None
