"""The command `discreet`: which commands there are, and which exit code each error has."""

from __future__ import annotations

import errno
import sys
from typing import Annotated

from rich.text import Text
from typer import Argument, Exit, Option, Typer

import discreet
from discreet.cli import screen
from discreet.cli.account import budget, grant, verify
from discreet.cli.ask import ask, explain
from discreet.cli.demo import demo
from discreet.cli.migrate import migrate
from discreet.cli.output import UNWRITABLE, as_typed, drop, show_what_can_be_shown
from discreet.cli.synthesize import synthesize
from discreet.errors import BudgetExceeded, EngineError, Error, Invalid, LedgerError, Refused
from discreet.session.project import init as draft_project

# what scripts may rely on; 2 is also what a wrong option gives
CODES: tuple[tuple[type[Error], int], ...] = ((Invalid, 2), (Refused, 3), (BudgetExceeded, 4), (LedgerError, 5), (EngineError, 6))
OTHER = 1
INTERRUPTED = 130
UNEXPECTED = "{}, which is a mistake in discreet; nothing more is said, for it may contain data"

app = Typer(
    help="Ask private questions of data about people: see the error first, pay from one budget, never overspend.",
    epilog="Exit codes: 0 done, 2 wrong usage or policy, 3 refused, 4 budget exceeded, 5 ledger, 6 engine, 1 anything else.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"discreet {discreet.__version__}")
        raise Exit


@app.callback()
def top(version: Annotated[bool, Option("--version", help="Print the version.", callback=_version, is_eager=True)] = False) -> None:
    """Ask private questions of data about people: see the error first, pay from one budget, never overspend."""


@app.command()
def init(
    data: Annotated[list[str], Argument(metavar="DATA...", help="Files that hold the tables, or their folder.")],
    output: Annotated[str | None, Option(metavar="FILE", help="Where to write it; discreet.toml beside the data if not said.")] = None,
) -> None:
    """Draft a discreet.toml from the files' schemas; no value is looked at and nothing is overwritten."""
    place = draft_project(data, output)
    screen.out.print("written: ", Text(str(place)), sep="")
    screen.out.print(
        "go through every line marked CHECK, then: discreet ask ", Text(str(place)), ' "SELECT COUNT(*) …" --epsilon 0.1', sep=""
    )


app.command()(ask)
app.command()(explain)
app.command()(synthesize)
app.command()(budget)
app.command()(grant)
app.command()(verify)
app.command()(migrate)
app.command()(demo)


def main() -> None:
    """Run the command; an error is one message on stderr and an exit code."""
    show_what_can_be_shown()
    sys.argv[1:] = as_typed(sys.argv[1:])
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # here, where an error can still be told
    except Error as error:
        fail(type(error).__name__, str(error))
        sys.exit(next((code for kind, code in CODES if isinstance(error, kind)), OTHER))
    except OSError as error:
        if error.errno not in UNWRITABLE:
            fail("unexpected", UNEXPECTED.format(type(error).__name__))
        elif error.errno != errno.EPIPE:  # else whoever read has gone, and misses nothing
            fail("output", "it could not be written: make room, or write it elsewhere. What was paid for is kept: asked again it is free")
        drop(sys.stdout)
        sys.exit(OTHER)
    except SystemExit as leaving:
        if leaving.code == INTERRUPTED:  # typer has caught the KeyboardInterrupt
            fail("interrupted", "what was charged before stays charged: `discreet budget` shows it")
        raise
    except Exception as error:  # its text may contain data
        fail("unexpected", UNEXPECTED.format(type(error).__name__))
        sys.exit(OTHER)


def fail(kind: str, message: str) -> None:
    """Say what went wrong, on stderr."""
    words = {"BudgetExceeded": "budget exceeded", "PolicyError": "policy", "LedgerError": "ledger", "EngineError": "engine"}
    try:
        screen.err.print(Text(f"{words.get(kind, kind.lower())}: ", style="bold red") + Text(message, style="default"), soft_wrap=True)
        sys.stderr.flush()
    except OSError:
        drop(sys.stderr)  # then the exit code alone says it
