"""The language of CSV records, against a reader of one byte at a time; and all the way through DuckDB, on files made to hurt."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import duckdb
import pytest

from discreet.engines.duckdb import load as module
from discreet.engines.duckdb.load import load, prepare
from discreet.engines.duckdb.records import _regular, record_blocks
from discreet.engines.duckdb.sources import Csv

SIGNS = [b'"', b'""', b",", b"\n", b"\r\n", b"\r", b"a", b"bb", b',"', b'",', b'"\n', b'\n"', b'"\r\n']
BYTES = [*SIGNS, b"\xff", b"\xc3\xa9", b"\xc3", b"\x00", b"\xef\xbb\xbf", b" ", b"#", b"\\", b"'", b"a,b,c\n", b'"x\ny",b,c\n', b"\n\n"]


def slowly(data: bytes) -> list[tuple[int, list[bytes]]]:
    """The length and the fields of each record, by the definition of the language."""
    data += b"\n" if data and not data.endswith(b"\n") else b""
    found: list[tuple[int, list[bytes]]] = []
    at, start, fields = 0, 0, list[bytes]()
    while at < len(data):
        value = b""
        if data[at : at + 1] == b'"':
            at += 1
            while at < len(data) and (data[at : at + 1] != b'"' or data[at : at + 2] == b'""'):
                value += data[at : at + 1]
                at += 2 if data[at : at + 1] == b'"' else 1
            if at == len(data):
                return found  # never closed
            at += 1
        rest = b""
        while data[at : at + 1] not in (b",", b"\n"):
            rest += data[at : at + 1]
            at += 1
        last = data[at : at + 1] == b"\n"
        fields.append(value + (rest.removesuffix(b"\r") if last else rest))
        at += 1
        if last:
            found.append((at - start, fields))
            start, fields = at, []
    return found


def random_files(number: int, signs: list[bytes], most: int) -> Iterator[tuple[random.Random, bytes]]:
    for seed in range(number):
        rng = random.Random(seed)
        yield rng, b"".join(rng.choice(signs) for _ in range(rng.randint(0, most)))


def test_the_language_does_not_depend_on_where_a_file_is_cut() -> None:
    kept = mended = 0
    for rng, data in random_files(6000, SIGNS, 40):
        longest = rng.choice([8, 15, 40, 1000])
        found = list(record_blocks(io.BytesIO(data), ",", rng.choice([1, 2, 3, 7, 1000]), longest))
        expected = [fields for length, fields in slowly(data) if length <= longest]
        assert [fields for piece in found for _, fields in slowly(piece)] == expected, data
        assert all(_regular(piece, b",", 10**9) == len(piece) for piece in found), data  # DuckDB sees well-quoted text only
        kept, mended = kept + (b"".join(found) == data), mended + (b"".join(found) != data)
    assert min(kept, mended) > 200  # both roads were taken


def test_well_quoted_files_are_passed_on_as_they_are() -> None:
    for rng, _ in random_files(300, [b""], 0):
        rows = [
            ["".join(rng.choice(['"', ",", "\n", "\r\n", "\r", "a", "é"]) for _ in range(rng.randint(0, 6))) for _ in "abc"] for _ in "1234"
        ]
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator=rng.choice(["\n", "\r\n"]), quoting=csv.QUOTE_ALL).writerows(rows)
        data = text.getvalue().encode()
        assert b"".join(record_blocks(io.BytesIO(data), ",", rng.choice([3, 11, 1000]))) == data
        assert [[value.decode() for value in fields] for _, fields in slowly(data)] == rows


def test_a_record_may_be_longer_than_what_is_read_at_once_and_is_left_out_by_its_own_length() -> None:
    for length in (99, 100, 101, 5000):
        for before in range(7):
            long = b'1,"' + b"\n" * (length - 5) + b'"\n'
            data = b"x\n" * before + long + b'a,"b\nc"\n'
            kept = b"".join(record_blocks(io.BytesIO(data), ",", 64, 100))
            assert kept == (data if length <= 100 else b"x\n" * before + b'a,"b\nc"\n'), (length, before)


def test_tabs() -> None:
    data = b'a,"b\tc\n"d\t,\ne"\tf\n'
    assert list(record_blocks(io.BytesIO(data), "\t")) == [b'"a,""b"\tc\n"d\t,\ne"\tf\n']


# ── through DuckDB ───────────────────────────────────────────────────────────────────────────────────────────────────


def is_text(fields: list[bytes]) -> bool:
    try:
        b"".join(field + b" " for field in fields).decode()
    except UnicodeDecodeError:
        return False
    return True


def test_duckdb_reads_every_record_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any bytes: too few fields and broken text are left out, record by record, and nothing else is changed by them."""
    for number, (rng, data) in enumerate(random_files(200, BYTES, 120)):
        names = tuple("abc"[: rng.randint(1, 3)])
        (tmp_path / "t.csv").write_bytes(",".join(names).encode() + b"\n" + data)
        source, folder = Csv(str(tmp_path / "t.csv"), ",", names), tmp_path / str(number)
        monkeypatch.setattr(module, "record_blocks", partial(record_blocks, read=rng.choice([5, 30, 10**6])))
        with duckdb.connect() as connection:
            relation = prepare(connection, source, folder)
            load(connection, source, folder)
            found = connection.execute(f"SELECT * FROM {relation}").fetchall()
        texts = [fields[: len(names)] for _, fields in slowly(data) if len(fields) >= len(names)]
        expected = [tuple(field.decode() or None for field in fields) for fields in texts if is_text(fields)]
        whole = [sorted((row for row in rows if any(row)), key=repr) for rows in (found, expected)]  # an empty line may be a row or none
        assert whole[0] == whole[1], data
