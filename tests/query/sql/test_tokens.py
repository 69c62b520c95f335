"""One statement from text: limits, comments, the privacy clause."""

from __future__ import annotations

import pytest

from discreet.errors import Invalid, Refused
from discreet.query.sql.tokens import DEEPEST, LONGEST, parse


def test_the_privacy_clause_is_extracted() -> None:
    found = parse("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, delta = 0) COUNT(*) FROM t", "bigquery")
    assert found.options is not None
    assert sorted(found.options) == ["delta", "epsilon"]
    assert "PRIVACY" not in found.tree.sql().upper()
    assert parse("SELECT COUNT(*) FROM t", "duckdb").options is None


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "is empty"),
        ("SELECT 1; SELECT 2", "exactly one statement"),
        ("DROP TABLE t", "only SELECT is supported"),
        ("SELECT " + "(" * (DEEPEST + 1) + "1" + ")" * (DEEPEST + 1), "nested parentheses"),
        ("SELECT 1" + " " * LONGEST, "at most 100,000 characters"),
        ("SELECT '\x00'", "no database stores"),
        ("SELECT 'open", "close the quote"),
        ("SELECT `a` FROM t", "backticks"),
    ],
    ids=range(8),
)
def test_refused(text: str, word: str) -> None:
    with pytest.raises(Refused, match=word):
        parse(text, "duckdb")


def test_comments_are_dropped_and_text_is_needed() -> None:
    assert parse("SELECT /*+ hint */ COUNT(*) FROM t -- end", "duckdb").tree == parse("SELECT COUNT(*) FROM t", "duckdb").tree
    with pytest.raises(Invalid, match="a question is text"):
        parse(3, "duckdb")  # type: ignore[arg-type]
