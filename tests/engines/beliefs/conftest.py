"""Each engine over the awkward table, twice: the second time in another order and in pieces."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engines.beliefs import awkward
from engines.beliefs.believed import stored
from engines.beliefs.stores import ENGINES, Stores

from discreet.engines.engine import Engine

ROWS = 240


@pytest.fixture(scope="session")
def stores(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    """Where rows are put."""
    folder = tmp_path_factory.mktemp("beliefs")
    found = Stores(folder, lambda: str(request.getfixturevalue("postgres")))
    yield found
    found.close()


@pytest.fixture(scope="session", params=ENGINES)
def twice(request: pytest.FixtureRequest, stores: Stores) -> tuple[Engine, Engine]:
    table = awkward.rows(ROWS)
    both = stores.open(request.param, {"t": table}), stores.open(request.param, {"t": awkward.shuffled(table, 3)}, pieces=3)
    for engine in both:
        stores.interpret(engine)
    return both


@pytest.fixture(scope="session")
def rows() -> dict[str, list[object]]:
    return stored(awkward.rows(ROWS))


@pytest.fixture(scope="session")
def first(stores: Stores) -> Engine:
    """The engine that the others must agree with, over the same rows."""
    return stores.open("duckdb", {"t": awkward.rows(ROWS)})
