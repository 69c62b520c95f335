"""Hints for a name that is unknown: the known name that was probably meant, and the names there are."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

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


def _there_are(names: list[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return f"there {'is' if len(names) == 1 else 'are'} {', '.join(names[:_MOST])}{more}"
