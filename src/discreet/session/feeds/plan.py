"""The plan of a feed: which mechanism releases all its days, what they cost together and how far off they will be."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from attrs import field, frozen

from discreet import exact
from discreet.exact import Number
from discreet.ledger.price import group_loss_lines, price
from discreet.ledger.receipt import CONFIDENCE, PricedRequest
from discreet.loss.loss import Loss
from discreet.loss.promise import Promised
from discreet.mechanisms.sensitivity import is_replacement
from discreet.mechanisms.streams.toeplitz import Toeplitz
from discreet.mechanisms.streams.tree import Tree
from discreet.query.canonical import plain
from discreet.session.feeds.totals import DailyTotals
from discreet.session.priced_plan import PricedPlan


@final
@frozen(eq=False, repr=False, slots=False)
class FeedPlan(PricedPlan):
    """Running totals at a price that pays for all days of the horizon together."""

    totals: DailyTotals
    asked_epsilon: Fraction
    asked_delta: Fraction
    windows: tuple[int, ...] = field(default=())

    @cached_property
    def mechanism(self) -> Tree | Toeplitz:
        """Of the tree with Laplace noise and, if there is a δ, the square root with Gaussian noise: the one that errs less."""
        totals = self.totals
        replaced, k, horizon = is_replacement(totals.catalog.adjacency), totals.active_days, totals.calendar.count
        far = totals.moved * (2 if replaced else 1)
        tree = Tree(epsilon=self.asked_epsilon, horizon=horizon, sensitivity=far, contributions=k, arity=None)
        if not self.asked_delta:
            return tree
        one = replaced and not totals.signed  # then the two units' parts have no negative entry: less than twice one of them
        root = Toeplitz(
            epsilon=self.asked_epsilon, delta=self.asked_delta, horizon=horizon, sensitivity=totals.moved if one else far,
            contributions=k, exchanged=one,
        )  # fmt: skip
        return tree if tree.error(size=horizon) <= root.error(size=horizon) else root

    @cached_property
    def priced(self) -> PricedRequest:
        """The feed at its price, and how it is measured: what was measured is continued in other processes."""
        catalog, gaussian = self.totals.catalog, isinstance(self.mechanism, Toeplitz)
        declared = (catalog.protected, catalog.adjacency, catalog.digest, catalog.version)
        delta = self.asked_delta if gaussian else Fraction(0)
        return PricedRequest("feed", self.totals.asked | {"mechanism": parameters(self.mechanism)}, self.asked_epsilon, delta, *declared)

    @property
    def loss(self) -> Loss:
        """What all days together cost one unit."""
        cost = self.mechanism.loss
        return Promised(cost, self.epsilon, self.delta) if self.delta else cost

    @property
    def title(self) -> str:
        """The table and its days."""
        totals, calendar = self.totals, self.totals.calendar
        return f"{totals.table} by {calendar.every}, {calendar.start} to {calendar.last}; each unit's first {totals.active_days}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What of each unit contributes."""
        return (f"of each unit {self.totals.counted} count",)

    def error(self, confidence: Number = CONFIDENCE, *, window: int | None = None, size: int = 1) -> float:
        """How far off a running total (the last is the worst) or a window's sum may be; with `size`, so many of them at once."""
        return self.mechanism.error(confidence, size, window=window) * float(self.totals.stat.step)

    def explain(self) -> str:
        """Who is protected, what it costs, and how far off the totals will be; reads and spends nothing."""
        totals, calendar = self.totals, self.totals.calendar
        what, days = "rows" if totals.value is None else "the sum", calendar.count
        one = (
            f"{totals.moved * float(totals.stat.step):,.6g} at most"
            if totals.value is not None
            else f"{totals.per_day} row{'s' * (totals.per_day > 1)} at most"
        )
        noise = "Gaussian, Toeplitz" if self.delta else "Laplace, tree"
        lines = [
            f"daily {totals.table}: {what} by {calendar.every}, {calendar.start} to {calendar.last} ({days:,} steps)",
            f"protected: {totals.catalog.protected}, over all of these days ({totals.catalog.adjacency})",
            f"counted: of each unit {totals.counted}, on each of them {one}",
            f"price: {price(self.epsilon, self.delta)}, once for all of them, at the first release",
            *group_loss_lines(self.loss, self.epsilon, self.delta),
            f"noise: {noise}; 95 % of the time a running total is within ± {self.error():,.4g}, "
            f"all of them within ± {self.error(size=days):,.4g}",
            *(f"the last {w} {calendar.every}s: within ± {self.error(window=w):,.4g}" for w in self.windows),
        ]
        return "\n".join(lines)


def parameters(mechanism: Tree | Toeplitz) -> dict[str, Any]:
    """A feed's mechanism as plain values, from which `mechanism_of` makes it again."""
    far = {"horizon": mechanism.horizon, "sensitivity": str(mechanism.sensitivity), "contributions": mechanism.contributions}
    if isinstance(mechanism, Tree):
        return {"is": "Tree", **far, "arity": mechanism.arity, "scale": str(mechanism.scale)}
    how = [mechanism.factor.rates, mechanism.factor.weights, mechanism.grid]
    return {"is": "Toeplitz", **far, "exchanged": mechanism.exchanged, "scale": str(mechanism.scale), "how": plain(how)}


def mechanism_of(asked: PricedRequest) -> Tree | Toeplitz:
    """The mechanism of a feed, from its receipt; ValueError if it is not made like that any more."""
    said: Mapping[str, Any] = asked.request["mechanism"]
    far = {"horizon": said["horizon"], "sensitivity": exact.rational(said["sensitivity"]), "contributions": said["contributions"]}
    made: Tree | Toeplitz
    if said["is"] == "Tree":
        made = Tree(epsilon=asked.epsilon, arity=said["arity"], **far)
    else:
        made = Toeplitz(epsilon=asked.epsilon, delta=asked.delta, exchanged=said["exchanged"], **far)
    if parameters(made) != said:
        raise ValueError
    return made
