"""Servers for whoever asks, started once in a run and stopped with it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from fixed_coins import coins_of
from generate import site
from servers import NoServer, Server, postgres_server
from sharing import ByFile, in_order
from spark_server import NoJava, spark_session

for _size in ("COLUMNS", "LINES"):  # readline tells them to the processes that share tests; rich would believe them
    os.environ.pop(_size, None)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    return ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    in_order(items)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    with coins_of(item.nodeid):
        return (yield)


@pytest.fixture(scope="session")
def shared_server() -> Iterator[Server]:
    """A PostgreSQL for all tests of this process; whoever stops servers starts one for himself."""
    try:
        running = postgres_server()
        server = running.__enter__()
    except NoServer as reason:
        pytest.skip(str(reason))
    yield server
    running.__exit__(None, None, None)


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> str:
    """The superuser's URI, of a server that DISCREET_TEST_POSTGRES names or else of our own."""
    if (address := os.environ.get("DISCREET_TEST_POSTGRES")) is None:
        return str(request.getfixturevalue("shared_server").uri)
    if "PYTEST_XDIST_WORKER" in os.environ:  # roles and databases of the tests have fixed names
        raise pytest.UsageError("DISCREET_TEST_POSTGRES is for one process: run pytest without -n, as `make test-postgres` does")
    return address


@pytest.fixture(scope="session")
def spark() -> Any:
    """The Spark of this process."""
    try:
        return spark_session()
    except NoJava as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def staged_docs(tmp_path_factory: pytest.TempPathFactory) -> site.Site:
    """The documentation, with every page run and everything generated, before the site generator has seen it."""
    return site.stage(tmp_path_factory.mktemp("docs") / "out")
