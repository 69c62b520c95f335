"""A session makes requests, which are planned for free and then released or opened at a price; `life_cycle.py` describes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack, final, overload

from attrs import evolve

from discreet.engines.engine import Engine
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.hints import suggests_arguments
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.payment import Payments
from discreet.ledger.purchases import own_purchases, purchases_as_dicts
from discreet.ledger.shares import grant_share
from discreet.ledger.standing import Allowance, Amount
from discreet.ledger.terms import Terms
from discreet.plots.page import html_lines
from discreet.query import fluent
from discreet.query.parameters import Parameters, parameter_values
from discreet.session.batch.request import BatchRequest
from discreet.session.life_cycle import AnyPlan, unpriced
from discreet.session.own_receipt import require_own
from discreet.session.pipeline import Pipeline
from discreet.session.profile.stored import with_newest
from discreet.session.query import Query, remembering
from discreet.session.release import Release
from discreet.session.released import Released
from discreet.tables.catalog import Catalog
from discreet.tables.policy import Policy
from discreet.tables.profile import TableProfile

if TYPE_CHECKING:
    from discreet.session.estimate.estimate import Estimate
    from discreet.session.estimate.request import EstimateRequest
    from discreet.session.feeds.feed import Feed
    from discreet.session.feeds.request import FeedOptions, FeedRequest
    from discreet.session.interactive.conversation import Conversation
    from discreet.session.interactive.request import ConversationOptions, ConversationRequest
    from discreet.session.profile.profile import Profile
    from discreet.session.profile.request import ProfileRequest
    from discreet.session.synthesize.request import SynthesisOptions, SynthesisRequest
    from discreet.session.synthesize.synthetic import Synthetic
    from discreet.session.watch.request import WatchOptions, WatchRequest
    from discreet.session.watch.watch import Watch

Rows = str | fluent.QueryBuilder[Query]  # a table's name, or rows selected with db.table(...)


@final
class Session:
    """A connection to private tables: ask in SQL or in Python, see the error first, pay from one budget.

    With `per_account`, an analyst is charged for every answer that she first gets, whoever asked before, and sees her own account alone
    (`Payments`). Such sessions are for a server on which several analysts work who do not see the ledger.
    """

    def __init__(self, engine: Engine, catalog: Catalog, ledger: Ledger, analyst: str | None = None, *, per_account: bool = False) -> None:
        self._engine, self._ledger, self._query = engine, ledger, remembering()
        self._declared = catalog  # without what profiles found
        self._profiles: dict[str, TableProfile] = {}  # that the account of this session asked for
        payments = Payments(ledger, analyst, engine.ready, per_account=per_account)
        self._pipeline = Pipeline(catalog, engine, payments, catalog.tables)
        self._pipeline = self._with_profiles()

    @classmethod
    def open(
        cls, engine: Engine, policy: Policy, names: Collection[str], ledger: str, witness: str | os.PathLike[str] | None,
        analyst: str | None = None, *, per_account: bool = False,
    ) -> Session:  # fmt: skip
        """A session over tables of an engine, under a policy, paying from a ledger; `analyst` is who asks."""
        try:
            schemas, untyped = {name: engine.schema(name) for name in names}, {name: engine.untyped(name) for name in names}
            catalog = policy.catalog(schemas, untyped)
            opened = open_ledger(ledger, Terms(policy.epsilon, policy.delta, catalog.protected, catalog.adjacency), witness)
            known = opened.analysts() if policy.analysts else {}
            for share in policy.analysts:
                grant_share(opened, share.analyst, Amount(share.epsilon, share.delta), known.get(share.analyst), share.every)
            opened.allowance(analyst)  # raises if this analyst has no budget
            return cls(engine, catalog, opened, analyst, per_account=per_account)
        except BaseException:
            engine.close()
            raise

    # ── questions ────────────────────────────────────────────────────────────────────────────────────────────────────

    @suggests_arguments("sql")
    def sql(
        self, text: str, parameters: Parameters = None, *, dialect: str = "duckdb", other: bool = False,
        contributions: Mapping[str, int] | None = None, sample: Number | None = None, minimise: Any = None,
    ) -> Query:  # fmt: skip
        """Ask in SQL; nothing is read or spent until `release`.

        `parameters` are the values of `?` in the text, or by name those of `:name`. `other` adds one group for all rows whose group is not
        shown; `contributions` bounds how much one unit contributes to this question. With `sample=0.01` a fresh secret sample of 1 % of
        the units is read: counts and sums are scaled up, and intervals include the sampling error. `minimise` is for grouping sets: the
        "total" variance, the "worst" one, or weights, as in {"": 10, "sex, race": 2}.
        """
        return self._query(self._pipeline, text, dialect, other, contributions, parameter_values(parameters), sample, minimise)

    def table(self, name: str) -> fluent.QueryBuilder[Query]:
        """Ask in Python, beginning with a table: `db.table("visits").where("cost > 10").group_by("dept").count().release(epsilon=0.1)`."""
        return fluent.table(
            self._pipeline.catalog, name, partial(Query.of_question, self._pipeline), estimator=partial(_estimate, self._pipeline)
        )

    def ask(self, text: str, parameters: Parameters = None, *, dialect: str = "duckdb", **price: Any) -> Release:
        """Ask in SQL and release at once; `sample` and `minimise` as in `sql`, everything else as in `Query.release`."""
        sample, goal = (price.pop(name, None) for name in ("sample", "minimise"))
        return self.sql(text, parameters, dialect=dialect, sample=sample, minimise=goal).release(**price)

    def batch(
        self, questions: Any, epsilon: Number | None = None, delta: Number | None = None, *, error: Mapping[str, Any] | None = None,
        **asked: Any,
    ) -> Any:  # fmt: skip
        """Ask several questions at one price, in a list (q1, q2, …) or by name; `error={"q1": 50, "q2": 5}` splits it by target errors."""
        request = BatchRequest.of(self._pipeline, questions, self.sql)
        priced = epsilon is not None or error is not None
        return request.release(epsilon, delta, error=error, **asked) if priced else unpriced(request, delta)

    # ── with an epsilon: release or open at once; without: a request to plan first ───────────────────────

    @overload
    def synthesize(self, table: Rows, epsilon: None = None, delta: None = None, **asked: Unpack[SynthesisOptions]) -> SynthesisRequest: ...
    @overload
    def synthesize(
        self, table: Rows, epsilon: Number, delta: Number | None = None, *, progress: Callable[[str, float], None] | None = None,
        **asked: Unpack[SynthesisOptions],
    ) -> Synthetic: ...  # fmt: skip
    def synthesize(self, table: Any, epsilon: Any = None, delta: Any = None, *, progress: Any = None, **asked: Any) -> Any:
        """Make a synthetic table from a table, or from rows that `db.table(...)` selects; (ε, δ) is the whole price.

        `columns` selects columns. `workload` is what should be accurate: all marginals of so many columns (3 by default, or 2 where 3 are
        too many), or a list of marginals. `method` is auto, residuals, aim or mst; `bins` is the number of bins of a numeric column (32).
        `size` is the approximate number of records: with it, a table that would be no better than independent columns is refused, before
        paying if everything is declared. `contributions` bounds one unit's contribution. Categories, bounds and limits that are not
        declared come from the table's profile, or else are discovered for up to a third of ε. `edges={"age": [0, 18, 65, 120]}` are public
        bins of a number, date or timestamp. Rows with a value that is not among declared keys are left out; `other=True`, or a list of
        columns, gives these values a category. `rows` is the number of rows to generate (by default as many as there are records).
        `seconds` limits the computing time that is predicted from public sizes (a minute, if the method is auto). `device` is where a model
        over all combinations of values is fitted: cpu, cuda (a GPU, with torch), or auto; it is no part of what is bought. `progress` is
        called with a step's name and the share of the work done. Without `epsilon` this returns a request, to `.plan(epsilon=…)` for free.
        """
        from discreet.session.synthesize.request import SynthesisRequest

        request = SynthesisRequest.of(self._pipeline, self._rows(table), **asked)
        return unpriced(request, delta) if epsilon is None else request.release(epsilon, delta, progress=progress)

    @overload
    def estimate(
        self, table: Rows, what: Callable[[Any], Any] | str, of: str | None = None, *, epsilon: Number, delta: Number | None = None,
        **asked: Any,
    ) -> Estimate: ...  # fmt: skip
    @overload
    def estimate(self, table: Rows, what: Callable[[Any], Any] | str, of: str | None = None, **asked: Any) -> EstimateRequest: ...
    def estimate(self, table: Any, what: Any, of: Any = None, *, epsilon: Any = None, delta: Any = None, **asked: Any) -> Any:
        """Estimate any function of the units' rows, or a robust statistic of one value per unit; also `db.table(...).estimate(...)`.

        A function receives the columns of one block of units at a time, and the answers of the blocks are aggregated (`aggregate` is
        median, mean or stable; `bounds` of the answers; `blocks`; `uncertainty=True` adds a standard error; `columns`; `frame` is numpy,
        pandas or polars). It runs in this process and sees private rows, so accept functions only from people who may read the table. With
        a `name` the estimate is free the second time. A statistic is mean, median, quantile (`q`), interquartile range, trimmed mean
        (`trim`) or mode of the expression `of`, by `method` inverse, smooth or test (with a `bound` on the sensitivity). Without `epsilon`
        this returns a request, whose `.plan(epsilon=…)` shows price and error for free.
        """
        return _estimate(self._pipeline, self._rows(table), what, of, epsilon=epsilon, delta=delta, **asked)

    @overload
    def interactive(
        self, columns: Sequence[str], epsilon: None = None, accuracy: Number | None = None, *, delta: None = None,
        **asked: Unpack[ConversationOptions],
    ) -> ConversationRequest: ...  # fmt: skip
    @overload
    def interactive(
        self, columns: Sequence[str], epsilon: Number, accuracy: Number, *, delta: Number | None = None,
        **asked: Unpack[ConversationOptions],
    ) -> Conversation: ...  # fmt: skip
    def interactive(
        self, columns: Any, epsilon: Any = None, accuracy: Any = None, *, table: Any = None, delta: Any = None, **asked: Any
    ) -> Any:
        """Open a conversation: counts and means over some columns, each within `accuracy` records (below 1: that share of all records).

        Every measurement is charged before it is taken, and all together stay within (ε, δ); answers that follow from earlier measurements
        are free. With probability 1 − `beta` (0.05) all of the first `questions` (10,000) answers are within `accuracy`. `table` names the
        table, where there are several; `bins` and `contributions` as in `synthesize`. Without `epsilon` this returns a request, to plan and
        open.
        """
        from discreet.session.interactive.request import ConversationRequest

        private = [one.name for one in self._pipeline.catalog.tables if one.private]
        if table is None and len(private) != 1:
            raise Invalid(f"there are several private tables: give table=, one of {', '.join(private)}")
        request = ConversationRequest.of(self._pipeline, self._rows(private[0] if table is None else table), columns, accuracy, **asked)
        return unpriced(request, delta) if epsilon is None else request.open(epsilon, delta)

    @overload
    def watch(
        self, epsilon: None = None, threshold: Number | None = None, rounds: int = 1, **asked: Unpack[WatchOptions]
    ) -> WatchRequest: ...
    @overload
    def watch(self, epsilon: Number, threshold: Number, rounds: int = 1, **asked: Unpack[WatchOptions]) -> Watch: ...
    def watch(self, epsilon: Any = None, threshold: Any = None, rounds: int = 1, **asked: Any) -> Any:
        """Open a stream of threshold questions: is a total above the threshold?

        The first question of a round pays ε. A round has any number of answers below the threshold and ends with the first above it.
        `values=True` also releases the total at that answer, for a third of ε; `values="gap"` releases how far it is above, for free.
        `monotone=True` needs less noise, and admits only counts and sums of values that are never negative. Without `epsilon`: a request.
        """
        from discreet.session.watch.request import WatchRequest

        request = WatchRequest.of(self._pipeline, threshold, rounds, **asked)
        return request if epsilon is None else request.open(epsilon)

    @overload
    def daily(self, table: Rows, *, epsilon: None = None, delta: None = None, **asked: Unpack[FeedOptions]) -> FeedRequest: ...
    @overload
    def daily(self, table: Rows, *, epsilon: Number, delta: Number | None = None, **asked: Unpack[FeedOptions]) -> Feed: ...
    def daily(self, table: Any, *, epsilon: Any = None, delta: Any = None, **asked: Any) -> Any:
        """Open a feed of running counts, or sums of `value`, by the day, week or month (`every`) of a column `day`, from `start` on.

        (ε, δ) is paid once, at the first release, for all `days`. Each unit contributes on the first `active_days` days on which it has
        rows, and on each of them at most `per_day` rows (to a sum, `per_day` times the largest value). `where` is a condition; `windows`
        are the lengths of moving sums. Another `name` is another feed, at its own price. Without `epsilon` this returns a request, to plan
        and open.
        """
        from discreet.session.feeds.request import FeedRequest

        request = FeedRequest.of(self._pipeline, self._rows(table), **asked)
        return unpriced(request, delta) if epsilon is None else request.open(epsilon, delta)

    @overload
    def profile(self, table: str | None = None, epsilon: None = None, delta: None = None) -> ProfileRequest: ...
    @overload
    def profile(
        self, table: str | None = None, *, epsilon: Number, delta: Number | None = None,
        progress: Callable[[str, float], None] | None = None,
    ) -> Profile: ...  # fmt: skip
    def profile(self, table: Any = None, epsilon: Any = None, delta: Any = None, *, progress: Any = None) -> Any:
        """Buy what is public about a table, once: ranges, values, sizes and limits of all columns together, each with its error.

        Later questions, synthetic tables and conversations use it at no further cost: what is not declared comes from it, also the types of
        a CSV file's columns. Later sessions on the same version of the data use it too. `table` may be left out where only one is private.
        Without `epsilon`: the request, whose `.plan(epsilon=…)` shows price and error free of charge.
        """
        from discreet.session.profile.request import ProfileRequest

        request = ProfileRequest.of(self._pipeline, self._declared, table)
        if epsilon is None:
            return unpriced(request, delta)
        found = request.release(epsilon, delta, progress=progress)
        if self._pipeline.payments.account is not None:
            self._profiles[request.table.name] = found.table
        self._pipeline = self._with_profiles()
        return found

    def _with_profiles(self) -> Pipeline:
        """The pipeline with the newest profile of every private table."""
        return evolve(self._pipeline, catalog=with_newest(self._declared, self._pipeline.payments, self._profiles))

    def _rows(self, table: Any) -> Any:
        return self.table(table) if isinstance(table, str) else table

    # ── the budget ───────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def remaining(self) -> Amount:
        """The price of the largest single question that is still admitted."""
        return self._pipeline.payments.allowance.remaining

    @property
    def spent(self) -> Amount:
        """What was charged so far: to this session's analyst, or to all together if it has none."""
        return self._pipeline.payments.allowance.spent

    def history(self) -> list[dict[str, Any]]:
        """Every payment, oldest first: when, its price, what was asked, and whether it was answered; of an account, its own alone."""
        return purchases_as_dicts(self._ledger) if (who := self._pipeline.payments.account) is None else own_purchases(self._ledger, who)

    def verify(self, release: Released) -> None:
        """Check a release and its receipt against this session's ledger; raise Invalid or LedgerError if they are not from here.

        An account can verify what it was charged for, and published profiles: for anything else a made-up receipt could find out whether
        somebody has asked.
        """
        if self._pipeline.payments.account is not None:
            require_own(release.receipt, self._pipeline.payments)
        release.verify(self._ledger)

    # ── for a server ─────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def ledger(self) -> Ledger:
        """The ledger that this session pays from."""
        return self._ledger

    @property
    def catalog(self) -> Catalog:
        """The tables, with what is declared and what profiles found."""
        return self._pipeline.catalog

    def tell_owner(self, told: Callable[[Exception], object]) -> None:
        """Call this with every error of the engine, which no other error, log or answer repeats, because it may contain data."""
        self._engine.tell_owner = told

    def for_account(self, analyst: str, shown: Callable[[], Allowance] | None = None) -> Session:
        """A session of an account on the same engine and ledger, charged for all that it receives; closing either closes both."""
        found = Session(self._engine, self._declared, self._ledger, analyst, per_account=True)
        found._pipeline.payments.shown = shown  # the allowance as the account may see it, which plans follow
        return found

    def stored(self, plan: AnyPlan) -> str | None:
        """The release at this price as text, if this session's account has it already; None if it must be paid for."""
        return self._pipeline.payments.stored(plan.priced.question)

    # ── the connection ───────────────────────────────────────────────────────────────────────────────────────────────

    def close(self) -> None:
        """Close the engine and the ledger."""
        self._pipeline.payments.close()
        self._engine.close()
        self._ledger.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid("a session holds connections and cannot be copied or pickled: connect again where it is needed, with the same ledger")

    def __repr__(self) -> str:
        catalog = self._pipeline.catalog
        tables = ", ".join(f"{table.name} ({'private' if table.private else 'public'})" for table in catalog.tables)
        return f"Session({tables}; protects {catalog.protected}; remaining ε = {float(self.remaining.epsilon or 0):g})"

    def _repr_html_(self) -> str:
        tables = [f"{table.name}: {', '.join(column.name for column in table.columns)}" for table in self._pipeline.catalog.tables]
        return html_lines(repr(self), [*tables, f"charged so far: ε = {float(self.spent.epsilon or 0):g}"])


def _estimate(pipeline: Pipeline, table: Any, what: Any, of: Any, *, epsilon: Any = None, delta: Any = None, **asked: Any) -> Any:
    from discreet.session.estimate.request import EstimateRequest

    request = EstimateRequest.make(pipeline, table, what, of, asked)
    return unpriced(request, delta) if epsilon is None else request.release(epsilon, delta)
