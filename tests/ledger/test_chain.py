"""Seals and canonical JSON: one text for one value, and a seal for one entry only."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import Invalid
from discreet.ledger import chain

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text() | st.sampled_from(["$float", "$", "$$float"]), inner, max_size=4),
    max_leaves=12,
)


@given(plain)
def test_what_is_written_is_read_back(value: Any) -> None:
    text = chain.write(value)
    assert chain.read(text) == value
    assert chain.write(chain.read(text)) == text
    assert text.isascii()


@given(plain)
def test_no_float_is_written_as_a_number(value: Any) -> None:
    def refuse(text: str) -> None:
        raise AssertionError(text)

    json.loads(chain.write(value), parse_float=refuse, parse_constant=refuse)


def test_an_integer_and_a_float_have_different_names() -> None:
    assert len({chain.digest(value) for value in (1, 1.0, "1", True, [1], {"1": 1}, {"$float": "1.0"})}) == 7


@pytest.mark.parametrize(
    "change", [{"sequence": 2}, {"kind": "release"}, {"text": '{"a":2}'}, {"previous": "1" * 64}, {"hash": "0" * 64}, {"at": "2026"}]
)
def test_a_seal_covers_every_part(change: dict[str, Any]) -> None:
    entry = chain.seal(1, "spend", {"a": 1}, "0" * 64)
    assert entry.sound
    assert not evolve(entry, **change).sound


def test_moving_the_border_between_parts_breaks_the_seal() -> None:
    entry = chain.seal(1, "spend", {"a": ["x", "0" * 64, "y"]}, "0" * 64)
    short, rest = entry.text[: entry.text.index(',"000')], entry.text[entry.text.index('y"') :]
    moved = evolve(entry, text=short, at=f'{rest},"{entry.previous}","{entry.at}')
    assert not moved.sound


def test_a_dict_with_other_keys_than_text_is_refused() -> None:
    with pytest.raises(Invalid, match="text keys"):
        chain.write({1: 2})
