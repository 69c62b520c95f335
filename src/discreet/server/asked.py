"""A request as it came over the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

from attrs import frozen

from discreet.errors import Invalid
from discreet.query.parameters import parameter_values, with_values
from discreet.session.remote.wire import Chain, value

VERBS = ("release", "refine", "receive", "bias", "dry_run")
_PRICE = frozenset({"epsilon", "delta", "confidence", "error", "size", "at", "assume"})


@final
@frozen
class Asked:
    """A request as it came over the wire: the chain of calls, the price, and what is done with it."""

    chain: Chain
    verb: str
    price: dict[str, Any]
    refined: tuple[dict[str, Any], ...] = ()  # the price of each refinement
    of: str | None = None  # a release, to which bias() refers

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> Asked:
        """Read a body; Invalid if it is none."""
        verb = body.get("verb", "release")
        if verb not in VERBS:
            raise Invalid(f"verb is one of {', '.join(VERBS)}")
        said = body.get("refine") or []
        price, *refined = (value(one) for one in (body.get("price") or {}, *([said] if isinstance(said, dict) else said)))
        if not all(isinstance(one, dict) for one in (price, *refined)):
            raise Invalid('the price is written as {"epsilon": 0.1}')
        if unknown := {str(name) for one in (price, *refined) for name in one} - _PRICE:
            raise Invalid(f"a price has no {sorted(unknown)[0][:50]!r}: it has {', '.join(sorted(_PRICE))}")
        return cls(Chain.from_json(body.get("request")), verb, price, tuple(refined), body.get("of"))

    @property
    def title(self) -> str:
        """What was asked, for people."""
        kind, given, named = self.chain.steps[0]
        match kind, given:
            case "sql", [text, *_]:
                return with_values(str(text), parameter_values(named.get("parameters")))
            case (("synthesize" | "profile"), [str(table)]) if len(self.chain.steps) == 1 and set(named) <= {"columns"}:
                columns = named.get("columns")
                of = f": {', '.join(map(str, columns))}" if isinstance(columns, list | tuple) else ""
                return f"{'synthetic table' if kind == 'synthesize' else 'profile'} of {table}{of}"
        return repr(self.chain)


def as_received(said: Mapping[str, Any], answered: Mapping[str, Any]) -> dict[str, Any]:
    """The request of somebody with whom an answer was shared: a refined one is received, and charged, with what it refines.

    `answered` is the outcome. It states the price with each δ: where the request leaves δ out, every account has its own.
    """
    said = dict(said) | {name: answered[name] for name in ("price", "refine") if name in answered}
    refined = said.get("refine") or []
    return said | {
        "verb": "receive" if said.get("verb") == "refine" else said.get("verb", "release"),
        "refine": [refined] if isinstance(refined, dict) else refined,
    }
