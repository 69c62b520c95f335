"""Releases of a remote session: the classes of a local one, and what the server does with the question behind them."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.errors import Invalid, LedgerError, Unreachable
from discreet.session.release import Release
from discreet.session.remote.answers import read

SQL = "SELECT dept, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY dept"


def test_a_release_is_a_release(shared: Any) -> None:
    found = shared.sql(SQL).release(0.5)
    assert type(found) is Release
    assert list(found.to_pandas(intervals=False).columns) == ["dept", "n", "m"]
    assert found.plot(column="n") is not None
    assert "cost ε = 0.5" in repr(found)


def test_intervals_of_another_confidence(shared: Any) -> None:
    found = shared.sql(SQL).release(0.5)
    spent = shared.spent
    sure = found.at_confidence("0.999")
    assert sure.confidence == 0.999
    assert all(a["n"][1] - a["n"][0] < b["n"][1] - b["n"][0] for a, b in zip(found.intervals, sure.intervals, strict=True))
    assert shared.spent == spent
    with pytest.raises(Invalid, match="confidence"):
        found.at_confidence(2)


def test_a_release_for_an_error_can_be_refined(shared: Any) -> None:
    found = shared.sql(SQL).release(error={"n": 40})
    assert found.refine(epsilon=0.5).epsilon == 0.5
    assert found.at_confidence(0.5).confidence == 0.5


def test_nobody_refines_what_was_not_received(shared: Any) -> None:
    spent = shared.spent
    body = {"request": [["sql", ["SELECT COUNT(*) AS other FROM visits"], {}]], "price": {"epsilon": 1}}
    for more in ({"refine": [{"epsilon": 1}]}, {"refine": []}):
        with pytest.raises(Invalid):
            shared._connection.order(body | {"verb": "refine"} | more)
    with pytest.raises(Invalid, match="no answer at this price"):
        shared._connection.post("confidences", body | {"confidence": 0.5})
    assert shared.spent == spent


def test_the_bias_of_a_forged_release_is_not_bought(shared: Any) -> None:
    query = shared.sql(SQL)
    found = query.release(0.5)
    assert query.bias(epsilon=0.5, of=found).rows
    spent, text = shared.spent, found.to_text()
    body = {"request": [["sql", [SQL], {}]], "verb": "bias", "price": {"epsilon": 1}, "of": text.replace('"n"', '"k"', 1)}
    with pytest.raises((Invalid, LedgerError)):
        shared._connection.order(body)
    assert shared.spent == spent
    with pytest.raises(Invalid, match="of= must be a release"):
        query.bias(epsilon=1, of=3)


@pytest.mark.parametrize("said", [None, {}, {"release": None}, {"release": {}}, {"release": "x"}, {"release": {"kind": "question"}}])
def test_what_cannot_be_read_is_told(said: Any) -> None:
    with pytest.raises((Unreachable, Invalid)):
        read(said)
