"""Real clients, and the table of what each of them can do, which the documentation shows."""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from server.clinic import make_server
from server.postgres_wire.clients import CLIENTS, FEATURES, HELD
from server.postgres_wire.wire import Wire, wired

from discreet.server.asking import Asking

PAGE = Path(__file__).parents[3] / "docs" / "serving" / "clients.md"
LIBRARIES = {"SQLAlchemy 2": "sqlalchemy", "ADBC": "adbc_driver_postgresql", "psycopg 3": "psycopg", "JupySQL": "sql"}


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """The clinic, where one question is not answered before all tests are done."""
    let_go, answer = threading.Event(), Asking._outcome

    def waiting(self: Asking, data: object, account: object, asked: object, job: object) -> object:
        if HELD in str(asked):
            assert let_go.wait(120)
        return answer(self, data, account, asked, job)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Asking, "_outcome", waiting)
        served = make_server(tmp_path_factory.mktemp("clients"), seats=40)
        with wired(served) as found:
            yield found
            let_go.set()
    served.server.queue.close()
    served.server.datasets.close()
    served.server.database.close()


def shown(client: str) -> list[str]:
    """The features that the documentation says a client has."""
    row = next(line for line in PAGE.read_text("utf-8").splitlines() if line.startswith(f"| {client} |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")][1:]
    return [feature for feature, cell in zip(FEATURES, cells, strict=True) if cell == "yes"]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client(held: Wire, client: str) -> None:
    if client == "psql 15":
        if shutil.which("psql") is None:
            pytest.skip("psql is not installed")
    else:
        pytest.importorskip(LIBRARIES.get(client, client.split()[0].lower()))
    before = len(held.served.server.jobs.of("ann", most=1000))

    def running() -> None:
        """Wait until the question that is held has begun."""

        async def look() -> None:
            async with asyncio.timeout(20):
                while not any(
                    job.title == HELD and job.state == "running" for job in held.served.server.jobs.of("ann", most=1000)[: -before or None]
                ):
                    await asyncio.sleep(0.01)

        asyncio.run(look())

    found = CLIENTS[client](held, running)
    assert sorted(found) == sorted(shown(client))


def test_the_table_has_all_features() -> None:
    head = next(line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| client |"))
    assert len(head.strip("|").split("|")) == len(FEATURES) + 1
