"""Everything that can be bought, in the one form that the contract looks at."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import polars
from attrs import evolve, frozen
from session.served import remote_session

import discreet
from discreet.ledger.receipt import Kind
from discreet.session.life_cycle import AnyRun

FORMULA = '=HYPERLINK("http://x")'  # a value of the data that a spreadsheet would run
POLICY = """
budget = {{ epsilon = 1000000, delta = 1e-3 }}
[tables.people]
source = "people.parquet"
unit = "id"
one_row_per_unit = true
columns.age.bounds = [0, 99]
columns.town.keys = [{}]
"""
FIRST = datetime.date(2026, 1, 1)


def people() -> polars.DataFrame:
    """900 people, one row each."""
    ids = range(900)
    return polars.DataFrame(
        {
            "id": ids,
            "town": [FORMULA if i % 3 else "York" for i in ids],
            "age": [20 + i % 60 for i in ids],
            "day": [FIRST + datetime.timedelta(days=i % 5) for i in ids],
        }
    )


def session(age: int = 99) -> discreet.Session:
    return discreet.connect(
        {"people": people()}, unit="id", epsilon=10**6, delta=1e-3, bounds={"age": (0, age)}, keys={"town": [FORMULA, "York"]},
        one_row_per_unit=True, ledger=":memory:",
    )  # fmt: skip


def served() -> Any:
    """The same session, behind a server."""
    keys = ", ".join(f"'{key}'" for key in (FORMULA, "York"))
    return remote_session({"people": people()}, POLICY.format(keys))


def graph() -> Any:
    edges = polars.DataFrame({"a": range(200), "b": [(i + 1) % 200 for i in range(200)]})
    return discreet.graph({"friends": edges}, source="a", target="b", protects="edge", epsilon=10**6, ledger=":memory:")


@frozen
class Bought:
    """What was bought: its release, and how the same is asked for again."""

    release: Any
    again: Callable[[], Any]


@frozen
class Thing:
    """One kind of purchase: how its session is opened, what is asked, how it is bought, and what its answer is."""

    kind: Kind
    open: Callable[[], Any]
    request: Callable[[Any, Any], Any]  # of a session, about a table of a session
    buy: Callable[[Any], Bought]
    answer: Callable[[Any], Any]
    epsilon: float = 2
    steps: bool = False  # whether it is paid step by step, or keeps its payment when a run fails
    has_text: bool = False  # whether values of the data are among its rows


def released(request: Any) -> Bought:
    return Bought(request.release(2), lambda: request.release(2))


def days(request: Any) -> Bought:
    feed = request.open(2)
    assert isinstance(feed, AnyRun)
    return Bought(feed.release(until="2026-01-03"), lambda: feed.release(until="2026-01-03"))


def talked(request: Any) -> Bought:
    talk = request.open(2)
    assert isinstance(talk, AnyRun)
    talk.ask({"age": (20, 39)})
    return Bought(talk.release(), lambda: (talk.ask({"age": (20, 39)}), talk.release())[1])


def watched(request: Any) -> Bought:
    stream = request.open(2)
    assert isinstance(stream, AnyRun)
    stream.ask("SELECT COUNT(*) FROM people")
    return Bought(stream.release(), lambda: (stream.ask("SELECT COUNT(*) FROM people"), stream.release())[1])


BATCH = {
    "towns": "SELECT town, COUNT(*) AS n FROM people GROUP BY town",
    "all": "SELECT COUNT(*) AS n, AVG(age) AS m FROM people",
    "ages": "SELECT MEDIAN(age) AS m FROM people",
}
THINGS: dict[str, Thing] = {
    "question": Thing(
        "question", session, lambda db, of: db.table("people").join(of.table("people"), on="id").group_by("town").count()
        if of is not db else db.sql("SELECT town, COUNT(*) AS n FROM people GROUP BY town"),
        lambda request: released(request), lambda release: release.rows, has_text=True,
    ),
    "batch": Thing(
        "batch", session, lambda db, of: db.batch({name: of.sql(text) for name, text in BATCH.items()}), released,
        lambda release: release.rows, has_text=True,
    ),
    "synthetic table": Thing(
        "synthetic table", session, lambda db, of: db.synthesize(of.table("people"), columns=["town", "age"], bins=4), released,
        lambda release: release.rows, has_text=True,
    ),
    "profile": Thing(
        "profile", session, lambda db, of: db.profile("people"), released, lambda release: release.rows, has_text=True,
    ),
    "estimate": Thing(
        "estimate", session, lambda db, of: db.estimate(of.table("people"), "mode", "town"), released, lambda release: release.rows,
        has_text=True,
    ),
    "conversation": Thing(
        "conversation", session, lambda db, of: db.interactive(["age", "town"], accuracy=200, table=of.table("people"), bins=4), talked,
        lambda release: release.rows[-1]["value"], steps=True,
    ),
    "threshold stream": Thing(
        "threshold stream", session, lambda db, of: db.watch(threshold=10**5), watched, lambda release: release.rows[-1]["above"],
        steps=True,
    ),
    "feed": Thing(
        "feed", session, lambda db, of: db.daily(of.table("people"), day="day", start=FIRST, days=5, windows=(2,)), days,
        lambda release: release.rows, steps=True,
    ),
    "graph": Thing("graph", graph, lambda db, of: db.edges(), released, lambda release: release.rows),
}  # fmt: skip
SERVED: dict[str, Thing] = {name: evolve(thing, open=served) for name, thing in THINGS.items() if name != "graph"}  # graphs are local
