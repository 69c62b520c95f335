"""Serve data sets to analysts on the other side of a network wall."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from discreet.cli.screen import out
from discreet.errors import Invalid
from discreet.extras import require


def serve(
    policies: Annotated[list[Path], Argument(metavar="POLICY…", help="The discreet.toml of each data set, or its folder.")],
    host: Annotated[str, Option(metavar="HOST", envvar="DISCREET_HOST", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, Option(metavar="PORT", envvar="DISCREET_PORT", help="The port to listen on.")] = 8000,
    url: Annotated[
        str | None, Option(metavar="URL", envvar="DISCREET_URL", help="How users reach it, if through a proxy: https://dp.example.org")
    ] = None,
    database: Annotated[
        str | None,
        Option(
            metavar="PLACE", envvar="DISCREET_DATABASE", help='Accounts and jobs: a file, or "postgresql://…"; beside the first policy.'
        ),
    ] = None,
    certificate: Annotated[Path | None, Option(metavar="FILE", envvar="DISCREET_CERTIFICATE", help="The TLS certificate chain.")] = None,
    key: Annotated[Path | None, Option(metavar="FILE", envvar="DISCREET_KEY", help="The TLS key.")] = None,
    slot: Annotated[float, Option(metavar="SECONDS", envvar="DISCREET_SLOT", help="The shortest time in which an answer leaves.")] = 1.0,
    no_slots: Annotated[
        bool, Option("--no-slots", help="Answer as soon as possible; the time of an answer then tells about private rows.")
    ] = False,
    rows: Annotated[
        float,
        Option(metavar="N", envvar="DISCREET_ROWS", help="About how many rows a table has that has no profile; slots follow from it."),
    ] = 1e6,
    seats: Annotated[int, Option(metavar="N", envvar="DISCREET_SEATS", help="Questions that are answered at the same time.")] = 16,
    proxy: Annotated[
        list[str] | None, Option(metavar="HOST", envvar="DISCREET_PROXY", help="A proxy whose X-Forwarded-For is believed.")
    ] = None,
) -> None:
    """Serve data sets over HTTP: owners, analysts and auditors log in; programs use tokens."""
    require("fastapi")
    if (certificate is None) != (key is None):
        raise Invalid("TLS needs both: give --certificate and --key")
    from discreet.server.clock import Clock
    from discreet.server.datasets import named
    from discreet.server.listen import listen
    from discreet.server.settings import Settings, database_beside

    found = named(policies)
    settings = Settings(
        found,
        database or database_beside(next(iter(found.values()))),
        (url or f"{'http' if certificate is None else 'https'}://{host}:{port}").rstrip("/"),
        Clock(first=slot, off=no_slots),
        rows,
        seats,
        proxies=tuple(proxy or ()),
    )
    listen(settings, host, port, certificate, key, lambda line: out.print(line, soft_wrap=True))
