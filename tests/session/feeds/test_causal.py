"""Tables whose past changes are refused, for a released day would not stay as it was counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars
import pytest
from session.feeds.visits import FIRST, Row, day, values

import discreet
from discreet.errors import Refused
from discreet.session.feeds.feed import Feed
from discreet.session.session import Session

# ── tables whose past changes ────────────────────────────────────────────────────────────────────────────────────────

Tables = tuple[list[Row], list[Row]]


def both(tables: Tables) -> Session:
    """Visits and refunds of the same units, and a public table of kinds."""
    frames = {
        name: polars.DataFrame(
            {"id": [row[0] for row in rows], "d": [day(row[1] or 0) for row in rows], "kind": [row[2] for row in rows]},
            schema={"id": polars.Int64, "d": polars.Date, "kind": polars.Int64},
        )
        for name, rows in zip(("visits", "refunds"), tables, strict=True)
    }
    kinds = polars.DataFrame({"kind": [0, 1, 1], "label": ["a", "b", "c"]})
    return discreet.connect({**frames, "kinds": kinds}, unit="id", public=["kinds"], epsilon=100, delta="1e-3", ledger=":memory:")


REFUSED: dict[str, Any] = {
    "the last day": lambda db: db.table("visits").per_unit(d="MAX(d)"),
    "by kind": lambda db: db.table("visits").per_unit("kind", d="MIN(d)"),
    "not refunded": lambda db: db.table("visits").join(db.table("refunds"), on=["id", "kind"], how="left").where("d_2 IS NULL"),
    "refunded": lambda db: db.table("visits").join(db.table("refunds"), on=["id", "kind"]),
    "beneath": lambda db: db.table("visits").per_unit(d="MAX(d)").where("d IS NOT NULL").with_columns(x="1"),
    "stacked": lambda db: db.table("visits").per_unit(d="MAX(d)").stack(db.table("refunds").per_unit(d="MAX(d)")),
    "behind a public one": lambda db: db.table("visits").join(
        db.table("refunds").join(db.table("kinds"), on="kind"), on=["id", "kind"], how="left"
    ),
}
ACCEPTED: dict[str, Any] = {
    "itself": lambda db: db.table("visits"),
    "with a public one": lambda db: db.table("visits").join(db.table("kinds"), on="kind"),
    "left with a public one": lambda db: db.table("visits").join(db.table("kinds"), on="kind", how="left").where("label IS NULL"),
    "stacked": lambda db: db.table("visits").stack(db.table("refunds")),
}


def feed_over(db: Session, asked: Any) -> Feed:
    return db.daily(asked(db), day="d", start=FIRST, days=8, epsilon=1, delta=0, per_day=2, active_days=2)


@pytest.mark.parametrize("asked", REFUSED.values(), ids=REFUSED)
def test_tables_whose_past_changes_are_refused(asked: Any) -> None:
    with both(([], [])) as db:
        with pytest.raises(Refused, match=r"later rows would change days that were released\. Ask the table"):
            feed_over(db, asked)
        assert db.spent.epsilon == 0


def grows_into_another_past(asked: Any) -> bool:
    """Whether rows of later days, as they are appended evening by evening, ever change a day that is over; for random tables."""
    choose = np.random.default_rng(4)
    for _ in range(6):
        whole = [[(int(choose.integers(0, 3)), int(choose.integers(0, 8)), int(choose.integers(0, 3))) for _ in range(15)] for _ in "ab"]
        before: list[int] = []
        for evening in range(8):
            visits, refunds = ([row for row in rows if row[1] <= evening] for rows in whole)
            with both((visits, refunds)) as db:  # type: ignore[arg-type]
                counted = values(feed_over(db, asked), evening + 1)
            if counted[:evening] != before:
                return True
            before = counted
    return False


@pytest.mark.parametrize("asked", ACCEPTED.values(), ids=ACCEPTED)
def test_tables_that_only_grow_keep_their_past(asked: Any) -> None:
    assert not grows_into_another_past(asked)


@pytest.mark.parametrize("name", ["the last day", "not refunded"])
def test_without_the_refusal_the_past_changes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.session.feeds.totals.check_causal", lambda _: None)
    assert grows_into_another_past(REFUSED[name])
