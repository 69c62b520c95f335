"""Notes that follow from a plan."""

from __future__ import annotations

from plan.questions import catalog, steps

from discreet.run.remarks import release_notes


def test_a_quantile_has_an_interval_and_no_note() -> None:
    assert release_notes(steps("SELECT MEDIAN(x) AS m FROM t", catalog({"rows": 1}))) == ()


def test_a_mode_states_its_votes() -> None:
    (note,) = release_notes(steps("SELECT MODE(dept) AS m FROM t", catalog({"rows": 1})))
    assert "votes fewer than the most popular value" in note
