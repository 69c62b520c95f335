"""The clinic, served to PostgreSQL's clients on a free port."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from attrs import frozen
from server.clinic import Served
from server.processes import free_port

from discreet.server.postgres_wire.listen import listening


@frozen(eq=False)
class Wire:
    """Where the clinic listens, and its accounts."""

    served: Served
    port: int
    loop: asyncio.AbstractEventLoop

    def uri(self, account: str = "ann", more: str = "", scheme: str = "postgresql") -> str:
        return f"{scheme}://{account}:{self.served.tokens[account]}@127.0.0.1:{self.port}/clinic{more}"

    @property
    def spent(self) -> float:
        """What ann has spent."""
        account = self.served.server.accounts.get("ann")
        assert account is not None
        return float(next(iter(self.served.server.datasets)).allowance(account).spent.epsilon or 0)


@contextlib.contextmanager
def wired(served: Served, certificate: Path | None = None, key: Path | None = None) -> Iterator[Wire]:
    """Serve PostgreSQL's clients in a thread."""
    port, started, stop = free_port(), threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()
    failures: list[BaseException] = []

    async def serve() -> None:
        await served.server.start()
        async with listening(served.server, "127.0.0.1", port, certificate, key):
            started.set()
            await stop.wait()
        if served.server._tasks:
            await asyncio.wait(served.server._tasks, timeout=20)

    def run() -> None:
        try:
            loop.run_until_complete(serve())
        except BaseException as error:
            failures.append(error)
            started.set()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    started.wait(30)
    assert not failures, failures
    try:
        yield Wire(served, port, loop)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)
        loop.close()
    assert not failures, failures


def wait_until(met: Callable[[], bool]) -> None:
    async def look() -> None:
        async with asyncio.timeout(20):
            while not met():
                await asyncio.sleep(0.01)

    asyncio.run(look())
