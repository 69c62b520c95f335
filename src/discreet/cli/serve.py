"""Serve data sets to analysts on the other side of a network wall."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from discreet.cli.screen import out, working
from discreet.cli.served_hospital import add_analysts, write_hospital
from discreet.extras import require


def serve(
    policies: Annotated[
        list[Path] | None,
        Argument(
            metavar="[POLICY…]",
            help="The discreet.toml of each data set, or its folder; a folder of data files without one is set up in the browser.",
            show_default=False,
        ),
    ] = None,
    demo: Annotated[bool, Option("--demo", help="Serve the made-up hospital of `discreet demo`, with an owner and two analysts.")] = False,
    config: Annotated[
        Path | None, Option(metavar="FILE", envvar="DISCREET_CONFIG", help="Settings: a file with a section \\[server].")
    ] = None,
    host: Annotated[str | None, Option(metavar="HOST", envvar="DISCREET_HOST", help="The address to listen on: 127.0.0.1.")] = None,
    port: Annotated[int | None, Option(metavar="PORT", envvar="DISCREET_PORT", help="The port to listen on: 8000.")] = None,
    pg_port: Annotated[
        int | None,
        Option(metavar="PORT", envvar="DISCREET_PG_PORT", help="The port for PostgreSQL's clients (psql, BI tools); none if not given."),
    ] = None,
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
    slot: Annotated[
        float | None, Option(metavar="SECONDS", envvar="DISCREET_SLOT", help="The shortest time in which an answer leaves: 1.")
    ] = None,
    no_slots: Annotated[
        bool, Option("--no-slots", help="Answer as soon as possible; the time of an answer then tells about private rows.")
    ] = False,
    rows: Annotated[
        float | None,
        Option(metavar="N", envvar="DISCREET_ROWS", help="About how many rows a table has that has no profile; slots follow from it."),
    ] = None,
    seats: Annotated[
        int | None, Option(metavar="N", envvar="DISCREET_SEATS", help="Questions that are answered at the same time: 32.")
    ] = None,
    proxy: Annotated[
        list[str] | None, Option(metavar="HOST", envvar="DISCREET_PROXIES", help="A proxy whose X-Forwarded-For is believed.")
    ] = None,
) -> None:
    """Serve data sets over HTTP: owners, analysts and auditors log in; programs use tokens.

    Options override the environment (DISCREET_PORT and so on), which overrides the file of settings.
    """
    require("fastapi")
    from discreet.server.listen import listen
    from discreet.server.settings import made, read_settings
    from discreet.server.setup import named_or_new

    if demo:
        with working("making up a million visits"):
            policies = [write_hospital(Path(tempfile.mkdtemp(prefix="discreet-served-")))]
    given = {
        "policies": [str(one) for one in policies or ()], "host": host, "port": port, "pg_port": pg_port, "url": url, "database": database,
        "certificate": certificate, "key": key, "slot": slot, "slots": False if no_slots else None, "rows": rows, "seats": seats,
        "proxies": [part for one in proxy or () for part in one.split(",")],
    }  # fmt: skip
    found = read_settings(config, given)
    settings, listening = made(found, *named_or_new(found["policies"]))
    listen(settings, listening, lambda line: out.print(line, soft_wrap=True, markup=False), prepare=add_analysts if demo else None)
