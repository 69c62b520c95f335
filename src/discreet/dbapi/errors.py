"""The errors of PEP 249. Each has the message of our own error, which says what to do and contains no data, and that error as its cause.

Error
├── InterfaceError         a closed connection or cursor, or fetching before a question
└── DatabaseError
    ├── DataError          what was not declared could not be discovered at this price (NotEnoughData)
    ├── OperationalError   budget, server, engine, ledger (BudgetExceeded, Unreachable, EngineError, LedgerError, PolicyError)
    ├── ProgrammingError   the question or an argument (Refused, Invalid)
    ├── IntegrityError     never raised
    ├── InternalError      any other error of discreet
    └── NotSupportedError  several questions at once
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from discreet import errors


class Warning(Exception):  # as PEP 249 names it
    """Never raised; PEP 249 asks for it."""


class Error(Exception):
    """Any error of this interface."""


class InterfaceError(Error):
    """The connection or cursor is not in a state for this."""


class DatabaseError(Error):
    """An error of the question, the budget or the server."""


class DataError(DatabaseError):
    """What was not declared could not be discovered at this price."""


class OperationalError(DatabaseError):
    """The budget is too small, or the server, engine or ledger failed."""


class IntegrityError(DatabaseError):
    """Never raised; PEP 249 asks for it."""


class InternalError(DatabaseError):
    """An error that has no other class here."""


class ProgrammingError(DatabaseError):
    """The question is refused, or an argument is not valid; the message says what would work."""


class NotSupportedError(DatabaseError):
    """Something that private questions cannot do."""


_CLASSES: tuple[tuple[type[errors.Error], type[DatabaseError]], ...] = (  # our error, and that of PEP 249; the first that fits counts
    (errors.NotEnoughData, DataError),
    (errors.Refused, ProgrammingError),
    (errors.PolicyError, OperationalError),
    (errors.Invalid, ProgrammingError),
    (errors.BudgetExceeded, OperationalError),
    (errors.LedgerError, OperationalError),
    (errors.EngineError, OperationalError),
    (errors.Unreachable, OperationalError),
    (errors.RandomnessFailed, OperationalError),
)


@contextmanager
def translated() -> Iterator[None]:
    """Raise our errors as those of PEP 249."""
    try:
        yield
    except errors.Error as error:
        kind = next((theirs for ours, theirs in _CLASSES if isinstance(error, ours)), InternalError)
        found = kind(str(error))
        for note in getattr(error, "__notes__", ()):
            found.add_note(note)
        raise found from error
