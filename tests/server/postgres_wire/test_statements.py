"""Texts are cut into statements at semicolons that are not quoted; comments may state a price."""

from __future__ import annotations

import pytest

from discreet.server.postgres_wire.sqlstates import Failure
from discreet.server.postgres_wire.statements import split


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1;", ["SELECT 1"]),
        ("BEGIN; SELECT 1 ; COMMIT", ["BEGIN", "SELECT 1", "COMMIT"]),
        ("SELECT ';' ; SELECT \";\"", ["SELECT ';'", 'SELECT ";"']),
        ("SELECT 'it''s;' || E'\\';'; SELECT 2", ["SELECT 'it''s;' || E'\\';'", "SELECT 2"]),
        ("SELECT $$;$$; SELECT $a$ ; $$ $a$", ["SELECT $$;$$", "SELECT $a$ ; $$ $a$"]),
        ("SELECT 1 -- a;b\n; SELECT /* ; */ 2", ["SELECT 1", "SELECT   2"]),
        ("", [""]),
        (" ; ;", [""]),
        ("-- nothing", [""]),
        ("SELECT 'open", ["SELECT 'open"]),
        ("SELECT x FROM t WHERE a = $1 AND b = $2;", ["SELECT x FROM t WHERE a = $1 AND b = $2"]),
    ],
)
def test_split(text: str, statements: list[str]) -> None:
    assert [one.bare for one in split(text)] == statements


def test_the_text_is_as_it_was_written() -> None:
    text = " /* why */ SELECT\n  COUNT(*) -- all\n FROM visits"
    [one] = split(text)
    assert one.text == text


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("", "empty"),
        ("begin", "transaction"),
        ("START TRANSACTION READ ONLY", "transaction"),
        ("Set x=1", "setting"),
        ("select(1)", "query"),
        ("(SELECT 1)", "query"),
        ("WITH a AS (SELECT 1) SELECT * FROM a", "query"),
        ("EXPLAIN SELECT 1", "explain"),
        ("COPY (SELECT 1) TO STDOUT", "copy"),
    ],
)
def test_sorts(text: str, sort: str) -> None:
    assert split(text)[0].sort == sort


@pytest.mark.parametrize(
    "text", ["DROP TABLE visits", "INSERT INTO visits VALUES (1)", "CREATE TABLE x(a int)", "DO $$ $$", "VACUUM", "CALL f()", "=1"]
)
def test_nothing_can_be_changed(text: str) -> None:
    with pytest.raises(Failure) as error:
        _ = split(text)[0].sort
    assert error.value.state == "0A000"


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("SELECT 1", {}),
        ("/* epsilon=0.1 */ SELECT 1", {"epsilon": "0.1"}),
        ("SELECT 1 -- epsilon = 1/10, delta = 1e-7", {"epsilon": "0.1", "delta": "0.0000001"}),
        ("SELECT 1 /* EPSILON=0.1; confidence=0.9 */", {"epsilon": "0.1", "confidence": "0.9"}),
        ("SELECT 1 -- .5 is ε\n/* epsilon=.5 */", {"epsilon": "0.5"}),
        ("/* Metabase:: userID: 1 */ SELECT 1", {}),
        ("SELECT 1 /* Epsilon=.5 */", {"epsilon": "0.5"}),
        ("SELECT 1; -- epsilon=0.1", {"epsilon": "0.1"}),
        ("SELECT 1 ; /* epsilon=0.1 */ ; SELECT 2 -- epsilon=0.2", {"epsilon": "0.1"}),
        ("SELECT 'epsilon=0.1'", {}),
        ("SELECT epsilon=0.1", {}),
    ],
)
def test_a_price_in_a_comment(text: str, price: dict[str, str]) -> None:
    assert split(text)[0].price() == price


@pytest.mark.parametrize(
    "comment",
    ["/* epsilon=much */", "-- epsilon: 0.1", "/* epsilon=0.1 or less */", "/* epsilon=1 *//* epsilon=2 */"],
)
def test_a_price_that_cannot_be_read_is_not_left_out(comment: str) -> None:
    """Else the price that was set before would be paid instead."""
    with pytest.raises(Failure) as error:
        split(f"SELECT 1 {comment}")[0].price()
    assert error.value.state == "22023"


def test_a_price_that_the_clause_states_too() -> None:
    with pytest.raises(Failure, match="keep one"):
        split("SELECT 1 /* epsilon=0.1 */")[0].price(frozenset({"epsilon"}))


def test_long_texts_are_split_quickly() -> None:
    assert len(split("SELECT 1;" * 20_000)) == 20_000
    assert len(split("'" + "x" * 500_000)) == 1
    assert len(split("/*" * 200_000)) == 1
    assert len(split("SELECT 1" + ";/**/" * 100_000)) == 1
