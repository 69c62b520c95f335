"""CSV files larger than what DuckDB splits at once: a row more is a row more, wherever its text lies."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

import pytest

from discreet.engines.duckdb import load as module
from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.duckdb.records import LONGEST, record_blocks
from discreet.errors import EngineError

SPLIT = 8_000_000  # bytes, about: where DuckDB's own reader would split
HEADER = b"id,dept,note\n"
MORE = {"nothing": b"", "a row": b"z,er,one row more\n", "a quoted row": b'z,er,"one\n7,icu,row\nmore"\n'}


def short_notes(file: BinaryIO) -> int:
    """Many short notes of several lines, which look like rows."""
    people = 4 * SPLIT // 90 + 10_000
    for i in range(people):
        file.write(b'%d,er,"first line ""%d""\n7,icu,fake\r\n8,icu,fake\n,icu,\nend of the note of number %d"\n' % (i, i, i))
    return people


def one_long_note(file: BinaryIO) -> int:
    """One note that is longer than a split, among people without any."""
    people = 4 * SPLIT // 80
    for i in range(people):
        if i == people // 2:
            file.write(b'x,er,"' + b"7,icu,fake\n" * (SPLIT * 5 // 4 // 11) + b'"\n')
        file.write(b"%d,er,a note of one line that fills up the file, of the person with number %d\n" % (i, i))
    return people + 1


def mixed_ends(file: BinaryIO) -> int:
    """Two kinds of line ends, empty fields at the ends of lines and quoted fields after them."""
    people = 4 * SPLIT // 55
    for i in range(people):
        file.write(b'"%d",er,%s' % (i, (b"\r\n", b"\n", b'"7,icu,x\n"\r\n', b'"\r\n,icu,\n\n"\n')[i % 4]))
        if i % 4 == 3:
            file.write(b'%d a,er,"' % i + b"7,icu,fake of this\n" * 7 + b'"\n')
    return people + people // 4


def seen(path: Path) -> tuple[int, ...]:
    with DuckDB.open({"t": path}) as engine:
        counted = ", ".join(f"COUNT(*) FILTER (dept = '{dept}') AS {dept}" for dept in ("er", "icu"))
        found = engine.read_public(f"SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS ids, {counted} FROM t")
    return tuple(int(found[name][0]) for name in ("n", "ids", "er", "icu"))


@pytest.mark.parametrize("shape", [short_notes, one_long_note, mixed_ends], ids=lambda shape: shape.__name__)
def test_a_row_more_is_a_row_more(tmp_path: Path, shape: Callable[[BinaryIO], int]) -> None:
    for more, row in MORE.items():
        path = tmp_path / "t.csv"
        with path.open("wb") as file:
            file.write(HEADER + row)
            people = shape(file) + bool(row)
        assert path.stat().st_size > 4 * SPLIT
        assert seen(path) == (people, people, people, 0), more


@pytest.mark.parametrize("length", [LONGEST - 1, LONGEST, LONGEST + 1, 5 * LONGEST])
def test_a_record_of_any_length_is_one_record(tmp_path: Path, length: int) -> None:
    """DuckDB's own reader makes rows of a record that needs a third buffer; ours leaves out what is too long, and only that."""
    start, end, line = b'x,er,"', b'"\n', b"7,icu,fake\n"
    text = (line * (length // len(line) + 1))[: length - len(start) - len(end)]
    (tmp_path / "t.csv").write_bytes(HEADER + b"1,er,\n" + start + text + end + b"2,er,\n")
    people = 3 if length <= LONGEST else 2
    assert seen(tmp_path / "t.csv") == (people, people, people, 0)


def test_packed_files_and_byte_order_marks(tmp_path: Path) -> None:
    rows = b'1,er,"a\nb"\n\xef\xbb\xbf2,er,x\n'
    with gzip.open(tmp_path / "t.csv.gz", "wb") as file:
        file.write(b"\xef\xbb\xbf" + HEADER + rows)
    with DuckDB.open({"t": tmp_path / "t.csv.gz"}) as engine:
        found = engine.read_public("SELECT id, note FROM t ORDER BY note")
    assert list(zip(found["id"], found["note"], strict=True)) == [("1", "a\nb"), ("\ufeff2", "x")]  # the file's mark is none of a row's


def test_badly_quoted_rows_have_a_meaning_of_their_own(tmp_path: Path) -> None:
    rows = {
        b"5'11\",er,a": ("5'11\"", "er", "a"),  # a quote within a field is text
        b'"a"b,er,c': ("ab", "er", "c"),  # what follows a closing quote belongs to the field
        b'"a" "b",er,c': ('a "b"', "er", "c"),
        b"a\rb,er,c": ("a\rb", "er", "c"),
        b"a,er": None,  # too few fields
        b"a,er,c,d": ("a", "er", "c"),  # too many
        b"\xff,er,c": None,  # no text
    }
    for row, value in rows.items():
        (tmp_path / "t.csv").write_bytes(HEADER + b'1,er,"x\ny"\n' + row + b"\n2,er,z\n")
        with DuckDB.open({"t": tmp_path / "t.csv"}) as engine:
            found = engine.read_public("SELECT * FROM t")
        values = set(zip(*(found[name] for name in ("id", "dept", "note")), strict=True))
        assert values == {("1", "er", "x\ny"), ("2", "er", "z")} | ({value} if value else set()), row


def test_an_unclosed_quote_takes_the_rest_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(HEADER + b'1,er,a\n2,er,"never closed\n3,er,b\n4,er,c\n')
    assert seen(tmp_path / "t.csv") == (1, 1, 1, 0)


def test_a_file_is_read_once_at_the_first_question(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(HEADER + b"1,er,a\n")
    with DuckDB.open({"t": path}) as engine:
        assert engine.schema("t")
        path.write_bytes(HEADER + b"1,er,a\n2,er,b\n")
        for _ in range(2):
            assert engine.read_public("SELECT COUNT(*) AS n FROM t")["n"][0] == 2
            path.write_bytes(HEADER)  # what comes later is not seen


def test_an_interrupted_reading_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else rows of the first attempt would be there twice, or only they would."""
    (tmp_path / "t.csv").write_bytes(HEADER + b"".join(b"%d,er,x\n" % i for i in range(300)))
    monkeypatch.setattr(module, "record_blocks", partial(record_blocks, read=64))
    convert, stops = module._convert, iter([True, False, True, False, False, True])

    def interrupted(*given: Any) -> None:
        convert(*given)
        if next(stops, False):
            raise KeyboardInterrupt

    monkeypatch.setattr(module, "_convert", interrupted)
    with DuckDB.open({"t": tmp_path / "t.csv"}) as engine:
        for _ in range(3):
            with pytest.raises(KeyboardInterrupt):
                engine.run("SELECT COUNT(*) AS n FROM t")
        assert engine.read_public("SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS d FROM t")["n"].tolist() == [300]


def test_room_for_the_rows_is_asked_for_before_paying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.csv").write_bytes(HEADER + b"1,er,x\n" * 100)
    with DuckDB.open({"t": tmp_path / "t.csv"}) as engine:
        monkeypatch.setattr(module.shutil, "disk_usage", lambda _: SimpleNamespace(free=500))
        with pytest.raises(EngineError, match="no space for a copy of the CSV files: free some"):
            engine.check_sources()
        assert engine.read_public("SELECT COUNT(*) AS n FROM t")["n"][0] == 100
        engine.check_sources()  # now it is there


@pytest.mark.parametrize("header", [b'"id\n",dept\n', b'"id,dept\n', b"id,dept\r1,er\r", b'"id"x,dept\n', b"x" * 2**21], ids=range(5))
def test_headers_of_which_the_first_line_is_not_all(tmp_path: Path, header: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(header + b"1,2\n")
    with pytest.raises(EngineError, match="first line"):
        DuckDB.open({"t": tmp_path / "t.csv"})


def test_brackets_and_equals_signs_in_names_are_only_names(tmp_path: Path) -> None:
    folder = tmp_path / "year=2024"
    folder.mkdir()
    (folder / "odd [1]*.csv").write_bytes(HEADER + b"1,er,a\n")
    with DuckDB.open({"t": folder / "odd [1]*.csv"}) as engine:
        assert set(engine.schema("t")) == {"id", "dept", "note"}
        assert engine.read_public("SELECT COUNT(*) AS n FROM t")["n"][0] == 1
