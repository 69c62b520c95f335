"""OVER on the aggregates of a grouped question, and its refusals."""

from __future__ import annotations

import re

import pytest
from query.sql.clinic import CATALOG, shown

from discreet.errors import Refused
from discreet.query.sql.read import read

FRAMES = [
    ("", None),
    ("ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", (None, 0)),
    ("ROWS 2 PRECEDING", (-2, 0)),
    ("ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", (-1, 1)),
    ("ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", (0, None)),
    ("RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW", None),
    ("RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", (None, None)),
]


@pytest.mark.parametrize(("text", "frame"), FRAMES)
def test_frames(text: str, frame: tuple[int | None, int | None] | None) -> None:
    question = read(f"SELECT dept, SUM(COUNT(*)) OVER (ORDER BY dept {text}) AS s FROM visits GROUP BY dept", CATALOG)
    [(_, window)] = question.windows
    assert window.frame == frame


def test_equal_windows_are_one() -> None:
    total = "SUM(COUNT(*)) OVER ()"
    text = f"SELECT dept, COUNT(*) / {total} AS a, {total} AS b FROM visits GROUP BY dept ORDER BY {total}"
    assert len(read(text, CATALOG).windows) == 1


def test_a_window_reads_outputs_by_name() -> None:
    by_name = read("SELECT dept, COUNT(*) AS n, LAG(n) OVER (ORDER BY n DESC) AS before FROM visits GROUP BY dept", CATALOG)
    written = read("SELECT dept, COUNT(*) AS n, LAG(COUNT(*)) OVER (ORDER BY COUNT(*) DESC) AS before FROM visits GROUP BY dept", CATALOG)
    assert by_name == written


RAW = [
    "COUNT(*) OVER ()",
    "COUNT(*) OVER (PARTITION BY dept)",
    "ROW_NUMBER() OVER (PARTITION BY dept ORDER BY cost)",
    "AVG(cost) OVER (PARTITION BY dept)",
]


@pytest.mark.parametrize("text", RAW)
def test_a_window_over_raw_rows_is_refused_with_a_question_that_works(text: str) -> None:
    with pytest.raises(Refused) as caught:
        read(f"SELECT person_id, {text} FROM visits", CATALOG)
    instead = re.fullmatch(r".*; write (SELECT .*)", str(caught.value))
    assert instead is not None
    assert shown(read(instead.group(1), CATALOG)).startswith("visits")


@pytest.mark.parametrize(
    "text",
    [
        "LAG(COUNT(*), quantity) OVER (ORDER BY dept)",
        "LAG(COUNT(*)) OVER ()",
        "LAG(COUNT(*), 1, 'none') OVER (ORDER BY dept)",
        "LAG(COUNT(*), 1, 'none') OVER (ORDER BY dept) * 3000000000",
        "LAG(dept, 1, 0) OVER (ORDER BY dept)",
        "NTILE(0) OVER (ORDER BY dept)",
        "SUM(dept) OVER ()",
        "SUM(SUM(COUNT(*)) OVER ()) OVER ()",
        "SUM(COUNT(*)) OVER (ORDER BY dept GROUPS 1 PRECEDING)",
        "SUM(COUNT(*)) OVER (ORDER BY 1)",
        "SUM(COUNT(*)) OVER w",
        "NTH_VALUE(COUNT(*), 2) OVER (ORDER BY dept)",
        "SUM(COUNT(*)) FILTER (WHERE urgent) OVER ()",
    ],
)
def test_other_windows_are_refused(text: str) -> None:
    with pytest.raises(Refused):
        read(f"SELECT dept, {text} AS x FROM visits GROUP BY dept", CATALOG)
