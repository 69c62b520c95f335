"""Functions of text."""

from __future__ import annotations

from sqlglot import exp

from discreet.query.sql.reader import Case, Reader, flat
from discreet.query.sql.refuse import only
from discreet.query.sql.typed import Typed, literal


def _text(function: str, ignored: tuple[str, ...] = ()) -> Case:
    def read(node: exp.Expr, reader: Reader) -> Typed:
        only(node, "this", *ignored)
        return reader.call(node, function, reader.read(node.this))

    return read


def _substring(node: exp.Substring, reader: Reader) -> Typed:
    only(node, "this", "start", "length")
    length = node.args.get("length")
    last = literal(10**6) if length is None else reader.read(length)
    return reader.call(node, "substring", reader.read(node.this), reader.read(node.args.get("start")), last)


def _left(node: exp.Left, reader: Reader) -> Typed:
    only(node, "this", "expression")
    return reader.call(node, "substring", reader.read(node.this), literal(1), reader.read(node.expression))


def _concat(node: exp.Concat, reader: Reader) -> Typed:
    only(node, "expressions", "safe", "coalesce")
    parts = [reader.read(part) for part in node.expressions]
    if node.args.get("coalesce"):  # in these dialects NULL is an empty text
        parts = [reader.call(node, "coalesce", part, literal("")) if part.field.nullable else part for part in parts]
    return reader.call(node, "concat", *parts) if len(parts) > 1 else parts[0]


def _pipes(node: exp.DPipe, reader: Reader) -> Typed:
    only(node, "this", "expression", "safe")
    return reader.call(node, "concat", *(reader.read(part) for part in flat(node, exp.DPipe)))


def _starts_with(node: exp.StartsWith, reader: Reader) -> Typed:
    only(node, "this", "expression")
    return reader.call(node, "starts_with", reader.read(node.this), reader.read(node.expression))


CASES: dict[type[exp.Expr], Case] = {
    exp.Lower: _text("lower"),
    exp.Upper: _text("upper"),
    exp.Trim: _text("trim"),
    exp.Length: _text("length", ("binary",)),
    exp.Substring: _substring,
    exp.Left: _left,
    exp.Concat: _concat,
    exp.DPipe: _pipes,
    exp.StartsWith: _starts_with,
}
