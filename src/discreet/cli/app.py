"""The command `discreet`: its commands, and the exit code of each error."""

from __future__ import annotations

import errno
import sys
from typing import Annotated

from rich.text import Text
from typer import Exit, Option, Typer

import discreet
from discreet.cli import screen
from discreet.cli.ask import ask
from discreet.cli.backup import backup
from discreet.cli.budget import budget
from discreet.cli.demo import demo
from discreet.cli.explain import explain
from discreet.cli.grant import grant
from discreet.cli.init import init
from discreet.cli.mcp import mcp
from discreet.cli.migrate import migrate
from discreet.cli.output import UNWRITABLE, as_typed, drop, show_what_can_be_shown
from discreet.cli.profile import profile
from discreet.cli.restore import restore
from discreet.cli.serve import serve
from discreet.cli.synthesize import synthesize
from discreet.cli.verify import verify
from discreet.errors import BudgetExceeded, EngineError, Error, Invalid, LedgerError, Refused

COMMANDS = (
    init,
    profile,
    ask,
    explain,
    synthesize,
    budget,
    grant,
    verify,
    migrate,
    serve,
    mcp,
    backup,
    restore,
    demo,
)  # one file each, shown in this order
# scripts may rely on these; 2 is also the code of a wrong option
CODES: tuple[tuple[type[Error], int], ...] = ((Invalid, 2), (Refused, 3), (BudgetExceeded, 4), (LedgerError, 5), (EngineError, 6))
OTHER = 1
INTERRUPTED = 130
UNEXPECTED = "{}, which is a bug in discreet: please report it with the command. Its text is not shown, because it may contain data"
UNWRITTEN = "the output could not be written: make room, or write it elsewhere, and ask again. What was paid for is kept, so that is free"

app = Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"discreet {discreet.__version__}")
        raise Exit


@app.callback(
    epilog="Exit codes: 0 success, 2 wrong usage or policy, 3 refused, 4 budget exceeded, 5 ledger, 6 engine, 1 anything else.",
)
def top(
    version: Annotated[bool, Option("--version", metavar="", help="Print the version.", callback=_version, is_eager=True)] = False,
) -> None:
    """Ask questions about people's data with differential privacy. See the error first, pay from one budget, never overspend."""


for command in COMMANDS:
    app.command()(command)


def main() -> None:
    """Run the command; an error is one message on stderr and an exit code."""
    show_what_can_be_shown()
    sys.argv[1:] = as_typed(sys.argv[1:])
    try:
        try:
            app(prog_name="discreet")
        finally:
            sys.stdout.flush()  # here, where an error can still be reported
    except Error as error:
        fail("Refused" if isinstance(error, Refused) else type(error).__name__, str(error))
        sys.exit(next((code for kind, code in CODES if isinstance(error, kind)), OTHER))
    except OSError as error:
        if error.errno not in UNWRITABLE:
            fail("unexpected", UNEXPECTED.format(type(error).__name__))
        elif error.errno != errno.EPIPE:  # else the reader has gone, and misses nothing
            fail("output", UNWRITTEN)
        drop(sys.stdout)
        sys.exit(OTHER)
    except SystemExit as leaving:
        if leaving.code == INTERRUPTED:  # typer has caught the KeyboardInterrupt
            fail("interrupted", "what was charged until now stays charged: `discreet budget DATA` shows it")
        raise
    except Exception as error:  # its text may contain data
        fail("unexpected", UNEXPECTED.format(type(error).__name__))
        sys.exit(OTHER)


def fail(kind: str, message: str) -> None:
    """Print an error on stderr."""
    words = {"BudgetExceeded": "budget exceeded", "PolicyError": "policy", "LedgerError": "ledger", "EngineError": "engine"}
    try:
        screen.err.print(Text(f"{words.get(kind, kind.lower())}: ", style="bold red") + Text(message, style="default"), soft_wrap=True)
        sys.stderr.flush()
    except OSError:
        drop(sys.stderr)  # then the exit code alone reports it
