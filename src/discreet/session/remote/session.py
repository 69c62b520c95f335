"""A session on the other side of a network: the same calls and the same answers; the data and the ledger stay on the server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, final

from discreet import exact
from discreet.errors import Invalid, Refused
from discreet.exact import Number
from discreet.hints import suggest_and_list
from discreet.ledger.standing import Amount
from discreet.plots.page import html_lines
from discreet.query.parameters import Parameters, parameter_values
from discreet.session.release import Release
from discreet.session.released import Released
from discreet.session.remote.answers import bought
from discreet.session.remote.http import Connection, Progress
from discreet.session.remote.query import RemoteBuilder, RemoteQuery, sent
from discreet.session.remote.request import RemoteRequest, released, require_price
from discreet.session.remote.runs import RemoteOpening
from discreet.session.remote.wire import Chain, value


@final
class RemoteSession:
    """A connection to a data set of a server, with the methods of `Session`: who asks is the holder of the token."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._about: dict[str, Any] = connection.get()  # also tells whether the token is good

    @classmethod
    def open(cls, url: str, token: str | None = None) -> RemoteSession:
        """Connect to https://host/name, with a token or that of the environment (DISCREET_TOKEN)."""
        return cls(Connection.of(url, token))

    # ── questions ────────────────────────────────────────────────────────────────────────────────────────────────────

    def sql(
        self, text: str, parameters: Parameters = None, *, dialect: str = "duckdb", other: bool = False,
        contributions: Mapping[str, int] | None = None, sample: Number | None = None, minimise: Any = None,
    ) -> RemoteQuery:  # fmt: skip
        """Ask in SQL; nothing is read or spent until `release`."""
        given = {"dialect": dialect, "other": other, "contributions": contributions, "sample": sample, "minimise": minimise}
        return RemoteQuery.of(self._connection, self._sql(text, parameters, **given))

    def _sql(self, text: str, parameters: Parameters, **given: Any) -> Chain:
        values = parameter_values(parameters)
        given |= {"parameters": list(values) if isinstance(values, tuple) else values}
        usual = {"dialect": "duckdb", "other": False, "contributions": None, "sample": None, "minimise": None, "parameters": None}
        return self._chain("sql", text, **{name: one for name, one in given.items() if one != usual[name]})

    def table(self, name: str) -> RemoteBuilder:
        """Ask in Python, beginning with a table: `db.table("visits").where("cost > 10").group_by("dept").count().release(epsilon=0.1)`."""
        if not isinstance(name, str):
            raise Invalid("a table name must be text, as in 'visits'")
        names = [table["name"] for table in self._about["tables"]]
        if name.casefold() not in map(str.casefold, names):
            raise Refused(f"there is no table {name[:80]}; {suggest_and_list(name, names)}")
        return RemoteBuilder(self._connection, self._chain("table", name))

    def ask(self, text: str, parameters: Parameters = None, *, dialect: str = "duckdb", **price: Any) -> Release:
        """Ask in SQL and release at once; the server reads the question when it is to answer it."""
        given = {name: price.pop(name, None) for name in ("sample", "minimise")}
        chain = self._sql(text, parameters, dialect=dialect, **given)
        return RemoteQuery(self._connection, chain, text).release(**price)

    def batch(self, questions: Any, epsilon: Number | None = None, delta: Number | None = None, **priced: Any) -> Any:
        """Ask several questions together at one price, as `Session.batch`."""
        named = questions.items() if isinstance(questions, Mapping) else enumerate(questions)
        asked = {name: one.chain if isinstance(one, RemoteQuery) else one for name, one in named}
        listed = asked if isinstance(questions, Mapping) else list(asked.values())
        request = self._request("batch", listed)
        if epsilon is None and not priced:
            return released(request, None, delta)
        return bought(self._connection, request.chain, {"epsilon": epsilon, "delta": delta, **priced})

    # ── with an epsilon: release or open at once; without: a request to plan first ───────────────────────────────────

    def synthesize(
        self, table: Any, epsilon: Number | None = None, delta: Number | None = None, *, progress: Progress | None = None, **asked: Any
    ) -> Any:
        """Make a synthetic table, as `Session.synthesize`."""
        return released(self._request("synthesize", table, **asked), epsilon, delta, progress)

    def estimate(
        self, table: Any, what: Callable[[Any], Any] | str, of: str | None = None, *, epsilon: Number | None = None,
        delta: Number | None = None, **asked: Any,
    ) -> Any:  # fmt: skip
        """Estimate a robust statistic of one value per unit, as `Session.estimate`; functions run on local sessions only."""
        if not isinstance(what, str):
            raise Refused("a function would run on the server and see private rows: give the name of a statistic, such as 'median'")
        return released(self._request("estimate", table, what, of, **asked), epsilon, delta)

    def profile(
        self, table: str | None = None, epsilon: Number | None = None, delta: Number | None = None, *, progress: Progress | None = None
    ) -> Any:
        """Buy what is public about a table, once, as `Session.profile`."""
        found = released(self._request("profile", *([] if table is None else [table])), epsilon, delta, progress)
        self._about = self._connection.get() if epsilon is not None else self._about
        return found

    def interactive(
        self, columns: Sequence[str], epsilon: Number | None = None, accuracy: Number | None = None, *, delta: Number | None = None,
        **asked: Any,
    ) -> Any:  # fmt: skip
        """Open a conversation, as `Session.interactive`."""
        more = {"accuracy": accuracy} | asked
        return _opened(self._opening("interactive", columns, **{k: v for k, v in more.items() if v is not None}), epsilon, delta)

    def watch(self, epsilon: Number | None = None, threshold: Number | None = None, rounds: int = 1, **asked: Any) -> Any:
        """Open a stream of threshold questions, as `Session.watch`."""
        return _opened(self._opening("watch", threshold=threshold, rounds=rounds, **asked), epsilon, None)

    def daily(self, table: Any, *, epsilon: Number | None = None, delta: Number | None = None, **asked: Any) -> Any:
        """Open a feed of running counts or sums, as `Session.daily`."""
        return _opened(self._opening("daily", table, **asked), epsilon, delta)

    def _chain(self, call: str, /, *arguments: Any, **named: Any) -> Chain:
        given = tuple(sent(self._connection, one) for one in arguments)
        return Chain(((call, given, {key: sent(self._connection, one) for key, one in named.items()}),))

    def _request(self, call: str, /, *arguments: Any, **named: Any) -> RemoteRequest:
        return RemoteRequest(self._connection, self._chain(call, *arguments, **named))

    def _opening(self, call: str, /, *arguments: Any, **named: Any) -> RemoteOpening:
        return RemoteOpening(self._connection, self._chain(call, *arguments, **named))

    # ── the budget ───────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def remaining(self) -> Amount:
        """The price of the largest single question that this account is still admitted."""
        return _amount(self.budget["remaining"])

    @property
    def spent(self) -> Amount:
        """What this account was charged so far."""
        return _amount(self.budget["spent"])

    @property
    def budget(self) -> dict[str, Any]:
        """What this account was granted, has spent and may still spend, as exact texts; and when it renews."""
        return dict(self._connection.get("budget"))

    def history(self) -> list[dict[str, Any]]:
        """Every payment of this account, oldest first: when, its price, what was asked, and whether it was answered."""
        return list(value(self._connection.get("history")["history"]))

    def verify(self, release: Released) -> None:
        """Let the server check a release and its receipt against its ledger; raise Invalid or LedgerError if they are not from there."""
        self._connection.post("verifications", {"release": release.to_text()})

    @property
    def about(self) -> dict[str, Any]:
        """What is declared and profiled about the data set: who is protected, its tables and columns, and example questions."""
        return self._about

    # ── the connection ───────────────────────────────────────────────────────────────────────────────────────────────

    def close(self) -> None:
        """Send nothing more."""
        self._connection.closed = True

    def __enter__(self) -> RemoteSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid("a session holds a token and cannot be copied or pickled: connect again where it is needed")

    def __repr__(self) -> str:
        tables = ", ".join(f"{one['name']} ({'private' if one['private'] else 'public'})" for one in self._about["tables"])
        left = f"; remaining ε = {float(self.remaining.epsilon or 0):g}" if not self._connection.closed else ""
        return f"RemoteSession({self._connection}: {tables}; protects {self._about['protects']}{left})"

    def _repr_html_(self) -> str:
        tables = [f"{one['name']}: {', '.join(column['name'] for column in one['columns'])}" for one in self._about["tables"]]
        return html_lines(repr(self), [*tables, f"charged so far: ε = {float(self.spent.epsilon or 0):g}"])


def _amount(said: Mapping[str, Any]) -> Amount:
    epsilon = None if said["epsilon"] is None else exact.rational(said["epsilon"])
    return Amount(epsilon, exact.rational(said["delta"]), str(said.get("meaning", "")))


def _opened(request: RemoteOpening, epsilon: Number | None, delta: Number | None) -> Any:
    require_price(epsilon, delta)
    return request.checked() if epsilon is None else request.open(epsilon, delta)
