"""More of an answer: refinements are bought, combined, repeated for nothing; other confidences are free."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from session.served import policy, remote_session

from discreet.errors import BudgetExceeded, Invalid, Refused
from discreet.session.connect import connect
from discreet.session.release import Release
from discreet.session.session import Session

ROWS = 6000
TABLE = pa.table(
    {"id": [i // 2 for i in range(ROWS)], "g": ["abc"[i % 3] for i in range(ROWS)], "x": [float(i % 100) for i in range(ROWS)]}
)
TEXT = "SELECT g, COUNT(*) AS n, AVG(x) AS m, SUM(x) / COUNT(*) AS r FROM t GROUP BY g HAVING n > 100 ORDER BY n DESC LIMIT 3"


def opened(ledger: str = ":memory:", epsilon: int = 20, **more: object) -> Session:
    return connect({"t": TABLE}, unit="id", epsilon=epsilon, delta=1e-6, ledger=ledger, **more)  # type: ignore[arg-type]


@pytest.fixture(params=["local", "remote"])
def anywhere(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Sessions here, or on a server."""
    if request.param == "local":
        return opened
    return lambda **more: remote_session({"t": TABLE}, policy("t", **({"unit": "id", "epsilon": 20, "delta": 1e-6} | more)))


def widths(release: Release, name: str) -> list[float]:
    return [(ends[name][1] - ends[name][0]) / 2 for ends in release.intervals]


def test_a_refinement_is_paid_combined_and_free_again(tmp_path: Path) -> None:
    place = str(tmp_path / "t.ledger")
    with opened(place) as db:
        first = db.ask(TEXT, epsilon=1)
        second = first.refine(epsilon=1)
        assert db.spent.epsilon == 2
        assert second.epsilon == 1
        assert sorted(row["g"] for row in second) == sorted(row["g"] for row in first)
        for name in ("n", "m", "r"):
            assert max(widths(second, name)) < min(widths(first, name))  # nothing is discovered again: more than twice as much
        assert second.receipt.request["refines"] == first.receipt.without_entries().to_json()["hash"]
        assert second.receipt.discovered == first.receipt.discovered
        assert "combined with an earlier answer, which cost" in str(second)
        again = first.refine(epsilon=1)
        assert again.repeated
        assert again.rows == second.rows
        assert db.spent.epsilon == 2
        third = second.refine(epsilon=2)
        assert max(widths(third, "m")) < min(widths(second, "m"))
        assert db.spent.epsilon == 4
        for one in (first, second, third):
            db.verify(one)
        third.save(tmp_path / "third.json")
        db.verify(Release.open(tmp_path / "third.json"))
    with opened(place) as db:  # another process
        assert db.ask(TEXT, epsilon=1).refine(epsilon=1).rows == second.rows
        assert db.spent.epsilon == 4


def test_refinements_of_refinements(anywhere: Callable[..., Any]) -> None:
    with anywhere() as db:
        first = db.ask(TEXT, epsilon=1)
        second = first.refine(epsilon=1)
        third = second.refine(epsilon=2)
        assert max(widths(third, "m")) < min(widths(second, "m")) < min(widths(first, "m"))
        assert third.receipt.request["refines"] == second.receipt.without_entries().to_json()["hash"]
        again = first.refine(epsilon=1)
        assert (again.rows, again.repeated, first.repeated) == (second.rows, True, False)
        assert db.ask(TEXT, epsilon=1).refine(epsilon=1).refine(epsilon=2).rows == third.rows
        assert third.at_confidence(0.5).confidence == 0.5
        assert db.spent.epsilon == 4
        for one in (first, second, third):
            db.verify(one)


@pytest.mark.slow
def test_combined_intervals_cover_the_truth() -> None:
    covered = squares = 0.0
    with opened(epsilon=10**6, contributions={"rows": 2}) as db:
        for number in range(300):
            first = db.ask(f"SELECT COUNT(*) AS n FROM t WHERE x > -{number + 1}", epsilon=1, delta=0)
            found = first.refine(epsilon=2)
            low, high = found.intervals[0]["n"]
            covered += low <= ROWS <= high
            squares += (found.rows[0]["n"] - ROWS) ** 2
    # scales 2 and 1 combine to variance 8·2/(8 + 2) = 1.6; a binomial of 300 and 0.95 is below 255 with probability 1e-11
    assert covered >= 255
    assert 0.8 < squares / 300 < 3.2


def test_a_count_stays_whole(anywhere: Callable[..., Any]) -> None:
    with anywhere() as db:
        found = db.ask("SELECT COUNT(DISTINCT id) AS n FROM t", epsilon=1).refine(epsilon="1/3")
        assert isinstance(found.rows[0]["n"], int)


def test_another_confidence_is_free_and_verified_as_it_was_paid(tmp_path: Path, anywhere: Callable[..., Any]) -> None:
    with anywhere() as db:
        first = db.ask(TEXT, epsilon=1)
        sure = first.at_confidence(0.99)
        assert sure.confidence == 0.99
        assert "99 % interval" in str(sure)
        assert sure.rows == first.rows
        assert all(b > 1.2 * a for a, b in zip(widths(first, "m"), widths(sure, "m"), strict=True))
        back = sure.at_confidence(0.95)
        assert back.intervals == first.intervals
        assert db.spent.epsilon == 1
        db.verify(sure)
        sure.save(tmp_path / "a.json")
        assert Release.open(tmp_path / "a.json").confidence == 0.95
        assert sure.refine(epsilon=1).rows == first.refine(epsilon=1).rows


def test_choices_are_refused_with_what_to_do(anywhere: Callable[..., Any]) -> None:
    with anywhere(bounds={"x": (0, 100)}) as db:
        chosen = db.ask("SELECT MEDIAN(x) AS m, COUNT(*) AS n FROM t", epsilon=1)
        with pytest.raises(Refused, match=r"m: a value that was chosen .* ask anew at a larger epsilon"):
            chosen.refine(epsilon=1)
        with pytest.raises(Refused, match="fixed when it was paid for"):
            chosen.at_confidence(0.99)
        assert db.spent.epsilon == 1


def test_without_its_session_nothing_can_be_added(tmp_path: Path, anywhere: Callable[..., Any]) -> None:
    with anywhere() as db:
        first = db.ask(TEXT, epsilon=1)
        with pytest.raises(BudgetExceeded):
            first.refine(epsilon=30)
        first.save(tmp_path / "a.json")
        read = Release.open(tmp_path / "a.json")
        for more in (lambda: read.refine(epsilon=1), lambda: read.at_confidence(0.9)):
            with pytest.raises(Refused, match="ask its question by itself in a session, which is free"):
                more()
        with pytest.raises(Refused, match="dry run"):
            db.sql(TEXT).dry_run().refine(epsilon=1)
        assert db.spent.epsilon == 1


def test_a_copy_is_as_one_that_was_read_from_a_file(anywhere: Callable[..., Any]) -> None:
    with anywhere() as db:
        first = db.ask(TEXT, epsilon=1)
        for other in (copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
            assert other.rows == first.rows
            db.verify(other)
            with pytest.raises(Refused, match="ask its question by itself in a session"):
                other.refine(epsilon=1)
        db.close()
        assert first.at_confidence(0.5).rows == first.rows  # the session is not needed for that
        with pytest.raises(Invalid, match="closed"):
            first.refine(epsilon=1)
