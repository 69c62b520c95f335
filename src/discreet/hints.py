"""Hints for a name that is unknown: the known name that was probably meant, and the names there are."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_MOST = 20  # names that a message lists
_FEW = 12  # names that a message lists where it need not


def closest(name: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The known name that is most like this one, whatever the case of its letters; None if none is close.

    >>> closest("COTS", ["cost", "dept"]), closest("x", ["cost", "dept"])
    ('cost', None)
    """
    folded = {other.casefold(): other for other in known}
    near = difflib.get_close_matches(name.casefold(), folded, 1, likeness)
    return folded[near[0]] if near else None


def suggest(name: str, known: Iterable[str]) -> str:
    """The name that was probably meant; else the names there are, if they are few; else nothing.

    >>> suggest("budgets", ["budget", "tables"]), suggest("x", ["cost", "dept"]), suggest("x", map(str, range(100)))
    ('did you mean budget?', 'there are cost, dept', '')
    """
    names = sorted(known)
    near = closest(name, names)
    return f"did you mean {near}?" if near is not None else _there_are(names) if 0 < len(names) <= _FEW else ""


def suggest_and_list(name: str, known: Iterable[str]) -> str:
    """The name that was probably meant, if one is close, and the names there are.

    >>> suggest_and_list("cots", ["cost", "dept"])
    'did you mean cost? there are cost, dept'
    """
    names = sorted(known)
    near = closest(name, names)
    return (f"did you mean {near}? " if near is not None else "") + _there_are(names)


def check_arguments(called: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise TypeError for a keyword argument that is unknown, with the one that was probably meant.

    >>> check_arguments("release", ["epsilom"], ["epsilon", "delta"])
    Traceback (most recent call last):
    TypeError: release() has no argument 'epsilom'; did you mean epsilon?
    """
    names = list(known)
    for name in given:
        if name not in names:
            raise TypeError(f"{called}() has no argument {name[:40]!r}; {suggest(name, names) or _there_are(sorted(names))}")


def suggests_arguments(called: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let a function that users call by this name suggest the argument that was probably meant."""

    def decorated(function: Callable[P, T]) -> Callable[P, T]:
        known = [name for name in inspect.signature(function).parameters if name not in ("self", "cls", "pipeline")]

        @functools.wraps(function)
        def checked(*arguments: P.args, **named: P.kwargs) -> T:
            check_arguments(called, named, known)
            return function(*arguments, **named)

        return checked

    return decorated


def _there_are(names: list[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return f"there {'is' if len(names) == 1 else 'are'} {', '.join(names[:_MOST])}{more}"
