"""What agents are shown: data lies under `data`, on one line, cut where it is long."""

from __future__ import annotations

import datetime
import json
from fractions import Fraction

from discreet.agents.shown import NOTE, described, history, plain, text, value


def test_texts_stay_on_their_line_and_are_cut() -> None:
    assert text("a\nb\x1b[31m\u202e\u200b") == "a\\nb\\x1b[31m\\u202e\\u200b"
    assert text("x" * 300) == "x" * 200 + "…"
    assert len(text("\n" * 300)) == 201
    assert text("x" * 200) == "x" * 200


def test_values_are_plain() -> None:
    given = [None, True, 1, 0.5, float("inf"), float("nan"), Fraction(1, 2), datetime.date(2026, 1, 2), "a\tb"]
    assert [value(one) for one in given] == [None, True, 1, 0.5, None, None, 0.5, "2026-01-02", "a\\tb"]
    json.dumps(plain({"a": {10: (1, "x\ny")}}), allow_nan=False)
    assert plain({"a\n": {10: (1, "x\ny")}}) == {"a\\n": {"10": [1, "x\\ny"]}}


def test_keys_are_cut_and_counted() -> None:
    column = {"name": "dept\n", "type": "text", "bounds": None, "keys": ["k"] * 150, "more_keys": 5, "nullable": True}
    about = {
        "name": "clinic", "protects": "each person", "adjacency": "add/remove", "examples": [],
        "tables": [{"name": "visits", "private": True, "columns": [column]}],
    }  # fmt: skip
    found = described(about)
    assert found["note"] == NOTE
    told = found["data"]["tables"][0]["columns"][0]
    assert (told["name"], len(told["keys"]), told["more_keys"]) == ("dept\\n", 100, 55)


def test_a_history_shows_the_newest() -> None:
    one = {"at": "2026-01-01T10:00", "epsilon": 0.1, "delta": 0.0, "answered": True, "asked": "SELECT 1\n--"}
    found = history([one] * 60)
    assert (len(found["data"]["purchases"]), found["data"]["earlier"]) == (50, 10)
    assert found["data"]["purchases"][0]["asked"] == "SELECT 1\\n--"
