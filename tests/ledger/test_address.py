"""The address of a shared ledger, and the name in it."""

from __future__ import annotations

import pytest

from discreet.errors import Invalid
from discreet.ledger.address import split_address


@pytest.mark.parametrize(
    ("address", "rest", "schema"),
    [
        ("postgresql://h/d", "postgresql://h/d", "discreet_ledger"),
        ("postgresql://h/d?ledger=a", "postgresql://h/d", "discreet_a"),
        ("postgresql://u:p%3Fq@h/d?a=1&ledger=a_2&b=%26", "postgresql://u:p%3Fq@h/d?a=1&b=%26", "discreet_a_2"),
    ],
)
def test_a_ledger_s_name_is_taken_out_of_its_address(address: str, rest: str, schema: str) -> None:
    assert split_address(address) == (rest, schema)


@pytest.mark.parametrize("name", ["", "A", "1a", "a-b", "a;b", 'a"b', "a%22b", "ä", "a" * 41, "a&ledger=b"])
def test_odd_names_are_refused(name: str) -> None:
    with pytest.raises(Invalid, match="lower-case letters"):
        split_address(f"postgresql://h/d?ledger={name}")
