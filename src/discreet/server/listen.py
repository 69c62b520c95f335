"""Listen: run the application until it is told to stop."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import sys
from collections.abc import Callable
from typing import Any, TypeAlias, final

import uvicorn
from attrs import fields
from uvicorn.protocols.http.h11_impl import H11Protocol

from discreet.errors import Invalid
from discreet.server.app import application
from discreet.server.logs import Libraries, Log
from discreet.server.postgres_wire.listen import listening as listening_for_postgres
from discreet.server.server import Server
from discreet.server.settings import Listening, Settings

_PATIENCE = 30  # seconds that connections have to end
_HEADERS = 10.0  # seconds in which a request's first lines must arrive
_MOST = 1000  # connections
_SWITCH = 0.001  # seconds for which a thread computes before another one may: requests must not wait long for questions


Say: TypeAlias = Callable[[str], None]


def listen(
    settings: Settings, listening: Listening, say: Say, log: Log | None = None, prepare: Callable[[Server, Say], None] | None = None
) -> None:
    """Serve until SIGTERM or Ctrl-C; answers that were begun are finished. `prepare` may add accounts first."""
    _require_free(listening)
    for name, path in settings.policies.items():
        if (open_lines := path.read_text(encoding="utf-8").count("# CHECK")) > 0:
            lines = "1 line" if open_lines == 1 else f"{open_lines} lines"
            say(f"warning: the policy of {name} has {lines} marked CHECK: review each, then delete the word CHECK from it")
    log = log or Log.to_screen(settings.failures)
    logging.getLogger().addHandler(Libraries(log))
    server = Server(settings, log)
    if (link := server.owner_link()) is not None:
        say(f"first start: choose the owner's password within a day at {link}")
    if prepare is not None:
        prepare(server, say)
    if settings.policies:
        say(f"serving {', '.join(settings.policies)} at {settings.address}")
    for name in settings.folders:
        say(f"{name} has no policy yet: its owner sets it up at {settings.address}/owner/setup/{name}")
    if listening.pg_port is not None:
        say(f"and to PostgreSQL's clients at port {listening.pg_port}: user is an account, password a token, database a data set")
    _mention_unknown_sizes(server, say)
    log.event("started", datasets=len(settings.policies), slots=not settings.clock.off, tls=listening.certificate is not None)
    sys.setswitchinterval(_SWITCH)
    uvicorn.run(**options(server, listening))


def _mention_unknown_sizes(server: Server, say: Say) -> None:
    """Slots are chosen by public sizes: tell the owner where none is known, unless the settings give one."""
    if server.settings.clock.off or server.settings.rows != fields(Settings).rows.default:
        return
    for data in server.datasets:
        unknown = [table.name for table in data.catalog.tables if table.private and table.size is None and table.profile is None]
        if unknown:
            say(
                f"{data.name}: how many rows {', '.join(unknown)} has is not public, so answers leave in slots for "
                f"{server.settings.rows:,.0f} rows: buy a profile, or give --rows, for slots that fit"
            )


def _require_free(listening: Listening) -> None:
    """Raise Invalid if nothing can listen at this address, before anything is opened."""
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((listening.host, listening.port))
        except OSError as problem:
            if problem.errno == errno.EADDRINUSE:
                raise Invalid(
                    f"port {listening.port} is in use, perhaps by another server: stop that, or choose a port with --port"
                ) from None
            raise Invalid(f"{listening.host}:{listening.port} cannot be listened on: choose another --host or --port") from None


def options(server: Server, listening: Listening) -> dict[str, Any]:
    """What the web server is told."""
    proxies = server.settings.proxies
    port, files = listening.pg_port, (listening.certificate, listening.key)
    beside = None if port is None else listening_for_postgres(server, listening.host, port, *files)
    return {
        "app": application(server, beside),
        "host": listening.host,
        "port": listening.port,
        "ssl_certfile": listening.certificate,
        "ssl_keyfile": listening.key,
        "http": Impatient,
        "ws": "none",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "date_header": True,
        "proxy_headers": bool(proxies),
        "forwarded_allow_ips": list(proxies) or None,
        "timeout_graceful_shutdown": _PATIENCE,
        "timeout_keep_alive": 30,
        "limit_concurrency": _MOST,
        "h11_max_incomplete_event_size": 64 * 1024,
    }


@final
class Impatient(H11Protocol):
    """A connection that is closed if a request's first lines do not arrive in time: slow clients must not use up all connections."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Somebody connected."""
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Some bytes arrived: perhaps the whole request, perhaps one letter more."""
        super().data_received(data)
        self._expect()

    def connection_lost(self, exc: Exception | None) -> None:
        """They went away."""
        self._forget()
        super().connection_lost(exc)

    def _expect(self) -> None:
        """Give a request that has not begun its time, once; one that has begun has its own limits."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._forget()
        elif self._late is None:
            self._late = self.loop.call_later(_HEADERS, self.transport.close)

    def _forget(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
