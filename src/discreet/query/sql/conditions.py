"""Comparisons, AND, OR, NOT, IN, LIKE, CASE and COALESCE."""

from __future__ import annotations

from sqlglot import exp

from discreet.errors import Refused
from discreet.query.sql.durations import duration
from discreet.query.sql.kinds import check_alike
from discreet.query.sql.literals import agreed
from discreet.query.sql.moments import duration_between
from discreet.query.sql.reader import Case, Reader, flat
from discreet.query.sql.refuse import located, only, refused
from discreet.query.sql.typed import Typed, literal

_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "equal",
    exp.NEQ: "not_equal",
    exp.LT: "less",
    exp.LTE: "less_equal",
    exp.GT: "greater",
    exp.GTE: "greater_equal",
}


def _alike(node: exp.Expr, parts: list[exp.Expr], values: list[Typed]) -> list[Typed]:
    """Values of one kind, or Refused; text compared with dates is read as a date."""
    try:
        found = agreed(values)
    except Refused as error:
        raise located(node, error) from None
    check_alike(node, list(zip(parts, found, strict=True)))
    return found


def _read_alike(node: exp.Expr, parts: list[exp.Expr], reader: Reader) -> list[Typed]:
    return _alike(node, parts, [reader.read(part) for part in parts])


def _comparison(node: exp.Binary, reader: Reader) -> Typed:
    only(node, "this", "expression")
    for apart, other, turned in ((node.this, node.expression, False), (node.expression, node.this, True)):
        length = duration(other)
        pair = None if length is None else duration_between(apart, length, reader)
        if pair is not None:
            return reader.call(node, _COMPARISONS[type(node)], *(pair[::-1] if turned else pair))
    return reader.call(node, _COMPARISONS[type(node)], *_read_alike(node, [node.this, node.expression], reader))


def _between(node: exp.Between, reader: Reader) -> Typed:
    only(node, "this", "low", "high")
    value, low, high = _read_alike(node, [node.this, node.args["low"], node.args["high"]], reader)
    return reader.call(node, "and", reader.call(node, "greater_equal", value, low), reader.call(node, "less_equal", value, high))


def _in(node: exp.In, reader: Reader) -> Typed:
    if node.args.get("query") is not None:
        raise refused(
            node,
            "IN with a subquery is a condition of WHERE by itself, beside others with AND",
            "write WHERE x IN (SELECT id FROM sites), or join that table",
        )
    only(node, "this", "expressions")
    return reader.call(node, "in", *_read_alike(node, [node.this, *node.expressions], reader))


def _connective(word: str, kind: type[exp.Expr]) -> Case:
    def read(node: exp.Connector, reader: Reader) -> Typed:
        only(node, "this", "expression")
        return reader.call(node, word, *(reader.read(part) for part in flat(node, kind)))

    return read


def _not(node: exp.Not, reader: Reader) -> Typed:
    only(node, "this")
    return reader.call(node, "not", reader.read(node.this))


def _is(node: exp.Is, reader: Reader) -> Typed:
    only(node, "this", "expression", "negate")
    value, word = reader.read(node.this), node.expression
    if type(word) is exp.Null:
        found = reader.call(node, "is_null", value)
    elif type(word) is exp.Boolean:
        found = reader.call(node, "coalesce", value if word.this else reader.call(node, "not", value), literal(False))
    else:
        raise refused(node, "IS takes NULL, TRUE or FALSE", "use = for other values")
    return reader.call(node, "not", found) if node.args.get("negate") else found


def _case(node: exp.Case, reader: Reader) -> Typed:
    only(node, "this", "ifs", "default")
    subject = None if node.this is None else reader.read(node.this)
    tests: list[Typed] = []
    values: list[Typed] = []
    for branch in node.args["ifs"]:
        only(branch, "this", "true")
        test = reader.read(branch.this)
        tests.append(test if subject is None else reader.call(branch, "equal", *_alike(branch, [node.this, branch.this], [subject, test])))
        values.append(reader.read(branch.args.get("true")))
    default = node.args.get("default") or exp.null()
    parts = [*(branch.args["true"] for branch in node.args["ifs"]), default]
    values = _alike(node, parts, [*values, reader.read(default)])
    pairs = (part for pair in zip(tests, values, strict=False) for part in pair)
    return reader.call(node, "case", *pairs, values[-1])


def _if(node: exp.If, reader: Reader) -> Typed:
    only(node, "this", "true", "false")
    yes, no = _read_alike(node, [node.args["true"], node.args.get("false") or exp.null()], reader)
    return reader.call(node, "case", reader.read(node.this), yes, no)


def _coalesce(node: exp.Coalesce, reader: Reader) -> Typed:
    only(node, "this", "expressions", "is_nvl", "is_null")
    return reader.call(node, "coalesce", *_read_alike(node, [node.this, *node.expressions], reader))


def _nullif(node: exp.Nullif, reader: Reader) -> Typed:
    only(node, "this", "expression")
    value, other = _read_alike(node, [node.this, node.expression], reader)
    return reader.call(node, "case", reader.call(node, "equal", value, other), literal(None), value)


def _like(node: exp.Like | exp.ILike, reader: Reader) -> Typed:
    only(node, "this", "expression", "negate")
    value, pattern = reader.read(node.this), reader.read(node.expression)
    if pattern.text is None:
        raise refused(node, "a pattern must be written as a literal", "write it out, as in name LIKE 'A%'")
    if "\\" in pattern.text or (reader.dialect == "tsql" and "[" in pattern.text):
        raise refused(node, "engines read backslashes and brackets in patterns differently", "use only % and _ in patterns")
    if type(node) is exp.ILike:
        value, pattern = reader.call(node, "lower", value), literal(pattern.text.lower())
    found = reader.call(node, "like", value, pattern)
    return reader.call(node, "not", found) if node.args.get("negate") else found


CASES: dict[type[exp.Expr], Case] = {
    **dict.fromkeys(_COMPARISONS, _comparison),
    exp.Between: _between,
    exp.In: _in,
    exp.And: _connective("and", exp.And),
    exp.Or: _connective("or", exp.Or),
    exp.Not: _not,
    exp.Is: _is,
    exp.Case: _case,
    exp.If: _if,
    exp.Coalesce: _coalesce,
    exp.Nullif: _nullif,
    exp.Like: _like,
    exp.ILike: _like,
}
