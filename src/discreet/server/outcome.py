"""What becomes of a request: a release, or an error as it is told."""

from __future__ import annotations

from typing import Any, TypeAlias

from discreet.errors import Error
from discreet.server.store.jobs import State

Outcome: TypeAlias = dict[str, Any]
NO_JOB = "there is no such job"
UNEXPECTED = "something unexpected failed on the server; its owner can look up the reason"
INTERRUPTED = "the server stopped after this was charged and before it was answered: asking again draws and charges again"


def state_of(outcome: Outcome) -> State:
    """The state of a job that ended with this outcome."""
    return "failed" if "error" in outcome else "done"


def as_outcome(error: Error) -> Outcome:
    """An error as it is told: its kind, its message and its notes, none of which contains data."""
    notes = [str(note) for note in getattr(error, "__notes__", ())]
    return {"error": type(error).__name__, "message": str(error), "notes": notes}


def error_named(name: str) -> type[Error]:
    """The class of an error that an outcome names; Error if there is none of this name."""
    waiting: list[type[Error]] = [Error]
    while waiting:
        one = waiting.pop()
        if one.__name__ == name:
            return one
        waiting += one.__subclasses__()
    return Error
