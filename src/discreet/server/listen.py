"""Listen: run the application until it is told to stop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import uvicorn

from discreet.server.app import application
from discreet.server.logs import Log
from discreet.server.server import Server
from discreet.server.settings import Settings

_PATIENCE = 30  # seconds that connections have to end


def listen(settings: Settings, host: str, port: int, certificate: Path | None, key: Path | None, say: Callable[[str], None]) -> None:
    """Serve until SIGTERM or Ctrl-C; answers that were begun are finished."""
    failures = None if "://" in settings.database else Path(f"{settings.database}.failures")
    server = Server(settings, Log.to_screen(failures))
    if (link := server.owner_link()) is not None:
        say(f"first start: choose the owner's password within a day at {link}")
    say(f"serving {', '.join(settings.policies)} at {settings.address}")
    uvicorn.run(
        application(server),
        host=host,
        port=port,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=list(settings.proxies) or None,
        timeout_graceful_shutdown=_PATIENCE,
        timeout_keep_alive=30,
        h11_max_incomplete_event_size=64 * 1024,
    )
