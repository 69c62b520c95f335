"""CSV files with a declared delimiter."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.separated import SeparatedFile, is_separated, read_delimiter, with_delimiter
from discreet.errors import EngineError, Invalid
from discreet.tables.kind import Kind


def test_delimiters_as_people_write_them() -> None:
    assert [read_delimiter(one) for one in (",", ";", "|", "tab", "\t")] == [",", ";", "|", "\t", "\t"]
    for wrong in ("", "a", '"', "\n", ";;", None, 3, "^"):
        with pytest.raises(Invalid, match="delimiter must be"):
            read_delimiter(wrong)


def test_only_text_files_have_one(tmp_path: Path) -> None:
    assert is_separated("a.CSV")
    assert is_separated(tmp_path / "a.tsv.gz")
    assert not is_separated("a.parquet")
    frame = object()
    found = with_delimiter({"a": "a.csv", "b": "b.parquet", "c": frame}, ";")
    assert found == {"a": SeparatedFile("a.csv", ";"), "b": "b.parquet", "c": frame}
    assert os.fspath(found["a"]) == "a.csv"
    assert with_delimiter({"a": "a.csv"}, None) == {"a": "a.csv"}
    with pytest.raises(Invalid, match="there is none here"):
        with_delimiter({"b": "b.parquet"}, ";")


@pytest.mark.parametrize("delimiter", [";", "|", "\t"])
def test_records_are_cut_at_the_declared_delimiter(tmp_path: Path, delimiter: str) -> None:
    rows = [["id", "note"], ["1", "a,b"], ["2", f'"x{delimiter}y"'], ["3", '"say ""no"""'], ["4", 'z"z']]
    (tmp_path / "t.csv").write_text("\n".join(delimiter.join(row) for row in rows) + "\n")
    with DuckDB.open({"t": SeparatedFile(tmp_path / "t.csv", delimiter)}, {"t": {"id": Kind.INTEGER}}) as engine:
        assert engine.schema("t") == {"id": Kind.INTEGER, "note": Kind.TEXT}
        assert engine.untyped("t") == ("note",)
        found = engine.read_public("SELECT id, note FROM t ORDER BY id")
    assert list(found["note"]) == ["a,b", f"x{delimiter}y", 'say "no"', 'z"z']


def test_another_delimiter_in_the_first_line_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id;fare\n1;2\n")
    with pytest.raises(EngineError, match=r'declare delimiter=";" \(command line: --delimiter ";"; discreet.toml'):
        DuckDB.open({"t": tmp_path / "t.csv"})
    with DuckDB.open({"t": SeparatedFile(tmp_path / "t.csv", ",")}) as engine:  # it is meant
        assert list(engine.schema("t")) == ["id;fare"]
