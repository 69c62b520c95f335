"""What reading CSV costs: DuckDB's own readers beside ours, which cuts records itself, once a session.

DuckDB's parallel reader takes text within quotes for rows where it splits a file; its sequential one does where a record needs a third
buffer, or where lines end in two ways. Their rows are counted beside what the file holds, so that what is quick and wrong is seen as such.
It stands alone: `python benchmarks/text_files.py`.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import duckdb
from report import Table, duration
from timing import local, race

from discreet.engines.duckdb.engine import DuckDB

HEADER = ("id", "dept", "cost", "note")
QUESTION = "SELECT dept, COUNT(*) AS n, CAST(SUM(LENGTH(note)) AS BIGINT) AS s FROM {} GROUP BY dept ORDER BY dept"
Write = Callable[[BinaryIO, int], None]


def plain(file: BinaryIO, i: int) -> None:
    file.write(b"%d,er,%d.5,a note of one line about the person with the number %d\n" % (i, i % 500, i))


def quoted(file: BinaryIO, i: int) -> None:
    file.write(b'"%d","er","%d.5","a ""note"" of one line, about the person with the number %d"\n' % (i, i % 500, i))


def lines(file: BinaryIO, i: int) -> None:
    file.write(b'%d,er,%d.5,"a note of several lines\n7,icu,500,fake\nabout the person with the number %d"\n' % (i, i % 500, i))


def inches(file: BinaryIO, i: int) -> None:
    file.write(b"%d,er,%d.5,a note of one line about the person with 5'11\" and number %d\n" % (i, i % 500, i))


def long(file: BinaryIO, i: int) -> None:
    plain(file, i)
    if i == 1000:
        file.write(b'x,er,1,"' + b"7,icu,500,fake\n" * 600_000 + b'"\n')


SHAPES: dict[str, Write] = {
    "no quotes": plain,
    "all quoted": quoted,
    "notes of 3 lines": lines,
    "quotes as text": inches,
    "one note of 9 MB": long,
}


def theirs(path: Path, more: str) -> Callable[[], object]:
    names = ", ".join(f"'{name}': 'VARCHAR'" for name in HEADER)
    said = f"columns={{{names}}}, header=true, auto_detect=false, quote='\"', escape='\"', ignore_errors=true, strict_mode=false, {more}"
    connection = duckdb.connect()
    return lambda: connection.execute(QUESTION.format(f"read_csv('{path}', {said})")).fetchall()


def ours(path: Path) -> Callable[[], object]:
    def ask() -> object:
        with DuckDB.open({"t": path}) as engine:
            return engine.read_public(QUESTION.format("t"))

    return ask


def later(engine: DuckDB) -> Callable[[], object]:
    return lambda: engine.read_public(QUESTION.format("t"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    table: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for shape, write in SHAPES.items():
            path = Path(folder) / "t.csv"
            with path.open("wb") as file:
                file.write(",".join(HEADER).encode() + b"\n")
                for i in range(given.rows):
                    write(file, i)
            with DuckDB.open({"t": path}) as engine:
                engine.read_public(QUESTION.format("t"))
                readers = {
                    "parallel": theirs(path, "parallel=true"),
                    "sequential": theirs(path, "parallel=false"),
                    "first question": ours(path),
                    "later ones": later(engine),
                }
                found = race([local(name, reader) for name, reader in readers.items()], given.rounds, patience=60)
                invented = int(sum(row[1] for row in readers["parallel"]()) - engine.read_public("SELECT COUNT(*) AS n FROM t")["n"][0])  # type: ignore[attr-defined]
            times = [duration(found[name].best) for name in readers]
            table.append([shape, f"{path.stat().st_size / 1e6:.0f} MB", *times, f"{invented:+d}"])
    notes = ["one GROUP BY that reads every text; best of the turns; a first question opens, cuts and keeps the file, later ones read that"]
    heads = [
        "",
        "size",
        "DuckDB parallel",
        "DuckDB sequential",
        "ours, first question",
        "ours, later ones",
        "rows too many in parallel",
    ]
    print(Table("CSV files: seconds to an answer", heads, table, notes))


if __name__ == "__main__":
    main()
