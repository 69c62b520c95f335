"""Texts: compared byte by byte, cut by characters, never mistaken for SQL, and put in the same keyed order everywhere."""

from __future__ import annotations

import datetime
import hashlib
import math
import re
from fractions import Fraction
from typing import Any

import pytest
from engines.contract.asked import EngineOf, columns, each, listed, rows

from discreet.engines.dialect import Dialect
from discreet.query.relation.expr import Call, Column, Expr, Literal
from discreet.query.relation.field import Field
from discreet.query.relation.write import write_expr
from discreet.tables.kind import Kind

ODD = [
    "",
    " ",
    "a",
    "A",
    "a ",
    " a",
    "ab",
    "a b",
    "aB",
    "b",
    "z",
    "Z",
    "_",
    "it's",
    'a"b',
    "a\\b",
    "\\",
    "\\\\'",
    "%",
    "%s",
    "$1",
    "100%",
    "a_b",
    "a%b",
    "new\nline",
    "\r\n",
    "\t",
    "\x01\x1f\x7f",
    "é",
    "e\u0301",
    "ß",
    "İ",
    "漢字",
    "\U0001f600",
    "\U0010ffff",
    "\ufeff",
    "\u202e",
    "\u00a0x\u00a0",
    "null",
    "NULL",
    "--",
    "/*",
    ";",
    "'; DROP TABLE t; --",
    "E'\\n'",
    "long " * 2000,
]
SCHEMA = {"x": Field(Kind.TEXT, nullable=True)}


def written(dialect: Dialect, function: str, *arguments: Expr) -> str:
    return write_expr(Call(function, (Column("x"), *arguments)), SCHEMA, dialect)


def test_texts_come_back_as_they_are(engine_of: EngineOf) -> None:
    engine = engine_of(listed(Kind.TEXT, [*ODD, None]))
    assert [x for _, x in rows(engine, "SELECT i, x FROM t")] == [*ODD, None]
    assert rows(engine, "SELECT COUNT(DISTINCT x) AS n, COUNT(*) AS m FROM t") == [(len(ODD), len(ODD) + 1)]


def test_literals_are_the_texts_they_say(engine_of: EngineOf) -> None:
    engine = engine_of(listed(Kind.TEXT, [*ODD, None]))
    found = columns(engine, "SELECT " + ", ".join(f"{engine.dialect.literal(text)} AS v{n}" for n, text in enumerate(ODD)))
    assert [values[0] for values in found.values()] == ODD
    matched = " ".join(f"WHEN x = {engine.dialect.literal(text)} THEN {n}" for n, text in enumerate(ODD))
    assert rows(engine, f"SELECT i, CASE {matched} ELSE -1 END AS v FROM t") == [*((n, n) for n in range(len(ODD))), (len(ODD), -1)]
    some = ODD[5:20]
    inside = f"SELECT i, x FROM t WHERE x IN ({', '.join(map(engine.dialect.literal, some))})"
    assert [x for _, x in rows(engine, inside)] == some


def test_order_is_that_of_bytes(engine_of: EngineOf) -> None:
    engine = engine_of(listed(Kind.TEXT, ODD))
    for pivot in ("a", "B", "é", "漢字", "", "a b", "\U0001f600"):
        below = rows(engine, f"SELECT i, x FROM t WHERE x < {engine.dialect.literal(pivot)}")
        assert {x for _, x in below} == {x for x in ODD if x.encode() < pivot.encode()}
    pair = f"SELECT CASE WHEN {engine.dialect.literal('a')} < {engine.dialect.literal('B')} THEN 1 ELSE 0 END AS v"
    assert rows(engine, pair) == [(0,)]  # two literals, and no column that says how
    ranked = rows(engine, "SELECT ROW_NUMBER() OVER (ORDER BY x) AS n, x FROM t")
    assert [x for _, x in ranked] == sorted(ODD, key=str.encode)


def fits(text: str, pattern: str) -> bool:
    parts = [".*" if c == "%" else "." if c == "_" else re.escape(c) for c in pattern]
    return re.fullmatch("".join(parts), text, re.DOTALL) is not None


PATTERNS = [
    "%",
    "",
    "_",
    "a%",
    "%b",
    "a_b",
    "a%b",
    "\\",
    "\\%",
    "%\\%",
    "\\_",
    "_\\_",
    "%'%",
    "%\n%",
    "漢_",
    "%字",
    "e_",
    "__",
    "%s",
    "100%",
    "%%",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_only_two_characters_are_special_in_patterns(engine_of: EngineOf, pattern: str) -> None:
    found = each(engine_of, listed(Kind.TEXT, [*ODD, None]), lambda d: f"CASE WHEN {d.like('x', pattern)} THEN 1 ELSE 0 END")
    assert found == [*(int(fits(text, pattern)) for text in ODD), 0]


def test_pieces_are_counted_in_characters(engine_of: EngineOf) -> None:
    engine = engine_of(listed(Kind.TEXT, [*ODD, None]))
    d = engine.dialect
    wanted = {
        "length": written(d, "length"),
        "first": written(d, "substring", Literal(1), Literal(2)),
        "second": written(d, "substring", Literal(2), Literal(3)),
        "beyond": written(d, "substring", Literal(100_000), Literal(3)),
        "joined": written(d, "concat", Literal("-'-"), Column("x")),
        "begins": f"CASE WHEN {written(d, 'starts_with', Literal('a'))} THEN 1 ELSE 0 END",
    }
    found = columns(engine, f"SELECT i, {', '.join(f'{text} AS {name}' for name, text in wanted.items())} FROM t ORDER BY i")
    order = found["i"].argsort()
    results = {name: found[name][order].tolist() for name in wanted}
    assert results["length"] == [*map(len, ODD), None]
    assert results["first"] == [*(text[:2] for text in ODD), None]
    assert results["second"] == [*(text[1:4] for text in ODD), None]
    assert results["beyond"] == [*("" for _ in ODD), None]
    assert results["joined"] == [*(f"{text[:1000]}-'-{text[:1000]}" for text in ODD), None]
    assert results["begins"] == [*(int(text.startswith("a")) for text in ODD), 0]


def test_blanks_are_trimmed_and_nothing_else(engine_of: EngineOf) -> None:
    values = ["  a b ", "\ta\t", "\u00a0a\u00a0", "\u3000a", "\na", "", "   ", None]
    assert each(engine_of, listed(Kind.TEXT, values), lambda d: written(d, "trim")) == [None if v is None else v.strip(" ") for v in values]


def test_case_of_plain_letters(engine_of: EngineOf) -> None:
    values = ["aBc", "it's 5%", "", None, "Z_z\\"]
    assert each(engine_of, listed(Kind.TEXT, values), lambda d: d.change_case("LOWER", "x")) == [v and v.lower() for v in values]
    assert each(engine_of, listed(Kind.TEXT, values), lambda d: d.change_case("UPPER", "x")) == [v and v.upper() for v in values]
    for word in ("LOWER", "UPPER"):  # beyond ASCII they may differ, but never fail, and what they give is compared like any text
        engine = engine_of(listed(Kind.TEXT, ODD))
        assert len(rows(engine, f"SELECT {engine.dialect.change_case(word, 'x')} AS v, COUNT(*) AS n FROM t GROUP BY v")) > 30


def spelled(value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return "true" if value else "false"
        case float():
            return str(math.floor(max(min(value, 2.0**52), -(2.0**52))))
        case datetime.datetime():
            text = value.isoformat(sep=" ")
            return text.rstrip("0") if value.microsecond else text
    return str(value)


MIXED: list[tuple[Kind, list[Any]]] = [
    (Kind.INTEGER, [*range(-20, 20), None, 2**63 - 1, -(2**63)]),
    (Kind.TEXT, ODD),
    (Kind.BOOLEAN, [True, False, None]),
    (Kind.REAL, [None, 0.5, -0.5, -1.5, 7.0, 1e300, -1e300, 2.0**52, -(2.0**52), 1e-300, math.inf, -math.inf]),
    (Kind.DATE, [None, datetime.date(1, 1, 1), datetime.date(2024, 2, 29), datetime.date(9999, 12, 31)]),
    (Kind.TIMESTAMP, [None, datetime.datetime(2024, 2, 29, 5), datetime.datetime(2024, 2, 29, 5, 0, 0, 120_000), datetime.datetime.max]),
]


@pytest.mark.parametrize(("kind", "values"), MIXED)
def test_the_keyed_order_is_the_same_everywhere(engine_of: EngineOf, kind: Kind, values: list[Any]) -> None:
    units = [k % 7 for k in range(len(values))]
    engine = engine_of(listed(kind, values, (Kind.INTEGER, units)))
    order = engine.dialect.hash_order([("y", None), ("x", kind)], "salt's \\ %")
    found = [i for _, i in rows(engine, f"SELECT ROW_NUMBER() OVER (ORDER BY {order}) AS n, i FROM t")]
    texts = [f"salt's \\ %|={y}|{'NULL' if x is None else '=' + spelled(x)}" for x, y in zip(values, units, strict=True)]
    digests = [hashlib.md5(text.encode()).hexdigest() for text in texts]
    assert [digests[i] for i in found] == sorted(digests)


def test_literals_of_every_kind(engine_of: EngineOf) -> None:
    values = [True, False, 5, -5, Fraction(1, 4), "x", datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 1, 2, 3, 4)]
    engine = engine_of(listed(Kind.INTEGER, [1]))
    found = columns(engine, "SELECT " + ", ".join(f"{engine.dialect.literal(v)} AS v{n}" for n, v in enumerate(values)) + " FROM t")
    shown = [column.tolist()[0] for column in found.values()]
    assert shown == [True, False, 5, -5, 0.25, "x", datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 1, 2, 3, 4)]
