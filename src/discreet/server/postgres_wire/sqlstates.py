"""Errors as PostgreSQL's clients read them: a code of five characters (SQLSTATE), a message, a hint, and the place in the text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import final

from discreet.errors import BudgetExceeded, EngineError, Error, Invalid, LedgerError, RandomnessFailed, Refused, WrongType
from discreet.server.access import Forbidden, TooManyRequests, Unauthenticated
from discreet.server.outcome import error_named

# of logins and connections
PROTOCOL, TOO_MANY, STOPPING, NO_TLS, NOT_ADMITTED = "08P01", "53300", "57P01", "28000", "28000"
WRONG_PASSWORD, NOT_PERMITTED, NO_DATABASE = "28P01", "42501", "3D000"
# of statements
SYNTAX, NOT_SUPPORTED, FAILED_TRANSACTION, CANCELLED, WRONG_MODE = "42601", "0A000", "25P02", "57014", "55000"
NOT_PREPARED, NO_PORTAL, ALREADY_PREPARED, PORTAL_EXISTS, LIMIT_EXCEEDED = "26000", "34000", "42P05", "42P03", "54000"
NO_RELATION, UNDEFINED_OBJECT, UNCHANGEABLE, NO_TRANSACTION = "42P01", "42704", "55P02", "25P01"
# of values
UNDEFINED_PARAMETER, BAD_VALUE, INVALID_VALUE, TOO_LARGE = "42P02", "22P02", "22023", "22003"
# of the server
SYSTEM, INPUT_OUTPUT, UNEXPECTED = "58000", "58030", "XX000"
_STATES: tuple[tuple[type[Error], str], ...] = (
    (Unauthenticated, NOT_ADMITTED),
    (Forbidden, NOT_PERMITTED),
    (TooManyRequests, "53400"),
    (BudgetExceeded, "53400"),
    (WrongType, "42804"),
    (Refused, NOT_SUPPORTED),
    (Invalid, INVALID_VALUE),
    (LedgerError, INPUT_OUTPUT),
    (EngineError, SYSTEM),
    (RandomnessFailed, SYSTEM),
)
_PLACE = re.compile(r"line (\d+), column (\d+)")


@final
class Failure(Exception):
    """An error with its code; `fatal` ends the connection."""

    def __init__(self, state: str, message: str, hint: str | None = None, *, fatal: bool = False) -> None:
        super().__init__(message)
        self.state, self.hint, self.fatal = state, hint, fatal


@final
class OutcomeFailure(Exception):
    """A question that ended without an answer, as its job recorded it."""

    def __init__(self, outcome: Mapping[str, object]) -> None:
        super().__init__(str(outcome["message"]))
        self.outcome = outcome


def state_of(name: str) -> str:
    """The code of an error, by the name of its class."""
    kind = error_named(name)
    return next((state for error, state in _STATES if issubclass(kind, error)), UNEXPECTED)


def fields_of(error: Failure | OutcomeFailure | Error, text: str = "") -> dict[str, str]:
    """The fields of an error message; `text` is the statement that it is about."""
    notes: list[str] = []
    hint: str | None
    if isinstance(error, Failure):
        state, message, hint = error.state, str(error), error.hint
    elif isinstance(error, Error):
        state, (message, hint) = state_of(type(error).__name__), _split(str(error))
        notes = [str(note) for note in getattr(error, "__notes__", ())]
    else:
        state, (message, hint) = state_of(str(error.outcome["error"])), _split(str(error))
        told = error.outcome.get("notes")
        notes = [str(note) for note in told] if isinstance(told, list) else []
    severity = "FATAL" if isinstance(error, Failure) and error.fatal else "ERROR"
    found = {"S": severity, "V": severity, "C": state, "M": message}
    found |= {"D": "\n".join(notes)} if notes else {}
    found |= {"H": hint} if hint else {}
    position = _position(message, text)
    return found | ({"P": str(position)} if position else {})


def _split(message: str) -> tuple[str, str | None]:
    """A message of ours says what to do after its last semicolon."""
    said, _, instead = message.rpartition("; ")
    return (said, instead) if said else (message, None)


def _position(message: str, text: str) -> int | None:
    """The place in the text, counted from 1, that a message names by its line and column."""
    found = _PLACE.search(message)
    if found is None:
        return None
    line, column = int(found[1]), int(found[2])
    lines = text.split("\n")
    if not 1 <= line <= len(lines) or not 1 <= column <= len(lines[line - 1]) + 1:
        return None
    return sum(len(one) + 1 for one in lines[: line - 1]) + column
