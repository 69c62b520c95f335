"""Requests as JSON: what is sent is read back as it was, and nothing but building calls is accepted."""

from __future__ import annotations

import datetime
import json
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import Invalid
from discreet.session.remote.wire import FIRST, Chain, builder_methods, plain, value

VALUES: list[Any] = [
    None, True, 3, -2.5, "text", "$fraction", Fraction(1, 3), datetime.date(2026, 1, 31), datetime.datetime(2026, 1, 31, 12, 30),
    [1, [2, "x"]], (30, 39), [(1, 2), [1, 2]], {"a": {"b": (1,)}}, {1: "x", (1, 2): "y"}, {"$date": "x"}, math.inf, -math.inf,
]  # fmt: skip


@pytest.mark.parametrize("one", VALUES, ids=repr)
def test_what_is_sent_is_read_back(one: Any) -> None:
    sent = json.loads(json.dumps(plain(one), allow_nan=False))
    assert value(sent) == one
    assert type(value(sent)) is type(one)


def test_numbers_stay_exact_and_nan_stays_nan() -> None:
    assert value(plain(Decimal("0.1"))) == Fraction(1, 10)
    assert math.isnan(value(plain(math.nan)))
    assert sorted(value(plain({3, 1}))) == [1, 3]


@pytest.mark.parametrize(
    "one", [len, object(), b"bytes", [lambda x: x], {"a": set}], ids=["function", "object", "bytes", "lambda", "class"]
)
def test_what_cannot_be_sent_says_so(one: Any) -> None:
    with pytest.raises(Invalid, match="cannot be sent to a server"):
        plain(one)


def test_deep_values_are_refused_both_ways() -> None:
    deep: Any = []
    for _ in range(50):
        deep = [deep]
    for act in (plain, value):
        with pytest.raises(Invalid):
            act(deep)


def test_chains_are_read_back_and_shown_as_typed() -> None:
    other = Chain((("table", ("people",), {}),))
    chain = Chain((("table", ("visits",), {}),)).then("join", other, on=("id", "person")).then("count", name="n")
    sent = json.loads(json.dumps(chain.to_json()))
    assert Chain.from_json(sent) == chain
    assert repr(chain) == "table('visits').join(table('people'), on=('id', 'person')).count(name='n')"


@pytest.mark.parametrize(
    "said",
    [
        None, [], {}, "sql", [["sql"]], [["sql", {}, []]], [[1, [], {}]], [["close", [], {}]], [["__class__", [], {}]],
        [["table", ["visits"], {}], ["release", [], {}]], [["table", ["visits"], {}], ["sql", ["x"], {}]],
        [["table", [{"$chain": [["ledger", [], {}]]}], {}]], [["table", [{"$date": "x"}], {}]], [["table", [{"$fraction": "1/0"}], {}]],
        [["table", [{"$float": "x"}], {}]], [["count", [], {}]] * 2000,
    ],
    ids=repr,
)  # fmt: skip
def test_nothing_else_is_accepted(said: Any) -> None:
    with pytest.raises(Invalid):
        Chain.from_json(said)


def test_no_call_pays_or_closes() -> None:
    assert not (FIRST | builder_methods()) & {"release", "open", "close", "ask", "verify", "ledger", "history", "bias", "refine"}
