"""GROUP BY ROLLUP, CUBE and GROUPING SETS: which keys each set has."""

from __future__ import annotations

import pytest
from query.sql.clinic import CATALOG

from discreet.errors import Refused
from discreet.query.question import Question
from discreet.query.relation.expr import Column
from discreet.query.sql.read import read


def ask(group: str, shown: str = "COUNT(*) AS n") -> Question:
    return read(f"SELECT {shown} FROM visits GROUP BY {group}", CATALOG)


def sets(question: Question) -> list[str]:
    return [" ".join(question.keys[place][0] for place in places) for places in question.sets]


@pytest.mark.parametrize(
    ("group", "found"),
    [
        ("ROLLUP (dept, urgent)", ["dept urgent", "dept", ""]),
        ("CUBE (dept, urgent)", ["dept urgent", "dept", "urgent", ""]),
        ("GROUPING SETS ((dept, urgent), dept, ())", ["dept urgent", "dept", ""]),
        ("GROUPING SETS ((dept), (urgent))", ["dept", "urgent"]),
        ("site_id, ROLLUP (dept)", ["site_id dept", "site_id"]),
        ("ROLLUP (dept), ROLLUP (urgent)", ["dept urgent", "dept", "urgent", ""]),
        ("ROLLUP ((dept, urgent), site_id)", ["dept urgent site_id", "dept urgent", ""]),
        ("GROUPING SETS (ROLLUP (dept), CUBE (urgent))", ["dept", "", "urgent"]),
        ("CUBE (dept, dept)", ["dept", ""]),
        ("(dept, urgent)", []),
        ("GROUPING SETS ((dept))", []),
        ("GROUPING SETS (())", []),
        ("ROLLUP (dept), dept", []),
    ],
)
def test_sets(group: str, found: list[str]) -> None:
    assert sets(ask(group)) == found


def test_a_single_set_is_an_ordinary_question() -> None:
    assert ask("GROUPING SETS ((dept, urgent))") == ask("dept, urgent")
    assert ask("GROUPING SETS (())").keys == ()


def test_positions_and_aliases() -> None:
    assert sets(ask("ROLLUP (1, 2)", "dept, urgent, COUNT(*)")) == ["dept urgent", "dept", ""]
    assert sets(ask("ROLLUP (ward)", "dept AS ward, COUNT(*)")) == ["ward", ""]


def test_grouping_is_a_bit_for_each_key() -> None:
    question = ask("CUBE (dept, urgent)", "GROUPING(dept) AS d, GROUPING(dept, urgent) AS both, COUNT(*) AS n")
    outputs = dict(question.outputs)
    assert outputs["d"] == Column("__grouping(dept)")
    assert ask("dept", "GROUPING(dept) AS d, COUNT(*) AS n").outputs[0][1] != Column("__grouping(dept)")  # it is always 0


@pytest.mark.parametrize("word", ["ROLLUP", "CUBE"])
def test_mysql_spelling_says_how_to_write_it(word: str) -> None:
    with pytest.raises(Refused, match=rf"WITH {word} is not supported; write GROUP BY {word}\(dept, urgent\)$"):
        ask(f"dept, urgent WITH {word}")


def test_an_output_that_hides_its_key_is_to_be_renamed() -> None:
    with pytest.raises(Refused, match="give the output another name"):
        ask("ROLLUP (dept)", "CASE WHEN GROUPING(dept) = 1 THEN 'all' ELSE dept END AS dept, COUNT(*) AS n")


def test_default_names() -> None:
    assert [name for name, _ in ask("ROLLUP (dept)", "dept, GROUPING(dept), COUNT(*)").outputs] == ["dept", "grouping", "count"]


def test_questions_without_sets_keep_their_digests() -> None:
    from discreet.query.canonical import plain

    assert "sets" not in plain(ask("dept"))
    assert "sets" in plain(ask("ROLLUP (dept)"))
