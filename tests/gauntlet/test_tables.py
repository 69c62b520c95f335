"""Grouping sets and batches look the same on neighbouring tables, and no unit moves a table more than is paid for."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import frozen
from gauntlet.questions import Asked
from gauntlet.test_replay import neighbours, problems

SETS = [
    "SELECT dept, urgent, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY CUBE (dept, urgent)",
    "SELECT dept, site, AVG(cost) AS m, VARIANCE(age) AS v FROM visits GROUP BY ROLLUP (dept, site)",
    "SELECT region, site, COUNT(*) AS n FROM visits JOIN sites ON site = id GROUP BY ROLLUP (region, site) HAVING COUNT(*) > 3",
    "SELECT dept, urgent, COUNT(DISTINCT pid) AS p, MEDIAN(cost) AS q FROM visits GROUP BY GROUPING SETS ((dept), (urgent), ())",
    "SELECT sex, COUNT(*) AS n, GROUPING(sex) AS g FROM people GROUP BY ROLLUP (sex)",
]
FOUND = [  # towns and codes are not declared
    "SELECT town, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ROLLUP (town)",
    "SELECT town, code, COUNT(*) AS n FROM visits GROUP BY ROLLUP (town, code) HAVING COUNT(*) > 2",
    "SELECT town, dept, code, COUNT(*) AS n FROM visits GROUP BY CUBE (town, dept), ROLLUP (code)",
    "SELECT dept, town, AVG(cost) AS m FROM visits GROUP BY ROLLUP (dept, town)",
    "SELECT town, SUM(free) AS s FROM visits GROUP BY GROUPING SETS ((town), ())",
    "SELECT town, code, COUNT(DISTINCT pid) AS p, COUNT(DISTINCT site) AS d FROM visits GROUP BY ROLLUP (town, code)",
    "SELECT town, code, MEDIAN(cost) AS q, MODE(dept) AS m, COUNT(*) AS n FROM visits GROUP BY CUBE (town, code)",
]
LIMITS: list[dict[str, int] | None] = [None, {"rows": 3}, {"groups": 2, "per_group": 3}]


@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
@pytest.mark.parametrize("number", range(len(SETS)))
def test_grouping_sets(number: int, adjacency: str) -> None:
    wrong, answers = [], 0
    for place, limits in enumerate(LIMITS):
        asked = Asked(SETS[number], None if "people" in SETS[number] else limits, ("0.001", "0")[place % 2], adjacency, place == 1)
        ran, answered, found = problems(number, asked, neighbours(number + place, asked)[:3])
        wrong, answers = wrong + found, answers + answered
        assert ran == 3
    assert not wrong, "\n".join(wrong[:20])
    assert answers


@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
@pytest.mark.parametrize("number", range(len(FOUND)))
def test_grouping_sets_over_keys_that_are_found(number: int, adjacency: str) -> None:
    wrong, answers = [], 0
    crowd = [("base", "base+everywhere")] if adjacency == "add/remove" else [("base+edges", "base+everywhere")]
    for place, limits in enumerate(LIMITS):
        asked = Asked(FOUND[number], limits, "0.001", adjacency)
        _, answered, found = problems(number, asked, [*neighbours(number + place, asked)[:2], *crowd])
        wrong, answers = wrong + found, answers + answered
    assert not wrong, "\n".join(wrong[:20])
    assert answers or "free" in FOUND[number]  # whose range these tables are too small for


@frozen
class Batch:
    """Several questions at once."""

    adjacency: str
    delta: str
    contributions: dict[str, int]

    def __call__(self, session: Any) -> Any:
        texts = [
            "SELECT COUNT(*) AS n, AVG(cost) AS m FROM visits",
            "SELECT dept, SUM(cost) AS s FROM visits GROUP BY dept",
            "SELECT urgent, dept, COUNT(*) AS n FROM visits GROUP BY urgent, dept",
            "SELECT site, MEDIAN(cost) AS q FROM visits GROUP BY site",
            "SELECT COUNT(*) AS n FROM visits WHERE cost > 10",
            "SELECT town, COUNT(*) AS n FROM visits GROUP BY town",
        ]
        questions = [session.sql(text, contributions=self.contributions) for text in texts[: None if self.delta != "0" else 5]]
        cube = "SELECT dept, urgent, COUNT(*) AS n, SUM(cost) AS s, GROUPING(dept) AS g FROM visits GROUP BY CUBE (dept, urgent)"
        questions += [
            session.sql(cube, contributions=self.contributions, other=other, minimise=goal)
            for other, goal in ((True, None), (True, {"": 10}), (False, "worst"))
        ]
        return session.batch(questions, 8, self.delta)


@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
@pytest.mark.parametrize("delta", ["0", "0.001"])
def test_batches(adjacency: str, delta: str) -> None:
    wrong = []
    for place, limits in enumerate(LIMITS[1:]):
        asked: Any = Batch(adjacency, delta, limits or {})
        ran, answered, found = problems(place, asked, neighbours(place, asked)[:3])
        wrong += found
        assert (ran, answered) == (3, 3)
    assert not wrong, "\n".join(wrong[:20])
