"""Notes that follow from a plan, and from what is shown."""

from __future__ import annotations

from typing import Any

import pytest
from plan.questions import catalog, steps

from discreet.run.output_column import OutputColumn
from discreet.run.remarks import release_notes


def notes(text: str, values: list[Any]) -> tuple[str, ...]:
    return release_notes(steps(text, catalog({"rows": 1})), [OutputColumn("m", values)])


def test_a_quantile_has_an_interval_and_no_note() -> None:
    assert notes("SELECT MEDIAN(x) AS m FROM t", [5.0]) == ()


@pytest.mark.parametrize(("values", "begins"), [(["a"], "m has at most"), (["a", None], "where it is shown, m has at most")])
def test_a_mode_states_its_votes(values: list[Any], begins: str) -> None:
    (note,) = notes("SELECT MODE(dept) AS m FROM t", values)
    assert note.startswith(begins)
    assert "votes fewer than the most popular value" in note


@pytest.mark.parametrize("values", [[None], [None, None], []])
def test_of_a_mode_that_is_not_shown_nothing_is_said_about_votes(values: list[Any]) -> None:
    """'too few' says why there is no value; a number of votes would be of nothing."""
    assert notes("SELECT MODE(dept) AS m FROM t", values) == ()
