"""CSV files of more than four of the pieces in which a reader might split them: people come near the start, and everybody else stays."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import pytest
from gauntlet.questions import Asked
from gauntlet.replay import differences, excesses, run, standing_clock

from discreet.engines.duckdb import engine as module
from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.duckdb.sources import Csv
from discreet.ledger.ledger import open_ledger
from discreet.ledger.terms import Terms
from discreet.session.session import Session
from discreet.tables.policy import read_policy

SPLIT = 8_000_000  # bytes: DuckDB's own reader splits about here
POLICY = """
[budget]
epsilon = 1000
delta = 0.05
[tables.visits]
unit = "pid"
[tables.visits.columns]
pid = { type = "integer" }
dept = { keys = ["er", "icu", "lab"] }
cost = { type = "real", bounds = [0, 500] }
"""
HEADER = b"pid,dept,cost,note\n"


def fakes(start: int, number: int) -> bytes:
    """Lines of a note that look like rows of others."""
    return b"".join(b"%d,icu,500,7\n" % i for i in range(start, start + number))


ORDINARY = b"-1,er,20,one line\n"
PEOPLE = {
    "one row": ORDINARY,
    "a quoted row": b'-1,lab,20,"two ""quoted""\n' + fakes(10**6, 2) + b'lines"\r\n',
    "a long note": b'-1,er,500,"' + fakes(10**6, 100_000) + b'"\n',
    "a note longer than any record may be": b'-1,er,500,"' + fakes(10**6, 1_200_000) + b'"\n',
    "many rows": b"".join(b'-1,icu,%d,"%s"\n' % (i, fakes(10**6, i % 5)) for i in range(300)),
    "bad rows": b'-1,er\n-1,er,5" 11,x\n-1,"er"x,1,\n\xff,\xfe,1,x\n-1,er,1,x,y,z\n',
}
QUESTIONS = [
    "SELECT COUNT(*) AS n, SUM(cost) AS s, COUNT(DISTINCT pid) AS p FROM visits",
    "SELECT dept, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY dept",
    "SELECT dept, MEDIAN(cost) AS q FROM visits GROUP BY dept",
    "SELECT LENGTH(note) % 3 AS k, COUNT(*) AS n FROM visits GROUP BY k",
]


def write(path: Path, who: bytes, size: int) -> Path:
    """Other people, whose notes of several lines look like rows, after those who come."""
    with path.open("wb") as file:
        file.write(HEADER + who)
        for pid in range(size // 78):
            ends = b"\r\n" if pid % 3 else b"\n"
            file.write(
                b'%d,%s,%d,"a ""note"" of\n%sand %d' % (pid, (b"er", b"lab")[pid % 2], pid % 500, fakes(2 * 10**6 + pid, 2), pid)
                + b' more"'
                + ends
            )
    assert path.stat().st_size > size
    return path


def problems(engines: dict[str, DuckDB], numbers: range, contributions: dict[str, int] | None) -> list[str]:
    """What is wrong between those without and with somebody more."""
    wrong = []
    declared = read_policy(POLICY).catalog({"visits": engines["nobody"].schema("visits")})

    def session(who: str) -> Session:
        with standing_clock():
            return Session(engines[who], declared, open_ledger(":memory:", Terms("1000", "0.05", declared.protected, "add/remove")))

    for number in numbers:
        asked = Asked(QUESTIONS[number], contributions, "0.01", "add/remove", False)
        first = run(session("nobody"), asked, seed=number)
        assert first.text is not None, first.error
        for who in engines.keys() - {"nobody"}:
            second = run(session(who), asked, script=first.calls)
            wrong += [f"{who}: {QUESTIONS[number]}: {what}" for what in differences(first, second) + excesses(first, second)]
    return wrong


def check(folder: Path, people: Iterable[str], numbers: range, contributions: dict[str, int] | None) -> None:
    files = {who: write(folder / f"{i}.csv", PEOPLE.get(who, b""), 9 * SPLIT // 2) for i, who in enumerate(["nobody", *people])}
    with ExitStack() as stack:
        opened = {
            who: stack.enter_context(DuckDB.open({"visits": path}, read_policy(POLICY).declared, threads=1)) for who, path in files.items()
        }
        wrong = problems(opened, numbers, contributions)
    assert not wrong, "\n".join(wrong)


def test_neighbours_look_the_same_in_large_text_files(tmp_path: Path) -> None:
    check(tmp_path, ["a quoted row", "a long note"], range(2), {"rows": 2})


@pytest.mark.slow
@pytest.mark.parametrize("contributions", [None, {"rows": 2}, {"groups": 2, "per_group": 3}], ids=str)
def test_neighbours_look_the_same_in_large_text_files_at_length(tmp_path: Path, contributions: dict[str, int] | None) -> None:
    check(tmp_path, PEOPLE, range(len(QUESTIONS)), contributions)


def test_the_splits_of_the_engines_own_reader_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same files read by DuckDB alone: one person more moves what a mechanism is given by more than one person may."""

    def relation(self: DuckDB, number: int, name: str, source: Csv) -> str:
        names = ", ".join(f"'{column}': 'VARCHAR'" for column in source.header)
        said = "header=true, auto_detect=false, quote='\"', escape='\"', ignore_errors=true, strict_mode=false"
        return f"read_csv('{source.path}', columns={{{names}}}, {said})"

    monkeypatch.setattr(DuckDB, "_relation", relation)
    monkeypatch.setattr(module, "_lock_down", lambda *_: None)
    with pytest.raises(AssertionError, match="moved by"):
        check(tmp_path, ["a long note"], range(1), {"rows": 2})
