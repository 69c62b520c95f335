"""Questions that read a sample look the same on neighbouring tables; with one key, no unit moves their totals more than is paid for."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from attrs import frozen
from gauntlet.test_replay import neighbours, problems

from discreet.engines.engine import SentTable
from discreet.run import execute
from discreet.tables.kind import Kind

QUESTIONS = [
    "SELECT dept, COUNT(*) AS n, SUM(cost) AS s, AVG(cost) AS m FROM visits GROUP BY dept",
    "SELECT COUNT(DISTINCT pid) AS p, SUM(cost) / COUNT(*) AS r FROM visits WHERE age > 10",
]


@frozen
class Sampled:
    """One question on a sample."""

    text: str
    adjacency: str
    contributions: dict[str, int]

    def __call__(self, session: Any) -> Any:
        return session.sql(self.text, contributions=self.contributions, sample=0.5).release(epsilon=2, delta="0.001")


@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
@pytest.mark.parametrize("number", range(len(QUESTIONS)))
def test_samples(number: int, adjacency: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "draw_key", lambda: SentTable("__sample", (("k", Kind.TEXT, (f"{number:032x}",)),)))
    wrong: list[str] = []
    for place, limits in enumerate([{"rows": 3}, {"groups": 2, "per_group": 3}]):
        asked: Any = Sampled(QUESTIONS[number], adjacency, limits)
        ran, answered, found = problems(place, asked, neighbours(place, asked)[:3], Fraction(1, 2))
        wrong += found
        assert (ran, answered) == (3, 3)
    assert not wrong, "\n".join(wrong[:20])
