"""Values that a program passes beside its SQL, checked; `sql/bind.py` makes literals of them, and their text is never pasted into SQL."""

from __future__ import annotations

import datetime
import math
import numbers
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

from discreet import exact
from discreet.errors import Invalid
from discreet.tables.kind import Value, is_storable

Parameters: TypeAlias = Sequence[Any] | Mapping[str, Any] | None  # as programs give them
Values: TypeAlias = tuple[Value | None, ...] | dict[str, Value | None]
N = TypeVar("N", int, Fraction)
_MOST = 10_000  # parameters of a question
_LARGEST = 10**1500
_SHORT = 200  # characters of all values together, where a question is shown


def parameter_values(given: Any) -> Values | None:
    """Parameters as values of our own kinds, by position or by name; None if there are none.

    >>> parameter_values(["er", 0.1, None])
    ('er', Fraction(1, 10), None)
    >>> parameter_values({"dept": "er"})
    {'dept': 'er'}
    """
    if given is None:
        return None
    if isinstance(given, Mapping):
        if not all(isinstance(name, str) for name in given):
            raise Invalid('names of parameters are texts, as in {"dept": "er"}')
        return _counted({name: parameter_value(one) for name, one in given.items()})
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise Invalid('parameters are a list of values, as in ["er"], or values by name, as in {"dept": "er"}')
    return _counted(tuple(parameter_value(one) for one in given))


def _counted(values: Values) -> Values | None:
    if len(values) > _MOST:
        raise Invalid(f"a question has at most {_MOST:,} parameters: give fewer")
    return values or None


def parameter_value(one: Any) -> Value | None:
    """One parameter as a value of our own kinds."""
    match one:
        case None | bool():
            return one
        case str() if is_storable(one):
            return str(one)
        case datetime.datetime() if one.tzinfo is None:
            return one if type(one) is datetime.datetime else datetime.datetime.fromisoformat(one.isoformat())
        case datetime.datetime():
            raise Invalid("timestamps with a time zone are not supported: pass the timestamp as the table has it")
        case datetime.date():
            return one
        case Fraction():
            return _written(one)
        case numbers.Integral():  # numpy's too
            return _written(int(one))
        case float() | Decimal() | numbers.Real() if math.isfinite(one):
            return _written(exact.rational(one if isinstance(one, Decimal) else float(one), "a parameter"))
    if type(one).__name__ in ("bool", "bool_"):  # numpy's
        return bool(one)
    raise Invalid("a parameter is one value: a number, a text, a boolean, a date, a timestamp without a time zone, or None")


def _written(number: N) -> N:
    """A number that can be written as a literal."""
    if max(abs(number.numerator), number.denominator) >= _LARGEST:
        raise Invalid("a parameter has too many digits: give a shorter number")
    return number


def with_values(text: str, values: Values | None) -> str:
    """The text of a question with its values in a last comment, to be shown to people; it is never read again.

    >>> with_values("SELECT COUNT(*) FROM visits WHERE dept = ?", ("er",))
    "SELECT COUNT(*) FROM visits WHERE dept = ? -- parameters: 'er'"
    """
    if not values:
        return text
    named = isinstance(values, dict)
    pairs = values.items() if isinstance(values, dict) else enumerate(values)
    told = ", ".join(f"{_name(str(name))} = {_shown(one)}" if named else _shown(one) for name, one in pairs)
    return f"{text.rstrip()} -- parameters: {told if len(told) <= _SHORT else told[: _SHORT - 1] + '…'}"


def _name(name: str) -> str:
    """A name on one line: of names, too, a program may pass more than the question needs."""
    return name if name.isidentifier() else repr(name)


def _shown(one: Value | None) -> str:
    if isinstance(one, Fraction):
        return f"{float(one):g}"
    return one.isoformat() if isinstance(one, datetime.date) else repr(one)
