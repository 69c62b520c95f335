"""Compact JSON is what `json.dumps` writes, with lists that occur twice written once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from discreet.session import compact_json as module
from discreet.session.compact_json import compact_json

LONG = [*range(500), None, 0.1, -1e300, "é\ud800", True, [1, {"a": ()}]]


@pytest.mark.parametrize(
    "value",
    [
        None,
        "ü",
        [],
        {},
        LONG,
        {"a": LONG, "b": [LONG, [1.0, LONG]], "c": [1.0, True, 1], "d": (1, 2), "e": {"f": {}}},
        {
            "a": list(range(200)),
            "b": [float(i) for i in range(200)],
            "c": [bool(i) for i in range(200)],
        },  # equal, but not as texts
        {1: "keys", None: "that", False: "JSON", 0.5: "has not"},
    ],
)
def test_the_text_is_that_of_json(value: Any) -> None:
    assert compact_json(value) == json.dumps(value, separators=(",", ":"), allow_nan=False)


@pytest.mark.parametrize("value", [float("nan"), [float("inf")], {"a": [float("nan")] * 200}])
def test_what_json_has_not_is_an_error(value: Any) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        compact_json(value)


def test_a_list_that_occurs_twice_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written = []
    monkeypatch.setattr(module, "_ENCODE", lambda value, encode=module._ENCODE: written.append(value) or encode(value))
    compact_json({"values": LONG, "cells": [LONG]})
    assert sum(value is LONG for value in written) == 1
