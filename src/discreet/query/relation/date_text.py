"""Dates and timestamps as text, in the notation of strftime; written from parts, so that all engines give the same text."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import product

from discreet.engines.dialect import Dialect
from discreet.errors import Refused
from discreet.query.relation.calendar import PARTS, starts
from discreet.query.relation.field import MOST_LISTED, Field
from discreet.query.relation.number import Fields, Texts
from discreet.query.relation.values import part_of, start_of
from discreet.tables.kind import Kind

_MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_DIGITS = {  # the part that a directive shows, and its digits
    "%Y": ("year", 4),
    "%G": ("isoyear", 4),
    "%m": ("month", 2),
    "%d": ("day", 2),
    "%j": ("day_of_year", 3),
    "%V": ("week", 2),
    "%u": ("weekday", 1),
    "%H": ("hour", 2),
    "%M": ("minute", 2),
    "%S": ("second", 2),
}
_NAMES = {
    "%B": ("month", _MONTHS),
    "%b": ("month", [name[:3] for name in _MONTHS]),
    "%A": ("weekday", _DAYS),
    "%a": ("weekday", [name[:3] for name in _DAYS]),
}
DIRECTIVES = (*_DIGITS, *_NAMES)
_CLOCK = {"%H", "%M", "%S"}
_COARSE = {"%Y": "year", "%m": "month", "%B": "month", "%b": "month"}
LONGEST = 60  # characters of a format


def pieces(written: str) -> list[str]:
    """A format as directives and the text between them.

    >>> pieces("%Y-%m")
    ['%Y', '-', '%m']
    """
    found = [piece for piece in re.split(r"(%.)", written) if piece]
    if unknown := [piece for piece in found if piece.startswith("%") and piece not in (*DIRECTIVES, "%%")]:
        raise Refused(f"{unknown[0]} is not among the directives {' '.join(DIRECTIVES)}: write STRFTIME(day, '%Y-%m')")
    if len(written) > LONGEST or not written.isprintable() or "'" in written or not any(piece in DIRECTIVES for piece in found):
        raise Refused(f"a format has at most {LONGEST} plain characters and at least one directive: write STRFTIME(day, '%Y-%m')")
    return found


def _format(fields: Sequence[Field]) -> str:
    keys = fields[1].keys
    if fields[1].kind is not Kind.TEXT or keys is None or len(keys) != 1 or fields[1].nullable:
        raise Refused("a format must be written as a literal: write STRFTIME(day, '%Y-%m')")
    return str(keys[0])


def rule(fields: Sequence[Field]) -> Field:
    """Text; its values are public where they are few whatever the date, or where the bounds of the date are declared."""
    time = fields[0]
    if time.kind not in (Kind.DATE, Kind.TIMESTAMP):
        raise Refused("a date or a timestamp is needed, and text is not cast: declare the column's type")
    written = _format(fields)
    used = {piece for piece in pieces(written) if piece in DIRECTIVES}
    if time.kind is Kind.DATE and used & _CLOCK:
        raise Refused("a date has no hour, minute or second: use a timestamp column, or leave %H, %M and %S out")
    ends = None
    if time.kind is Kind.DATE and time.range is not None and time.range.known:
        ends = int(time.range.low), int(time.range.high)
    return Field(Kind.TEXT, None, True, _values(written, ends))


@lru_cache(maxsize=64)
def _values(written: str, ends: tuple[int, int] | None) -> tuple[str, ...] | None:
    """All values, in the order of time, where they are public."""
    found = pieces(written)
    used = [piece for piece in found if piece in DIRECTIVES]
    cyclic = [piece for piece in dict.fromkeys(used) if piece not in ("%Y", "%G")]
    if (len(set(used)) == 1 and cyclic) or set(used) <= _CLOCK:
        choices = [_shown(piece) for piece in cyclic]
        listed = [dict(zip(cyclic, chosen, strict=True)) for chosen in product(*choices)] if _few(choices) else []
        return tuple("".join(one.get(piece, _plain(piece)) for piece in found) for one in listed) or None
    if ends is None:
        return None
    finest = {_COARSE.get(piece, "day") for piece in used}
    period = "day" if "day" in finest else "month" if "month" in finest else "year"
    low = start_of(period, datetime.date.fromordinal(ends[0])).toordinal()
    days = starts(period, low, ends[1])
    return None if days is None else tuple(dict.fromkeys(value(day, written) for day in days))


def _few(choices: list[list[str]]) -> bool:
    size = 1
    for each in choices:
        size *= len(each)
    return size <= MOST_LISTED


def _shown(directive: str) -> list[str]:
    """Every text that a directive of a cycle may show."""
    if directive in _NAMES:
        return list(_NAMES[directive][1])
    part, digits = _DIGITS[directive]
    low, high = PARTS[part]
    return [str(number).zfill(digits) for number in range(low, high + 1)]


def _plain(piece: str) -> str:
    return "%" if piece == "%%" else piece


def value(moment: datetime.date, written: str) -> str:
    """A date or timestamp as text."""
    shown = []
    for piece in pieces(written):
        if piece in _NAMES:
            part, names = _NAMES[piece]
            shown.append(names[part_of(part, moment) - 1])
        elif piece in _DIGITS:
            part, digits = _DIGITS[piece]
            shown.append(str(part_of(part, moment)).zfill(digits))
        else:
            shown.append(_plain(piece))
    return "".join(shown)


def write(dialect: Dialect, texts: Texts, fields: Fields, out: Field) -> str:
    shown = [dialect.text("")]
    for piece in pieces(_format(fields)):
        if piece in _NAMES:
            part, names = _NAMES[piece]
            cases = " ".join(f"WHEN {place} THEN {dialect.text(name)}" for place, name in enumerate(names, 1))
            shown.append(f"(CASE {dialect.part(part, texts[0])} {cases} END)")
        elif piece in _DIGITS:
            part, digits = _DIGITS[piece]
            text = f"CAST({dialect.part(part, texts[0])} AS {dialect.type_name(Kind.TEXT)})"
            shown.append(f"LPAD({text}, {digits}, '0')")
        else:
            shown.append(dialect.text(_plain(piece)))
    return f"({' || '.join(shown)})"
