"""Questions on a remote session, in SQL or in Python: recorded as calls, planned and answered by the server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, final

from attrs import field, frozen

from discreet import exact
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.hints import suggest_and_list, suggests_arguments
from discreet.ledger.receipt import CONFIDENCE
from discreet.plots.page import html_lines
from discreet.query.fluent import NOT_COPIED, QueryBuilder
from discreet.query.statistics import registry
from discreet.session.query import Query
from discreet.session.release import Release
from discreet.session.remote.answers import bought, stored
from discreet.session.remote.http import Connection
from discreet.session.remote.plan import RemotePlan, checked
from discreet.session.remote.request import RemoteRequest, released
from discreet.session.remote.wire import Chain, builder_methods, plain

_ELSEWHERE = "this query belongs to another session: build it with db.sql(...) or db.table(...) of this one"
_LONGEST = 300  # characters of a chain in its repr


@final
@frozen(repr=False, eq=False)
class RemoteQuery:
    """A question on a remote session. `plan` is free and reads no private row; `release` pays and answers."""

    connection: Connection
    chain: Chain
    shown: str
    html: str | None = None
    is_priced: bool = False  # whether its text states an epsilon

    @classmethod
    def of(cls, connection: Connection, chain: Chain) -> RemoteQuery:
        """Let the server read a question; Refused or Invalid if it cannot be asked."""
        said = checked(connection, chain)
        return cls(connection, chain, str(said["shown"]), said.get("html"), bool(said.get("priced")))

    # ── planning ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @suggests_arguments("plan")
    def plan(self, epsilon: Number | None = None, delta: Number | None = None, *, confidence: Number = CONFIDENCE) -> RemotePlan:
        """What would happen at this price; reads and spends nothing."""
        return RemotePlan.of(self.connection, self.chain, {"epsilon": epsilon, "delta": delta, "confidence": confidence})

    def explain(self, epsilon: Number | None = None, delta: Number | None = None, *, confidence: Number = CONFIDENCE) -> Any:
        """What would happen at this price, in words; the same as `plan(…).explain()`."""
        return self.plan(epsilon, delta, confidence=confidence).explain()

    @suggests_arguments("price")
    def price(
        self, error: Mapping[str, float], *, size: int | None = None, confidence: Number = CONFIDENCE, delta: Number | None = None,
        at: Mapping[str, float] | None = None, assume: Mapping[str, Any] | None = None,
    ) -> Fraction:  # fmt: skip
        """The least ε, to three digits, at which every output meets its target error, for every true value, or for those in `at`; free."""
        more = {"size": size, "confidence": confidence, "delta": delta, "at": at, "assume": assume}
        body = {"request": self.chain.to_json(), "error": plain(error), "more": plain({k: v for k, v in more.items() if v is not None})}
        return exact.DecimalFraction(exact.rational(self.connection.post("prices", body)["epsilon"]))

    # ── releasing ────────────────────────────────────────────────────────────────────────────────────────────────────

    @suggests_arguments("release")
    def release(
        self, epsilon: Number | None = None, delta: Number | None = None, *, error: Mapping[str, float] | None = None,
        size: int | None = None, at: Mapping[str, float] | None = None, assume: Mapping[str, Any] | None = None,
        confidence: Number = CONFIDENCE, progress: Callable[[str], None] | None = None,
    ) -> Release:  # fmt: skip
        """Pay and release the answers, as `Query.release`; the same question at the same price is free the second time."""
        if error is not None and epsilon is not None:
            raise Invalid("give epsilon or error, not both: one follows from the other")
        target = {} if error is None else {"error": error, "size": size, "at": at, "assume": assume}
        price = {"epsilon": epsilon, "delta": delta, "confidence": confidence} | target
        say = None if progress is None else lambda step, _: progress(step)
        return _as_release(bought(self.connection, self.chain, price, progress=say))

    def stored(self, epsilon: Number | None = None, delta: Number | None = None, *, confidence: Number = CONFIDENCE) -> Release | None:
        """The answer at this price, if this account has received it already; None if it would have to be paid for. Nothing is charged."""
        found = stored(self.connection, self.chain, {"epsilon": epsilon, "delta": delta, "confidence": confidence})
        return None if found is None else _as_release(found)

    def bias(self, epsilon: Number, delta: Number = 0, *, of: Release | None = None) -> Release:
        """Pay to learn how many units bounding and clipping affect, as `Query.bias`."""
        if of is not None and not isinstance(of, Release):
            raise Invalid("of= must be a release of this question: give what its release(...) returned")
        return _as_release(bought(self.connection, self.chain, {"epsilon": epsilon, "delta": delta}, verb="bias", of=of))

    def dry_run(self, epsilon: Number | None = None, delta: Number | None = None) -> Release:
        """Run end to end on mock data of the declared schema; free, and marked as a dry run."""
        return _as_release(bought(self.connection, self.chain, {"epsilon": epsilon, "delta": delta}, verb="dry_run"))

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid(NOT_COPIED)

    def __repr__(self) -> str:
        return self.shown

    def _repr_html_(self) -> str:
        return self.html or html_lines(repr(self), [".plan(epsilon=…) shows the error and spends nothing; .release(epsilon=…) pays"])


@final
@frozen(repr=False)
class RemoteBuilder:
    """Build a question step by step, with the methods of `db.table(...)` on a local session; the server reads it when it is planned.

    >>> visits = RemoteBuilder(Connection("https://host", "clinic", "token"), Chain((("table", ("visits",), {}),)))
    >>> visits.where("cost > 10").group_by("dept").count(name="n")
    visits.where('cost > 10').group_by('dept').count(name='n')
    """

    connection: Connection = field(eq=False)
    chain: Chain

    def __getattr__(self, name: str) -> Callable[..., RemoteBuilder]:
        """The steps of a question (where, join, group_by, having, …) and the statistics (count, mean, …)."""
        if name.startswith("_") or name not in builder_methods():
            told = "" if name.startswith("_") else f"; {suggest_and_list(name, builder_methods())}"
            raise AttributeError(f"a query has no {name[:40]!r}{told}")

        def step(*arguments: Any, **named: Any) -> RemoteBuilder:
            given = [sent(self.connection, one) for one in arguments]
            return RemoteBuilder(
                self.connection, self.chain.then(name, *given, **{key: sent(self.connection, one) for key, one in named.items()})
            )

        step.__name__, step.__qualname__, step.__doc__ = name, f"RemoteBuilder.{name}", _doc(name)
        return step

    def __dir__(self) -> list[str]:
        return [*dir(type(self)), *builder_methods()]

    def done(self) -> RemoteQuery:
        """The question, as the server reads it."""
        return RemoteQuery.of(self.connection, self.chain)

    def plan(self, *price: Any, **more: Any) -> RemotePlan:
        """Plan the query at this price; reads and spends nothing."""
        return self._query.plan(*price, **more)

    def release(self, *price: Any, **more: Any) -> Release:
        """Pay and release the answers."""
        return self._query.release(*price, **more)

    def dry_run(self, *price: Any, **more: Any) -> Release:
        """Run end to end on mock data; free."""
        return self._query.dry_run(*price, **more)

    def price(self, *error: Any, **more: Any) -> Fraction:
        """The least ε at which every output meets its target error; free."""
        return self._query.price(*error, **more)

    def bias(self, *price: Any, **more: Any) -> Release:
        """Pay to learn how many units bounding and clipping affect."""
        return self._query.bias(*price, **more)

    def estimate(
        self, what: str, of: str | None = None, *, epsilon: Number | None = None, delta: Number | None = None, **asked: Any
    ) -> Any:
        """Pay for an estimate of a robust statistic of one value for each unit, as `Session.estimate`."""
        request = RemoteRequest(self.connection, Chain((("estimate", (self.chain, what, of), asked),)))
        return released(request, epsilon, delta)

    @property
    def _query(self) -> RemoteQuery:
        return RemoteQuery(self.connection, self.chain, repr(self))

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid(NOT_COPIED)

    def __repr__(self) -> str:
        table, rest = self.chain.steps[0][1][0], self.chain.steps[1:]
        text = ".".join([str(table), repr(Chain(rest))]) if rest else str(table)
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def sent(connection: Connection, one: Any) -> Any:
    """An argument as it is sent: queries of this session become chains of calls."""
    match one:
        case RemoteBuilder() | RemoteQuery():
            if one.connection is not connection:
                raise Invalid(_ELSEWHERE)
            return one.chain
        case QueryBuilder() | Query():
            raise Invalid(_ELSEWHERE)
        case list() | tuple():
            return type(one)(sent(connection, inner) for inner in one)
        case dict():
            return {key: sent(connection, inner) for key, inner in one.items()}
    return one


def _as_release(found: Any) -> Release:
    assert isinstance(found, Release), "the answer to a question is one"
    return found


def _doc(name: str) -> str | None:
    found = registry.by_method(name)
    return getattr(QueryBuilder, name).__doc__ if found is None else found[0].__doc__
