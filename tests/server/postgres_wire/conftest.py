"""The clinic, served to PostgreSQL's clients: once for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from server.clinic import make_server
from server.postgres_wire.wire import Wire, wired


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    served = make_server(tmp_path_factory.mktemp("wire"))
    with wired(served) as found:
        yield found
    served.server.queue.close()
    served.server.datasets.close()
    served.server.database.close()
