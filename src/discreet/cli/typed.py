"""Values as they are typed in options: NAME=VALUE, ranges, lists, limits and target errors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from discreet.errors import Invalid

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def named(text: str) -> tuple[str, str]:
    """Split NAME=VALUE.

    >>> named("cost=0:500")
    ('cost', '0:500')
    """
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise Invalid(f"{text} is not of the form NAME=VALUE: write for example cost=0:500")
    return name, value


def interval(text: str) -> tuple[Any, Any]:
    """Read LOW:HIGH or LOW..HIGH.

    >>> interval("0:500"), interval("2020-01-01:2020-12-31"), interval("-1.5..2")
    ((Fraction(0, 1), Fraction(500, 1)), ('2020-01-01', '2020-12-31'), (Fraction(-3, 2), Fraction(2, 1)))
    """
    ends = text.split("..") if ".." in text else text.split(":")
    if len(ends) != 2:
        raise Invalid(f"bounds are of the form LOW:HIGH, which {text} is not: write for example --bounds cost=0:500")
    return _value(ends[0]), _value(ends[1])


def values(text: str) -> list[Any]:
    """Read values separated by commas; a value in double quotes is text, whatever it looks like.

    >>> values("er,ward"), values("1,2"), values('"1","a,b"')
    (['er', 'ward'], [Fraction(1, 1), Fraction(2, 1)], ['1', 'a,b'])
    """
    return [_value(part) for part in re.findall(r'"[^"]*"|[^,]+', text)]


def _value(text: str) -> Any:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    return Fraction(text) if _NUMBER.fullmatch(text) else text


def limits(text: str | None) -> dict[str, int] | None:
    """Read contribution limits.

    >>> limits("rows=10"), limits("groups=3,per_group=5")
    ({'rows': 10}, {'groups': 3, 'per_group': 5})
    """
    if text is None:
        return None
    pairs = [named(part) for part in text.split(",")]
    if not all(value.isdecimal() for _, value in pairs):
        raise Invalid("contribution limits are whole numbers: write --contributions rows=10, or --contributions groups=3,per_group=5")
    return {name: int(value) for name, value in pairs}


def target_errors(texts: Sequence[str]) -> dict[str, float] | None:
    """Read the half-width that is wanted for each column; None if there are none.

    >>> target_errors(["mean_cost=5"]), target_errors([])
    ({'mean_cost': 5.0}, None)
    """
    pairs = dict(map(named, texts))
    if not all(_NUMBER.fullmatch(value) for value in pairs.values()):
        raise Invalid("a target error is a number: write for example --error mean_cost=5")
    return {name: float(value) for name, value in pairs.items()} or None


def goal(texts: Sequence[str]) -> str | dict[str, str] | None:
    """Read what is minimised: a word, or the weights of grouping sets; None if nothing is said.

    >>> goal(["worst"]), goal(["=10", "sex, race=2"]), goal([])
    ('worst', {'': '10', 'sex, race': '2'}, None)
    """
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0]
    pairs = [text.rpartition("=") for text in texts]
    if not all(equals for _, equals, _ in pairs):
        raise Invalid("--minimise takes total, worst, or weights of grouping sets: write for example --minimise sex=2 --minimise =10")
    found = {name: weight for name, _, weight in pairs}
    if len(found) < len(pairs):
        raise Invalid("--minimise names a grouping set twice: leave one of its weights out")
    return found or None
