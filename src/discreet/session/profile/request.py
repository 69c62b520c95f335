"""A request for a profile of a table: planned free of charge, released for a price, and found again by later sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from attrs import evolve, field, frozen

from discreet.errors import Invalid, Refused
from discreet.exact import Number
from discreet.plots.page import html_lines
from discreet.query.fluent import NOT_COPIED
from discreet.query.relation.node import Relation, Scan
from discreet.session.pipeline import Pipeline
from discreet.session.profile.plan import ProfilePlan
from discreet.session.profile.profile import Profile
from discreet.session.profile.run import release
from discreet.session.profile.stored import MOST, name_at_price, stored_profiles
from discreet.session.synthesize.progress import to_screen
from discreet.tables.catalog import Catalog
from discreet.tables.table import Table


@final
@frozen(eq=False, repr=False)
class ProfileRequest:
    """A profile that is asked for: `plan` shows what it costs and how exact it will be, `release` pays."""

    pipeline: Pipeline = field()
    table: Table
    relation: Relation

    @classmethod
    def of(cls, pipeline: Pipeline, declared: Catalog, name: str | None) -> ProfileRequest:
        """Read it as people ask for it; what an earlier profile found is counted anew, not believed."""
        private = [table for table in declared.tables if table.private]
        if name is None and len(private) != 1:
            raise Invalid(f"say which table to profile: one of {', '.join(table.name for table in private)}")
        table = private[0] if name is None else next((one for one in private if one.name == name), None)
        if table is None:
            raise Invalid(f"there is no private table {name!r:.80}; there are {', '.join(one.name for one in private)}")
        return cls(evolve(pipeline, catalog=declared), table, Scan(table, declared.steps_to_unit(table)))

    def plan(self, epsilon: Number, delta: Number | None = None) -> ProfilePlan:
        """What would happen at this price; reads and spends nothing."""
        catalog, price = self.pipeline.catalog, self.pipeline.price(epsilon, delta)
        known = stored_profiles(self.table, catalog, self.pipeline.payments).found
        plan = ProfilePlan.of(self.table, self.relation, catalog, len(known), *price)
        if self.pipeline.payments.account is not None:
            return evolve(plan, number=name_at_price(plan.epsilon, plan.delta, catalog))
        same = [i for i, one in enumerate(known) if one is not None and (one.epsilon, one.delta) == (plan.epsilon, plan.delta)]
        if len(known) >= MOST and not same:
            raise Refused(f"{MOST} profiles of {self.table.name} were bought: use the newest, or declare a new version of the data")
        return evolve(plan, number=same[0]) if same else plan

    def release(self, epsilon: Number, delta: Number | None = None, *, progress: Callable[[str, float], None] | None = None) -> Profile:
        """Pay, and count; the same profile at the same price again is free."""
        shown = progress or to_screen(f"profile of {self.table.name}")
        while True:
            plan = self.plan(epsilon, delta)
            found = self._published(plan) or release(plan, self.pipeline, shown)
            if (found.epsilon, found.delta) == (plan.epsilon, plan.delta):
                return found  # else somebody bought this number at another price at the same time: take the next

    def _published(self, plan: ProfilePlan) -> Profile | None:
        """For an account: the profile at this price that the owner has published, if there is one."""
        payments = self.pipeline.payments
        known = () if payments.account is None else stored_profiles(self.table, self.pipeline.catalog, payments).found
        return next((one for one in known if one is not None and (one.epsilon, one.delta) == (plan.epsilon, plan.delta)), None)

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid(NOT_COPIED)

    def __repr__(self) -> str:
        return f"ProfileRequest({self.table.name})"

    def _repr_html_(self) -> str:
        return html_lines(repr(self), [".plan(epsilon=…) shows what it costs and spends nothing; .release(epsilon=…) pays"])
