"""Servers for whoever asks, started once in a run and stopped with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from generate import site
from servers import NoServer, Server, postgres_server
from spark_server import NoJava, spark_session


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
def postgres(shared_server: Server) -> str:
    """The superuser's URI."""
    return shared_server.uri


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
