"""Replay a request that came over the wire on a session of this server."""

from __future__ import annotations

from typing import Any

from discreet.errors import Invalid
from discreet.query.fluent import QueryBuilder
from discreet.session.remote.wire import Chain
from discreet.session.session import Session

# how many arguments the first call may have by position: none of them is a price, which is given apart
_POSITIONS = {"sql": 1, "table": 1, "batch": 1, "synthesize": 1, "profile": 1, "estimate": 3, "interactive": 1, "watch": 0, "daily": 1}
_MOST_ROWS = 1_000_000
_PRICES = frozenset({"epsilon", "delta", "progress"})


def request_of(session: Session, chain: Chain) -> Any:
    """The request that a chain of calls builds; it reads and spends nothing."""
    name, arguments, named = chain.steps[0]
    if isinstance(named.get("rows"), int) and named["rows"] > _MOST_ROWS:
        raise Invalid(f"a server makes at most {_MOST_ROWS:,} synthetic rows at a time: ask for fewer")
    if len(arguments) > _POSITIONS[name] or _PRICES & named.keys():
        raise Invalid(f"{name}() takes its price beside the request: give epsilon and delta there, and other arguments by name")
    made = _called(getattr(session, name), session, arguments, named)
    for step, arguments, named in chain.steps[1:]:
        if not isinstance(made, QueryBuilder):
            raise Invalid(f"{step}() follows table(): begin with it")
        made = _called(getattr(made, step), session, arguments, named)
    return made


def _called(method: Any, session: Session, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    given = [_resolved(session, one) for one in arguments]
    by_name = {key: _resolved(session, one) for key, one in named.items()}
    try:
        return method(*given, **by_name)
    except (TypeError, OverflowError):  # the message of Python names functions of ours, which says nothing to a client
        raise Invalid(f"{method.__name__}() does not take these arguments: see its documentation") from None


def _resolved(session: Session, one: Any) -> Any:
    if isinstance(one, Chain):
        return request_of(session, one)
    if isinstance(one, dict):
        return {key: _resolved(session, inner) for key, inner in one.items()}
    if isinstance(one, list | tuple):
        return type(one)(_resolved(session, inner) for inner in one)
    return one
