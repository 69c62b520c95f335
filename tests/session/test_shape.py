"""The shape of saved values: what a release can hold passes, anything else is refused."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from attrs import evolve

from discreet.run.output_column import OutputColumn
from discreet.session.shape import check_cells, check_columns, check_texts, is_amount, is_number, numbers, text, whole

DAY, MOMENT = datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1)
KEY = OutputColumn("town", ["York", None])
COUNT = OutputColumn("n", [3, 4.5], [-3, 4.5], [1.0, None], 0, None)


@pytest.mark.parametrize("value", [0, -1, 2**64, 1e308])
def test_numbers(value: Any) -> None:
    assert is_number(value)
    assert numbers([value]) == [value]
    assert is_amount(value) == (value >= 0)


@pytest.mark.parametrize("value", [True, None, "1", 10**400, float("nan"), float("inf"), [[1]], {}])
def test_what_is_no_number(value: Any) -> None:
    assert not is_number(value)
    for read in (lambda one: numbers([one]), numbers, lambda one: whole(one, 0, 10)):
        with pytest.raises(ValueError, match="shape"):
            read(value)


def test_whole_numbers_have_ends() -> None:
    assert whole(3, 3, 3) == 3
    for wrong in (2, 4, 3.0):
        with pytest.raises(ValueError, match="shape"):
            whole(wrong, 3, 3)
    with pytest.raises(ValueError, match="shape"):
        text(3)


def test_texts_can_be_written_into_a_file() -> None:
    check_texts({"a": ["x", {"é": None}], "b": 1})
    for wrong in ("\ud800", {"\ud800": 1}, [{"a": ["\udfff"]}]):
        with pytest.raises(UnicodeEncodeError):
            check_texts(wrong)


@pytest.mark.parametrize("values", [[], [None], ["a", None], [1, 2.5], [True, False], [DAY], [MOMENT], [DAY, "(other)"]])
def test_cells_of_one_type(values: Any) -> None:
    check_cells(values, besides="(other)")


@pytest.mark.parametrize("values", [None, "ab", [1, "a"], [True, 1], [DAY, MOMENT], [MOMENT.astimezone(datetime.UTC)], [[1]], [{}]])
def test_cells_that_no_frame_can_hold(values: Any) -> None:
    with pytest.raises(ValueError, match="shape"):
        check_cells(values, besides="(other)")


def test_columns() -> None:
    check_columns([KEY, COUNT])
    check_columns([evolve(COUNT, widths=0.5)])
    check_columns([])


@pytest.mark.parametrize(
    "changed",
    [
        {"name": 3},
        {"name": "town"},
        {"values": [3]},
        {"values": ["x", "y"]},
        {"raw": [1]},
        {"raw": [1, "x"]},
        {"raw": 3},
        {"widths": [1.0]},
        {"widths": [1.0, -1.0]},
        {"widths": -1},
        {"widths": "x"},
        {"least": "0"},
        {"most": True},
        {"drawn": "pie"},
    ],
)
def test_columns_whose_parts_do_not_fit(changed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="shape"):
        check_columns([KEY, evolve(COUNT, **changed)])


RANKED = OutputColumn("m", [3.5, None], drawn="point", ends=[[1, 4.0], None])


def test_ends_that_a_mechanism_chose() -> None:
    check_columns([RANKED])
    for wrong in (
        evolve(RANKED, ends=[[1, 4.0]]),
        evolve(RANKED, ends=[[4, 1.0], None]),
        evolve(RANKED, ends=[[1, None], None]),
        evolve(RANKED, ends=[[1], None]),
        evolve(RANKED, ends="ab"),
        evolve(RANKED, widths=1.0),
        evolve(RANKED, values=["a", None]),
    ):
        with pytest.raises(ValueError, match="shape"):
            check_columns([wrong])
