"""The demonstration, on every engine: nothing changes but a word."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest


def told(run: Any, folder: Path, *words: str) -> str:
    ran = run("demo", "--folder", folder, *words)
    assert ran.code == 0, ran.err
    for title in ("1. ", "2. ", "3. ", "4. ", "5. ", "6. ", "Again?", "What is refused"):
        assert title in ran.out
    assert "free" in ran.out
    assert (folder / "mean_cost.png").stat().st_size > 10_000
    assert run("verify", folder / "visits.json", "--ledger", folder).code == 0
    return str(ran.out)


def test_on_the_embedded_engine(run: Any, tmp_path: Path) -> None:
    told(run, tmp_path)


def test_on_postgresql(run: Any, tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PGUSER", "PGPASSWORD"):
        monkeypatch.delenv(name, raising=False)
    out = told(run, tmp_path, "--engine", postgres)
    password = str(urlsplit(postgres).password)
    assert len(password) > 5
    assert password not in out
    assert password not in (tmp_path / "discreet.toml").read_text()
    assert "#discreet_demo.visits" in (tmp_path / "discreet.toml").read_text()


@pytest.mark.slow
def test_on_spark(run: Any, tmp_path: Path, spark: Any) -> None:
    told(run, tmp_path, "--engine", "spark")
    assert 'engine = "spark"' in (tmp_path / "discreet.toml").read_text()


def test_a_schema_of_somebody_else_is_left_alone(run: Any, tmp_path: Path, postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS discreet_demo CASCADE")
        connection.execute("CREATE SCHEMA discreet_demo")
        ran = run("demo", "--folder", tmp_path, "--engine", postgres)
        connection.execute("DROP SCHEMA discreet_demo CASCADE")
    assert ran.code != 0
    assert "did not create" in ran.err


def test_no_server(run: Any, tmp_path: Path) -> None:
    ran = run("demo", "--folder", tmp_path, "--engine", "postgresql://ana:very%20secret@127.0.0.1:9/none")
    assert ran.code != 0
    assert "check the address" in ran.err.replace("\n", " ")
    assert "secret" not in ran.err + ran.out
