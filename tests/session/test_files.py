"""Files of a session: patterns, folders, and text files that are read after paying and not before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest

import discreet
from discreet.errors import EngineError


def folders(place: Path) -> Path:
    for name in ("north", "south"):
        (place / "data" / name).mkdir(parents=True)
        duckdb.execute(f"COPY (SELECT i AS id FROM range(50) r(i)) TO '{place}/data/{name}/x.parquet' (FORMAT parquet)")
    return place / "data"


def test_a_pattern_needs_a_name_and_a_place_for_its_ledger(tmp_path: Path) -> None:
    pattern = folders(tmp_path) / "*" / "*.parquet"
    with pytest.raises(discreet.Invalid, match="give a name, as in"):
        discreet.connect(pattern, unit="id", epsilon=1)
    with pytest.raises(discreet.Invalid, match=r"give one, as in ledger="):
        discreet.connect({"visits": pattern}, unit="id", epsilon=1)
    db = discreet.connect({"visits": pattern}, unit=discreet.each_row(), epsilon=100, ledger=tmp_path / "visits.ledger")
    assert abs(db.ask("SELECT COUNT(*) AS n FROM visits", epsilon=50).rows[0]["n"] - 100) < 5


def test_a_folder_whose_files_differ_is_refused_before_there_is_anything_to_pay(tmp_path: Path) -> None:
    data = folders(tmp_path)
    duckdb.execute(f"COPY (SELECT 1 AS other) TO '{data}/south/y.parquet' (FORMAT parquet)")
    with pytest.raises(EngineError, match="not all of its files have id, other"):
        discreet.connect(data, unit="id", epsilon=1)
    assert not (tmp_path / "data.ledger").exists()


def test_a_text_file_is_not_read_before_the_debit(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("id,note\n1,a\n")
    db = discreet.connect(path, unit="id", epsilon=100)
    query = db.sql("SELECT COUNT(*) AS n FROM visits")
    query.plan(epsilon=50)
    path.write_text("id,note\n" + "".join(f'{i},"two\nlines"\n' for i in range(200)))  # seen, for nothing was read yet
    assert abs(query.release(epsilon=50).rows[0]["n"] - 200) < 5


def test_several_files_in_a_list_are_refused(tmp_path: Path) -> None:
    """They were read as a file and a table's name: the second one was left out without a word."""
    for name in ("a", "b"):
        pl.DataFrame({"id": range(500)}).write_parquet(tmp_path / f"{name}.parquet")
    files = [str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")]
    for given in (files, tuple(files), [files[0], "nowhere.parquet"]):
        with pytest.raises(discreet.Error, match="as a folder, or as a pattern"):
            discreet.connect({"v": given}, unit="id", epsilon=1, ledger=":memory:")


def test_a_folder_is_found_by_a_way_that_goes_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    pl.DataFrame({"id": range(500)}).write_parquet(tmp_path / "there" / "part.parquet")
    monkeypatch.chdir(tmp_path / "here")
    with discreet.connect({"v": "../there"}, unit="id", epsilon=9, ledger=":memory:") as db:
        assert abs(db.ask("SELECT COUNT(*) AS n FROM v", epsilon=9).rows[0]["n"] - 500) < 50


def test_a_relation_of_duckdb_says_what_to_give_instead() -> None:
    relation = duckdb.sql("SELECT 1 AS id")
    with pytest.raises(discreet.Error, match="connection"):
        discreet.connect({"v": relation}, unit="id", epsilon=1, ledger=":memory:")


def test_a_session_that_nobody_keeps_ends_quietly() -> None:
    """Threads that outlived their statement gave connections back while the interpreter ended, which aborted it."""
    script = (
        "import discreet, pyarrow as pa\n"
        "t = pa.table({'id': list(range(100))})\n"
        "print(discreet.connect({'t': t}, unit='id', epsilon=1, ledger=':memory:').ask('SELECT COUNT(*) AS n FROM t', epsilon=1).rows)\n"
    )
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0
        assert "nanobind" not in done.stderr
