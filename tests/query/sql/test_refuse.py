"""Refusals name the part of the query and what to do; nothing goes unread."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from discreet.errors import Invalid, Refused
from discreet.query.sql.refuse import closed, only, piece, place, refused


def test_a_refusal_names_the_part_the_reason_and_an_alternative() -> None:
    node = parse_one("SELECT a + b FROM t").expressions[0]
    assert str(refused(node, "why", "do this")).startswith("a + b")
    assert str(refused(node, "why", "do this")).endswith(": why; do this")
    assert place(node).startswith(" (line 1, column")
    assert len(piece(exp.Column(this=exp.to_identifier("x" * 500)))) == 80


def test_arguments_that_are_not_read_are_refused() -> None:
    only(parse_one("SELECT a FROM t"), "expressions", "from_")
    with pytest.raises(Refused, match="WHERE is not supported here; leave WHERE out"):
        only(parse_one("SELECT a FROM t WHERE b"), "expressions", "from_")


def deep() -> int:
    return deep()


def test_unexpected_forms_are_refusals_and_our_errors_pass() -> None:
    with pytest.raises(Refused, match="nested too deeply"):
        closed(deep)
    with pytest.raises(Refused, match="form of query is not supported"):
        closed(lambda: {}["x"])  # type: ignore[index]
    with pytest.raises(Invalid, match="mine"):
        closed(lambda: (_ for _ in ()).throw(Invalid("mine")))
