"""Refusals of columns that identify units: they name the column, the reason and a line that works."""

from __future__ import annotations

import tomllib

from discreet.engines.identity import declare_object_type, declare_type, identity_refused, use_normalized_view
from discreet.errors import EngineError


def test_a_refusal_says_what_why_and_what_to_do() -> None:
    error = identity_refused("visits", "id", "decimals are read as the nearest floats", declare_type("id"))
    assert isinstance(error, EngineError)
    assert str(error) == (
        'visits: id identifies units, and decimals are read as the nearest floats: declare its type, columns={"id": "text"} '
        '(in discreet.toml: type = "text")'
    )


def test_the_advised_lines_are_valid() -> None:
    advice = declare_type("id", "timestamp")
    assert tomllib.loads(advice.split("discreet.toml: ")[1].rstrip(")")) == {"type": "timestamp"}
    assert 'columns={"id": "text"}' in declare_object_type("id")
    assert 'frame["id"].astype(str)' in declare_object_type("id")
    assert use_normalized_view("lower(id)").endswith("for example with lower(id)")
