"""Hints name what was probably meant, and stay short."""

from __future__ import annotations

import pytest

from discreet.hints import closest, suggest, suggest_and_list


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("cots", ["cost", "dept"], "cost"),
        ("COST", ["cost", "dept"], "cost"),
        ("ID", ["id"], "id"),
        ("id", ["Id"], "Id"),
        ("x", ["cost", "dept"], None),
        ("cost", [], None),
    ],
)
def test_the_closest_name(name: str, known: list[str], meant: str | None) -> None:
    assert closest(name, known) == meant


def test_likeness_is_a_parameter() -> None:
    assert closest("postgresql", ["postgres"], 0.75) == "postgres"
    assert closest("cost", ["coat"], 0.9) is None
    assert closest("cost", ["coat"], 0.7) == "coat"


def test_a_suggestion_is_one_name_or_a_short_list() -> None:
    assert suggest("budgets", ["budget", "tables"]) == "did you mean budget?"
    assert suggest("x", ["tables"]) == "there is tables"
    assert suggest("x", ["b", "a"]) == "there are a, b"
    assert suggest("x", [f"column {i}" for i in range(13)]) == ""
    assert suggest("x", []) == ""


def test_a_long_list_is_cut() -> None:
    names = [f"column {i:02}" for i in range(23)]
    assert suggest_and_list("zzz", names) == f"there are {', '.join(names[:20])} and 3 more"
    assert suggest_and_list("column 7", names).startswith("did you mean column ")
