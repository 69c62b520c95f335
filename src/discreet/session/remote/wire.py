"""Requests as JSON: a chain of method calls, which a remote session records and a server replays on a session of its own.

`db.table("visits").where("cost > 10").count()` is [["table", ["visits"], {}], ["where", ["cost > 10"], {}], ["count", [], {}]]. Values are
plain JSON; fractions, decimals, dates, timestamps and tuples are tagged, as in {"$date": "2026-01-31"}, and so are nested chains.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias, final

from attrs import frozen

from discreet import exact
from discreet.errors import Invalid
from discreet.hints import suggest_and_list
from discreet.query.statistics import registry

Step: TypeAlias = tuple[str, tuple[Any, ...], dict[str, Any]]
ROWS = frozenset({"where", "with_columns", "join", "stack", "per_unit"})
QUESTION = frozenset({
    "group_by", "rollup", "cube", "agg", "having", "order_by", "limit", "with_contributions", "with_other", "with_sample", "minimise",
})  # fmt: skip
FIRST = frozenset({"sql", "table", "batch", "synthesize", "profile", "estimate", "interactive", "watch", "daily"})
_DEEPEST, _MOST = 20, 1000  # nested values; steps of a chain
_LOCAL = "this cannot be sent to a server: use numbers, texts, dates, lists and dicts, and no functions"


@final
@frozen
class Chain:
    """Method calls, from a session on."""

    steps: tuple[Step, ...]

    def then(self, name: str, /, *arguments: Any, **named: Any) -> Chain:
        """One more call."""
        return Chain((*self.steps, (name, arguments, named)))

    def to_json(self) -> list[Any]:
        """As plain values; Invalid if an argument is none."""
        return [
            [name, [plain(one) for one in arguments], {key: plain(one) for key, one in named.items()}]
            for name, arguments, named in self.steps
        ]

    @classmethod
    def from_json(cls, said: Any, depth: int = 0) -> Chain:
        """Read back what `to_json` gave; only calls that build a request are accepted."""
        if not isinstance(said, list) or not 0 < len(said) <= _MOST:
            raise Invalid("a request is a list of calls, as in [['sql', ['SELECT COUNT(*) FROM visits'], {}]]")
        return cls(tuple(_step(one, place, depth) for place, one in enumerate(said)))

    def __repr__(self) -> str:
        called = (
            f"{name}({', '.join([*map(repr, arguments), *(f'{k}={v!r}' for k, v in named.items())])})"
            for name, arguments, named in self.steps
        )
        return ".".join(called)


def _step(said: Any, place: int, depth: int) -> Step:
    if not (
        isinstance(said, list) and len(said) == 3 and isinstance(said[0], str) and isinstance(said[1], list) and isinstance(said[2], dict)
    ):
        raise Invalid("each call of a request is [name, [arguments], {named arguments}]")
    name, allowed = said[0], FIRST if place == 0 else builder_methods()
    if name not in allowed:
        raise Invalid(f"a request cannot call {name[:50]!r} here; {suggest_and_list(name[:50], allowed)}")
    return name, tuple(value(one, depth + 1) for one in said[1]), {str(key): value(one, depth + 1) for key, one in said[2].items()}


def builder_methods() -> frozenset[str]:
    """The calls that may follow the first."""
    return ROWS | QUESTION | frozenset(registry.methods())


def plain(one: Any, depth: int = 0) -> Any:
    """A value as plain JSON."""
    if depth > _DEEPEST:
        raise Invalid(_LOCAL)
    match one:
        case None | bool() | int() | str():
            return one
        case float():
            return one if math.isfinite(one) else {"$float": str(one)}
        case Fraction():
            return {"$fraction": str(one)}
        case Decimal():
            return {"$decimal": str(one)}
        case datetime.datetime():
            return {"$datetime": one.isoformat()}
        case datetime.date():
            return {"$date": one.isoformat()}
        case Chain():
            return {"$chain": one.to_json()}
        case Mapping():
            if all(isinstance(key, str) and not key.startswith("$") for key in one):
                return {key: plain(inner, depth + 1) for key, inner in one.items()}
            return {"$pairs": [[plain(key, depth + 1), plain(inner, depth + 1)] for key, inner in one.items()]}
        case tuple():  # a pair is a range where a list is several values
            return {"$tuple": [plain(inner, depth + 1) for inner in one]}
        case Sequence() | set() | frozenset() if not isinstance(one, bytes | bytearray | memoryview):
            return [plain(inner, depth + 1) for inner in one]
    raise Invalid(_LOCAL)


def value(said: Any, depth: int = 0) -> Any:
    """Read back what `plain` gave."""
    if depth > _DEEPEST:
        raise Invalid("a value of this request is nested too deeply")
    try:
        match said:
            case {"$fraction": str(text)} | {"$decimal": str(text)}:
                return exact.rational(text)
            case {"$datetime": str(text)}:
                return datetime.datetime.fromisoformat(text)
            case {"$date": str(text)}:
                return datetime.date.fromisoformat(text)
            case {"$float": str(text)}:
                return float(text)
            case {"$tuple": list(inner)}:
                return tuple(value(one, depth + 1) for one in inner)
            case {"$chain": inner}:
                return Chain.from_json(inner, depth + 1)
            case {"$pairs": list(pairs)}:
                return {value(key, depth + 1): value(one, depth + 1) for key, one in pairs}
            case dict():
                return {str(key): value(one, depth + 1) for key, one in said.items()}
            case list():
                return [value(one, depth + 1) for one in said]
    except (ValueError, TypeError):
        raise Invalid("a value of this request cannot be read: check its dates and fractions") from None
    return said
