"""Limits of memory and time: what goes beyond fails like anything that fails, and the next statement runs."""

from __future__ import annotations

import threading
from pathlib import Path

import polars
import pytest

from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.limits import EngineLimits, deadline
from discreet.errors import EngineError

# the engine's own words are for the owner; this is what everybody reads
SLOW = "SELECT CAST(COUNT(*) AS BIGINT) AS n FROM visits a, visits b, visits c WHERE hash(a.x, b.x, c.x) = 1"
LARGE = "SELECT CAST(hash(list(x)) % 2 AS BIGINT) AS n FROM range(100000000) AS t(x)"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    polars.DataFrame({"x": range(20_000)}).write_parquet(tmp_path / "visits.parquet")
    return tmp_path / "visits.parquet"


@pytest.mark.parametrize("in_a_thread", [False, True])
def test_a_statement_that_takes_too_long(place: Path, in_a_thread: bool) -> None:
    said: list[Exception] = []
    with DuckDB.open({"visits": place}, limits=EngineLimits(seconds=0.2)) as engine:
        engine.tell_owner = said.append

        def ask() -> None:
            with pytest.raises(EngineError) as error:
                engine.run(SLOW)
            told.append(str(error.value))
            engine.run("SELECT COUNT(*) AS n FROM visits")  # goes on

        told: list[str] = []
        if in_a_thread:
            thread = threading.Thread(target=ask)
            thread.start()
            thread.join(60)
        else:
            ask()
        with pytest.raises(EngineError) as usual:
            engine.run("SELECT nothing FROM visits")
    assert told == [str(usual.value)]
    assert "took longer than 0.2 seconds" in str(said[0])


def test_a_statement_that_needs_too_much_memory(place: Path) -> None:
    said: list[Exception] = []
    with DuckDB.open({"visits": place}, limits=EngineLimits(memory="100MB")) as engine:
        engine.tell_owner = said.append
        with pytest.raises(EngineError) as error:
            engine.run(LARGE)
        with pytest.raises(EngineError) as usual:
            engine.run("SELECT nothing FROM visits")
        assert str(error.value) == str(usual.value)
        engine.run("SELECT COUNT(*) AS n FROM visits")
    assert "memory" in str(said[0]).lower()


def test_what_is_in_time_is_not_cancelled() -> None:
    cancelled: list[int] = []
    with deadline(60, lambda: cancelled.append(1)):
        pass
    with pytest.raises(ValueError, match="its own"), deadline(60, lambda: cancelled.append(1)):
        raise ValueError("its own")
    assert cancelled == []
