"""Problems are collected with their paths, each once, and raised together."""

from __future__ import annotations

import pytest

from discreet.errors import Invalid, PolicyError
from discreet.tables.problems import Problems, hint, subpath


def test_all_problems_are_raised_together_and_each_once() -> None:
    problems = Problems()
    problems.stop()  # nothing to raise
    problems.add("a.b", "is wrong")
    problems.add("a.b", "is wrong")
    problems.add("", "no path")
    with pytest.raises(PolicyError) as caught:
        problems.stop()
    assert str(caught.value) == "a.b: is wrong\nno path"


def test_a_block_records_what_is_invalid_and_nothing_else() -> None:
    problems = Problems()
    with problems.at("x"):
        raise Invalid("bad")
    assert problems.found == ["x: bad"]
    with pytest.raises(KeyError), problems.at("y"):
        raise KeyError


def test_unknown_entries_are_recorded_with_a_suggestion() -> None:
    problems = Problems()
    assert problems.known({"unit": 1, "sorce": 2}, "t", ("unit", "source")) == {"unit": 1}
    assert problems.known(3, "u", ("unit",)) == {}
    assert problems.found == ["t.sorce: is not a known setting; did you mean source?", "u: must be a section with names and values"]


def test_entries_of_a_type() -> None:
    problems = Problems()
    given = {"yes": True, "one": 1, "text": "x", "blank": " ", "number": 3}
    assert problems.boolean(given, "t", "yes", False) is True
    assert problems.boolean(given, "t", "absent", True) is True
    assert problems.boolean(given, "t", "one", False) is False
    assert [problems.text(given, "t", key) for key in ("text", "absent", "blank", "number")] == ["x", None, None, None]
    assert problems.found == ["t.one: must be true or false", "t.blank: must be a non-empty text", "t.number: must be a non-empty text"]


def test_paths_and_hints() -> None:
    assert (subpath("a", "b"), subpath("", "b")) == ("a.b", "b")
    assert hint("cots", ["cost", "dept"]) == "; did you mean cost?"
    assert hint("x", [str(number) for number in range(50)]) == ""
