"""The engines that must agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from engines.contract.in_spark import InSpark
from engines.contract.places import InDuckDB, InPostgres, Place, Stored

from discreet.engines.engine import Engine

EngineOf = Callable[[Stored], Engine]


@pytest.fixture(params=["duckdb", "postgres", "spark"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """A place for tables in each engine."""
    found: Place
    match request.param:
        case "duckdb":
            found = InDuckDB()
        case "postgres":
            found = InPostgres(request.getfixturevalue("postgres"))
        case _:
            found = InSpark(request.getfixturevalue("spark"))
    yield found
    found.close()


@pytest.fixture
def engine_of(place: Place) -> EngineOf:
    """Open tables in each engine; they are taken away afterwards."""
    return place.open
