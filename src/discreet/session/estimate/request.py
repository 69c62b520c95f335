"""A request for an estimate: any function of the units' rows, or a robust statistic of one value per unit; planning is free."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from attrs import field, frozen

from discreet.errors import Invalid
from discreet.exact import Number
from discreet.plots.page import html_lines
from discreet.query.fluent import NOT_COPIED, QueryBuilder
from discreet.query.relation.node import check_private
from discreet.session.estimate.estimate import Estimate
from discreet.session.estimate.functions import function_plan
from discreet.session.estimate.plan import EstimatePlan
from discreet.session.estimate.run import release
from discreet.session.estimate.statistics import statistic_plan
from discreet.session.pipeline import Pipeline

_OF_FUNCTIONS = {"bounds", "blocks", "aggregate", "uncertainty", "columns", "frame", "name"}
_OF_STATISTICS = {"method", "bounds", "step", "q", "trim", "bound"}


@final
@frozen(eq=False, repr=False)
class EstimateRequest:
    """What is estimated from which rows: `plan` shows the mechanism and its error, `release` pays."""

    pipeline: Pipeline = field()
    table: QueryBuilder[Any]
    what: Callable[[Any], Any] | str
    of: str | None
    options: dict[str, Any]

    @classmethod
    def make(
        cls, pipeline: Pipeline, table: QueryBuilder[Any], what: Callable[[Any], Any] | str, of: str | None, options: dict[str, Any]
    ) -> EstimateRequest:
        """Read and check what was asked: a function of a block's rows, or the name of a statistic of one value for each unit."""
        if not isinstance(table, QueryBuilder) or table.keys or table.statistics:
            raise Invalid(
                "estimate comes after db.table(...), where, with_columns and per_unit, and instead of group_by and the statistics"
            )
        check_private(table.relation)
        pipeline.require_own(table.relation)
        known = _OF_STATISTICS if isinstance(what, str) else _OF_FUNCTIONS
        if unknown := [name for name in options if name not in known]:
            raise Invalid(f"estimate does not take {unknown[0][:80]}= here: use {', '.join(sorted(known))}")
        if not isinstance(what, str) and not callable(what):
            raise Invalid(
                "estimate takes a function of a block's rows, or one of mean, median, quantile, interquartile range, trimmed mean, mode"
            )
        if not isinstance(what, str) and of is not None:
            raise Invalid("`of` goes with a named statistic: a function gets all columns, or those in columns=[…]")
        return cls(pipeline, table, what, of, dict(options))

    def plan(self, epsilon: Number, delta: Number | None = None) -> EstimatePlan:
        """What would happen at this price; reads and spends nothing."""
        catalog, dialect, price = self.pipeline.catalog, self.pipeline.engine.dialect, self.pipeline.price(epsilon, delta)
        if isinstance(self.what, str):
            return statistic_plan(self.table, catalog, dialect, price, self.what, self.of, **self.options)
        return function_plan(self.table, catalog, dialect, price, self.what, **self.options)

    def release(self, epsilon: Number, delta: Number | None = None) -> Estimate:
        """Pay and release the value. The same statistic at the same price is free the second time; so is a function that has a name."""
        return release(self.plan(epsilon, delta), self.pipeline)

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid(NOT_COPIED)

    def __repr__(self) -> str:
        what = self.what if isinstance(self.what, str) else getattr(self.what, "__name__", "function")
        return f"EstimateRequest({what} of {self.of or self.table.said[0]})"

    def _repr_html_(self) -> str:
        return html_lines(repr(self), [".plan(epsilon=…) shows the error and spends nothing; .release(epsilon=…) pays"])
