"""Files that somebody forged and sealed again: each is refused when it is opened, or everything that can be done with a release works."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from session.contract.contract import sealed
from session.contract.things import FIRST, THINGS, graph, people, session

import discreet
from discreet.errors import Error
from discreet.session.saved import open_release

MUTATIONS, MORE = 60, 300  # of each file; in the slow suite
NAN = float("nan")
JUNK: tuple[Any, ...] = (
    None, True, False, 0, -1, 3, 2**53 + 1, 2**63, -(2**64), 10**18, 10**400, 0.5, -2.5, 1e308, -1e308, 5e-324, NAN, float("inf"), "", "x",
    "=1+1", "-1/3", "1/0", "\ud800", "(other)", "1e999999999", [], {}, [1], ["x"], [[1]], [None], [NAN], [1, "x"], [True, 2], {"a": [{}]},
    {"date": "2026-01-01"}, {"date": "0001-01-01"}, {"date": "x"}, {"datetime": "2026-01-01T00:00:00"},
    {"datetime": "9999-12-31T23:59:59.999999"}, {"datetime": "2026-01-01T00:00:00+00:00"}, {"is": "Column", "name": "n"},
)  # fmt: skip


def asked(text: str) -> Any:
    with session() as db:
        return db.sql(text).release(2)


def synthesized(method: str) -> Any:
    with session() as db:
        return db.synthesize(db.table("people"), columns=["town", "age"], bins=4, method=method).release(2)


def estimated() -> Any:
    with session() as db:
        return db.estimate(db.table("people"), "median", "age").release(2)


def graphed(what: str, **how: int) -> Any:
    with graph() as db:
        return getattr(db, what)(epsilon=2, **how)


def summed_by_day() -> Any:
    with discreet.connect({"people": people()}, unit="id", epsilon=9, delta=1e-3, bounds={"age": (0, 99)}, ledger=":memory:") as db:
        return db.daily("people", day="day", value="age / 3", start=FIRST, days=5, windows=(2, 3), epsilon=2).release(until="2026-01-04")


OTHERS = {
    "dates": lambda: asked("SELECT day, town, AVG(age) AS m, COUNT(*) > 10 AS many FROM people GROUP BY day, town"),
    "numbers": lambda: asked("SELECT age, COUNT(*) AS n, MEDIAN(age) AS m FROM people GROUP BY age"),
    "tree": lambda: synthesized("aim"),
    "median": estimated,
    "degrees": lambda: graphed("degrees", most=5),
    "degree sequence": lambda: graphed("degree_sequence", nodes=200),
    "sums by day": summed_by_day,
}


@cache
def genuine(name: str) -> Any:
    if name in OTHERS:
        return OTHERS[name]()
    with THINGS[name].open() as db:
        return THINGS[name].buy(THINGS[name].request(db, db)).release


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value below this one."""
    for key, one in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(one, (*path, key))


def packed(coins: random.Random) -> str:
    """Floats as a synthetic table keeps them: too few, not finite, or too large."""
    numbers = [coins.choice([NAN, float("inf"), 1e308, -1e300, 0.0, 4.0]) for _ in range(coins.choice([0, 1, 2, 6, 7]))]
    return base64.b64encode(zlib.compress(struct.pack(f"<{len(numbers)}d", *numbers))).decode()


def mutate(said: Any, coins: random.Random) -> None:
    """Change one value somewhere, mostly among the answers."""
    everywhere = list(places(said))
    *way, last = coins.choice([path for path in everywhere if path[0] == coins.choice(["answers", path[0]])])
    at = said
    for step in way:
        at = at[step]
    match coins.randrange(6):
        case 0:
            del at[last]
        case 1 if isinstance(at, list):
            at.insert(last, at[last])
        case 1 if isinstance(at, dict):
            at[str(last) + "x"] = at.pop(last)
        case 2:
            at[last] = [at[last]]
        case 3 if last == "values" and isinstance(at[last], str):
            at[last] = packed(coins)
        case 4 if isinstance(at[last], str) and at[last].replace("/", "").isdigit():
            at[last] = coins.choice(["-1", "0", "1" + "0" * 400, "1/3", "1" + "0" * 5000])
        case _:
            at[last] = coins.choice(JUNK)


def forged(release: Any, seed: str) -> str:
    """A file with one to three changes, with hash and seal as a forger would write them."""
    coins = random.Random(seed)
    said = json.loads(release.to_text())
    del said["seal"]
    for _ in range(coins.choice([1, 1, 1, 2, 3])):
        mutate(said, coins)
    with suppress(Error, ValueError, KeyError, TypeError, AttributeError):  # of something that is no receipt at all
        said["receipt"] = sealed(said["receipt"])
    body = json.dumps(said, separators=(",", ":"))[:-1]
    return f'{body},"seal":"{hashlib.sha256(body.encode()).hexdigest()}"}}'


def everything_works(found: Any, place: Path) -> None:
    assert isinstance(repr(found), str)
    assert found._repr_html_()
    assert found.explain()
    rows = len(found.rows)
    assert len(found.intervals) == rows == len(found)
    assert len(found.to_arrow()) == len(found.to_pandas()) == len(found.to_polars()) == rows
    assert found.to_csv()
    found.to_csv(place / "rows.csv")
    found.save(place / "again.json")
    assert type(found).open(place / "again.json").to_text() == found.to_text()
    for check in (found.plot, found.verify):
        try:
            drawn = check()
        except Error:
            continue  # there may be nothing to draw, and payments may not fit
        if drawn is not None:
            drawn.draw_without_rendering()


@pytest.mark.parametrize("name", [*THINGS, *OTHERS])
@pytest.mark.parametrize("numbers", [range(MUTATIONS), pytest.param(range(MUTATIONS, MORE), marks=[pytest.mark.slow])], ids=["few", "many"])
def test_a_forged_file_is_refused_or_works(name: str, numbers: range, tmp_path: Path) -> None:
    release, file, opened, refused = genuine(name), tmp_path / "forged.json", 0, 0
    everything_works(release, tmp_path)
    for number in numbers:
        file.write_text(forged(release, f"{name} {number}"), encoding="utf-8")
        try:
            found = type(release).open(file)
        except Error:
            refused += 1
            with pytest.raises(Error):
                open_release(file)
            continue
        except Exception as leaked:
            raise AssertionError(f"file {number} was opened: {leaked!r}") from leaked
        opened += 1
        try:
            everything_works(found, tmp_path)
        except Exception as leaked:
            raise AssertionError(f"file {number} was opened, and then: {leaked!r}") from leaked
    assert refused > len(numbers) // 3
    assert opened > 0
