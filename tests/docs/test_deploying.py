"""The blocks of the page on deploying that need servers, as they are written, against servers of our own."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import psycopg
import pytest
from generate import blocks
from servers import Server

import discreet

PAGE = Path(__file__).parents[2] / "docs" / "tutorials" / "deploying.md"
ROLES = ("clinic_reader", "ledger_owner", "ledger_spender")
VISITS = "CREATE TABLE clinic.visits AS SELECT i AS patient, (i % 90)::float8 AS cost, 'er' AS dept FROM generate_series(1, 500) AS i"


def of_servers(kind: str) -> list[blocks.Block]:
    return [block for block in blocks.read(PAGE).blocks if block.options == kind]


@pytest.fixture
def clinic(shared_server: Server) -> Iterator[str]:
    """The page's databases on our server; an address of it that lacks the database's name."""
    base = shared_server.uri.rsplit("/", 1)[0]
    with psycopg.connect(shared_server.uri, autocommit=True) as admin:
        admin.execute("CREATE DATABASE data")
        admin.execute("CREATE DATABASE budgets")
    with psycopg.connect(f"{base}/data", autocommit=True) as admin:
        admin.execute("CREATE SCHEMA clinic")
        admin.execute(VISITS)
    yield base
    with psycopg.connect(shared_server.uri, autocommit=True) as admin:
        admin.execute("DROP DATABASE data WITH (FORCE)")
        admin.execute("DROP DATABASE budgets WITH (FORCE)")
        for role in ROLES:
            admin.execute(f"DROP ROLE {role}")  # type: ignore[arg-type]


def test_postgres_as_it_is_written(shared_server: Server, clinic: str, capsys: pytest.CaptureFixture[str]) -> None:
    login = f":change%20me@127.0.0.1:{shared_server.port}/"
    names: dict[str, Any] = {}
    roles, begin, rights, grant, ask = of_servers("server")
    for block in (roles, begin, rights, grant, ask):
        text = block.text.replace("@clinic.example/", login).replace("@ledger.example/", login)
        match block.language:
            case "sql":
                with psycopg.connect(f"{clinic}/{'data' if block is roles else 'budgets'}", autocommit=True) as admin:
                    admin.execute(text)  # type: ignore[arg-type]
            case "sh":
                for line in text.splitlines():
                    subprocess.run([sys.executable, "-m", *shlex.split(line)], check=True, capture_output=True, timeout=60)
            case "python":
                exec(compile(text, str(PAGE), "exec"), names)
    printed = capsys.readouterr().out
    assert "Amount(epsilon=3," in printed  # of the data set, before the first question
    assert "er" in printed
    assert "Amount(epsilon=0.8," in printed  # hers, after it
    with psycopg.connect(f"postgresql://ledger_spender{login}budgets") as spender, pytest.raises(psycopg.errors.InsufficientPrivilege):
        spender.execute("DELETE FROM discreet_clinic.entries")


def test_spark_as_it_is_written(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "visits.parquet"
    pl.DataFrame({"patient": range(500), "cost": [1.0] * 500, "dept": ["er", "lab"] * 250}).write_parquet(place)
    monkeypatch.chdir(tmp_path)
    (block,) = of_servers("server spark")
    exec(compile(block.text.replace("hdfs://cluster/visits", str(place)), str(PAGE), "exec"), {"spark": spark, "discreet": discreet})
    assert "lab" in capsys.readouterr().out
