"""`discreet mcp`."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from discreet.cli.remote import address_of
from discreet.errors import Invalid
from discreet.extras import require
from discreet.session.session import Session


def mcp(
    data: Annotated[
        str | None,
        Argument(metavar="[DATA]", help="A discreet.toml or its folder, or the address of a data set on a server.", show_default=False),
    ] = None,
    server: Annotated[
        str | None,
        Option(metavar="URL", help="The address of a data set on a server; the token is read from DISCREET_TOKEN."),
    ] = None,
    analyst: Annotated[
        str | None, Option(metavar="NAME", help="The agent's account, which was granted a budget with `discreet grant`.")
    ] = None,
    most_per_question: Annotated[str, Option(metavar="EPSILON", help="The most that one question may cost.")] = "0.5",
    most_per_session: Annotated[str, Option(metavar="EPSILON", help="The most that a session may cost, which lasts a day.")] = "1",
    confirm_above: Annotated[str, Option(metavar="EPSILON", help="A question that costs more must be confirmed.")] = "0.1",
    slot: Annotated[float, Option(metavar="SECONDS", help="The shortest time in which an answer from this machine leaves.")] = 1.0,
    rows: Annotated[float, Option(metavar="N", help="About how many rows a table has that has no profile; slots follow from it.")] = 1e6,
) -> None:
    """Let an AI agent ask, through the Model Context Protocol on standard input and output.

    The agent has an account of its own: what it can ever learn is limited by what was granted to it.
    """
    require("mcp")
    from discreet.agents.agent import Agent
    from discreet.agents.limits import Limits
    from discreet.agents.sessions import LocalSource, RemoteSource
    from discreet.agents.stdio import serve
    from discreet.server.clock import Clock, rows_of, steps_of

    limits = Limits(most_per_question, most_per_session, confirm_above)
    if data is None and server is None:
        raise Invalid("name the data: discreet mcp discreet.toml --analyst agent, or discreet mcp --server https://host/visits")
    address = server if data is None else address_of(data, server)
    if address is not None:
        if analyst is not None:
            raise Invalid("--analyst: the token says who asks on a server; leave out the option")
        serve(Agent(RemoteSource.open(address), limits))
        return
    if analyst is None:
        raise Invalid(
            "an agent has an account of its own: grant it a small budget, as in `discreet grant DATA agent --epsilon 1`, "
            "and add --analyst agent"
        )
    clock = Clock(first=slot)

    def send_after(session: Session, call: str, took: float) -> float:
        return clock.leaves(clock.chosen(rows_of(session.catalog.tables, rows), steps_of(call)), took)

    serve(Agent(LocalSource.open(str(data), analyst, send_after), limits))
