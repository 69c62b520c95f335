"""The settings of a server, from a file, the environment and the command line."""

from __future__ import annotations

import os
from pathlib import Path
from typing import final

from attrs import field, frozen

from discreet.server.clock import Clock


@final
@frozen
class Settings:
    """How a server runs. `policies` are its data sets by name; `database` is a path or a "postgresql://…" address."""

    policies: dict[str, Path]
    database: str
    address: str = "http://127.0.0.1:8000"  # as its users type it
    clock: Clock = field(factory=Clock)
    rows: float = 1e6  # of a table about which nothing is declared or profiled; slots are chosen by it
    seats: int = 16  # questions that are being answered at the same time
    most_waiting: int = 20  # questions of one account that may wait
    wait: float = 20.0  # seconds: answers that leave later are fetched as jobs
    requests_a_minute: int = 6000  # of one account
    logins_a_minute: int = 10  # wrong passwords from one address
    largest_body: int = 1_000_000  # bytes
    body_seconds: float = 20.0  # in which a body must arrive
    proxies: tuple[str, ...] = ()  # addresses of proxies whose X-Forwarded-For is believed

    @property
    def is_secure(self) -> bool:
        """Whether users reach it by HTTPS, so that cookies are never sent without."""
        return self.address.startswith("https://")


def database_beside(policy: Path) -> str:
    """The default place of the server's database: beside the first policy."""
    return os.fspath(policy.with_suffix(".server"))
