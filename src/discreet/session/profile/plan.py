"""The plan of a profile: which columns are counted how, each one's share of the price, and the noise; decided before anything is read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Literal, TypeAlias, final

from attrs import evolve, field, frozen

from discreet import exact
from discreet.errors import Refused
from discreet.exact import Number
from discreet.explain.forecast import confidence_of
from discreet.ledger.price import price
from discreet.ledger.receipt import PricedRequest
from discreet.loss import calibrate, leaves
from discreet.loss.loss import Loss, compose
from discreet.loss.notions import Approx, Pure
from discreet.loss.promise import Promised
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.partition_selection import ThresholdedCounts, WeightedGaussianSelection
from discreet.mechanisms.sensitivity import is_replacement
from discreet.query.relation.node import Relation, Scan
from discreet.session.priced_plan import PricedPlan
from discreet.session.profile.stored import profile_request
from discreet.tables.catalog import Catalog
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.table import Table
from discreet.tables.unit import Link

How: TypeAlias = Literal["range", "bounded", "listed", "values", "untyped", "nothing"]
Noise: TypeAlias = Literal["gaussian", "laplace"]
RANGE = ("coarse", "middle", "fine")
LISTED = 1000  # public values of a column that are counted
_WEIGHTS: dict[str, int] = {"rows": 4, "units": 4, "coarse": 25, "middle": 20, "fine": 55, "bounded": 40, "listed": 30, "values": 100}
_WEIGHTS |= {"kinds": 10}
_PARTS = 10**6
_SURE, _CELLS = Fraction(999, 1000), 64  # the noise is chosen by its largest values


@final
@frozen
class Task:
    """One column, and how it is counted.

    range: on a coarse grid for its whole type, then on two finer ones. bounded: on a grid between its declared bounds. listed: by its
    declared values. values: by the values that enough units have. untyped: by what its texts parse as, which decides its kind, and then as
    its kind is; nothing: found to be of a kind that is not counted.
    """

    column: ColumnMetadata
    how: How

    @property
    def stages(self) -> tuple[str, ...]:
        """The measurements it takes."""
        match self.how:
            case "range":
                return RANGE
            case "untyped":
                return "kinds", "values"  # or instead of its values the three histograms, at the same price
            case "nothing":
                return ()
        return (self.how,)


def tasks_of(
    table: Table, delta: Fraction, only: Collection[str] | None = None, untyped: Collection[str] = ()
) -> tuple[tuple[Task, ...], tuple[tuple[str, str], ...]]:
    """What is counted of a table, and which columns are left out, with the reason; the types of `untyped` columns are found."""
    tasks, left_out = [], []
    for column in table.columns if only is None else [one for one in table.columns if one.name in only]:
        how, reason = ("untyped", "") if column.name in untyped and column.keys is None else _how(column, delta)
        if column.name == table.unit_column:
            left_out.append((column.name, "it identifies the protected unit"))
        elif how is None:
            left_out.append((column.name, reason))
        else:
            tasks.append(Task(column, how))
    return tuple(tasks), tuple(left_out)


def task_as(column: ColumnMetadata, delta: Fraction) -> Task:
    """How a column is counted whose kind was found."""
    return Task(column, _how(column, delta)[0] or "nothing")


def _how(column: ColumnMetadata, delta: Fraction) -> tuple[How | None, str]:
    if column.keys is not None:
        return ("listed", "") if len(column.keys) <= LISTED else (None, f"it has more than {LISTED:,} declared values")
    match column.kind:
        case Kind.BOOLEAN:
            return "listed", ""
        case Kind.TIMESTAMP:
            return None, "timestamps are not profiled: convert to a date"
        case Kind.TEXT if delta == 0:
            return None, "finding its values privately needs a delta above 0: declare its keys, or give a delta"
        case Kind.TEXT:
            return "values", ""
    return ("range" if column.bounds is None else "bounded"), ""


def _untyped(table: Table, catalog: Catalog) -> tuple[str, ...]:
    """The columns whose types are found: those that nobody declared, but not those by which other tables are linked."""
    keys = {one.unit.key for one in catalog.tables if isinstance(one.unit, Link) and one.unit.table == table.name}
    return tuple(name for name in table.untyped if name not in keys)


@final
@frozen(eq=False, repr=False, slots=False)
class ProfilePlan(PricedPlan):
    """Everything decided about a profile at its price."""

    table: Table
    relation: Relation = field()
    catalog: Catalog
    number: int | str  # of the profile among those of this table; a name, if it serves one purpose alone
    tasks: tuple[Task, ...]
    left_out: tuple[tuple[str, str], ...]
    asked_epsilon: Fraction
    asked_delta: Fraction

    @classmethod
    def of(
        cls, table: Table, relation: Relation, catalog: Catalog, number: int | str, epsilon: Fraction, delta: Fraction,
        only: Collection[str] | None = None,
    ) -> ProfilePlan:  # fmt: skip
        """Decide and price it; of some columns only, if that is asked."""
        tasks, left_out = tasks_of(table, delta, only, _untyped(table, catalog) if isinstance(relation, Scan) else ())
        if not tasks:
            raise Refused(f"table {table.name} has no column that can be profiled: give the session a delta, or declare types")
        plan = cls(table, relation, catalog, number, tasks, left_out, epsilon, delta)
        needs_delta = any("values" in task.stages for task in tasks) or plan.noise == "gaussian"
        return plan if needs_delta else evolve(plan, asked_delta=Fraction(0))

    # ── the price ────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def priced(self) -> PricedRequest:
        """The profile at its price."""
        catalog = self.catalog
        declared = (catalog.protected, catalog.adjacency, catalog.digest, catalog.version)
        return PricedRequest("profile", profile_request(self.table, self.number), self.asked_epsilon, self.asked_delta, *declared)

    @property
    def limits_rows(self) -> bool:
        """Whether the number of rows per unit must be found first."""
        return not self.relation.one_row and self.table.contributions.rows is None

    @cached_property
    def shares(self) -> dict[tuple[str, str], Fraction]:
        """The share of the price of each measurement, by column and stage; they add up to at most 1."""
        weights = {(task.column.name, stage): _WEIGHTS[stage] for task in self.tasks for stage in task.stages}
        total = sum(weights.values())
        first = {("", stage): Fraction(_WEIGHTS[stage], 100) for stage in (("units", "rows") if self.limits_rows else ("rows",))}
        rest = 1 - sum(first.values())
        return first | {part: Fraction(int(rest * weight * _PARTS / total), _PARTS) for part, weight in weights.items()}

    def share(self, part: tuple[str, str]) -> Fraction:
        """The share of one measurement; the histograms of a column whose type is found divide that of its values."""
        name, stage = part
        if part in self.shares:
            return self.shares[part]
        return self.shares[name, "values"] * Fraction(_WEIGHTS[stage], sum(_WEIGHTS[one] for one in RANGE))

    @property
    def _threshold_delta(self) -> Fraction:
        """The δ of finding the values of one column: half of the whole, in equal parts."""
        many = sum("values" in task.stages for task in self.tasks)
        return self.asked_delta / 2 / many if many else Fraction(0)

    @cached_property
    def _sigma(self) -> Fraction:
        """The noise of the whole price, for counts that one unit changes by 1."""
        thresholds = any("values" in task.stages for task in self.tasks)
        return calibrate.gaussian_scale(self.asked_epsilon, self.asked_delta / 2 if thresholds else self.asked_delta, Fraction(1))

    @cached_property
    def noise(self) -> Noise:
        """The noise whose largest values on the cells of a typical measurement are smaller: these hide what is there."""
        if self.asked_delta == 0:
            return "laplace"
        typical = Fraction(1, len(self.shares))
        laplace = Laplace(epsilon=self.asked_epsilon * typical, whole=True).error(_SURE, _CELLS)
        gaussian = Gaussian(scale=exact.rational_up(lambda: exact.ball(self._sigma**2 / typical).sqrt()), whole=True).error(_SURE, _CELLS)
        return "laplace" if laplace < gaussian else "gaussian"

    @cached_property
    def loss(self) -> Loss:
        """What all measurements cost together, whatever is found.

        A column whose type is found has its values looked for, or three histograms of the same price without a δ; the first is charged.
        """
        return Promised(compose(self._losses()), self.asked_epsilon, self.asked_delta)

    def _losses(self) -> Iterator[Loss]:
        for (_, stage), share in self.shares.items():
            if self.noise == "laplace":
                epsilon = self.asked_epsilon * share
                yield Approx(epsilon, self._threshold_delta) if stage == "values" and self.asked_delta else Pure(epsilon)
            else:
                square = share / self._sigma**2
                yield leaves.GaussianThreshold(square, self._threshold_delta) if stage == "values" else leaves.GaussianLoss(square)

    # ── the mechanisms ───────────────────────────────────────────────────────────────────────────────────────────────

    def counting(self, part: tuple[str, str], l1: int, l2: Fraction) -> Laplace | Gaussian:
        """The noise on the counts of one measurement, of which one unit changes by l1 in ℓ₁ and l2 in ℓ₂."""
        share = self.share(part)
        if self.noise == "laplace":
            return Laplace(epsilon=self.asked_epsilon * share, sensitivity=l1, whole=True)
        scale = exact.rational_up(lambda: exact.ball(l2**2 * self._sigma**2 / share).sqrt())
        return Gaussian(scale=scale, sensitivity=l2, whole=True)

    def finding(self, column: str, rows: int) -> ThresholdedCounts | WeightedGaussianSelection:
        """How the values of a column are found, if each unit has at most so many."""
        share, delta = self.shares[column, "values"], self._threshold_delta
        # replacing a unit is a removal and an addition, so then each is paid for with half of the ratio
        replaced = is_replacement(self.catalog.adjacency)
        if self.noise == "laplace":
            epsilon = self.asked_epsilon * share / (2 if replaced else 1)
            if replaced:
                delta = exact.rational_down(lambda: exact.ball(delta) / (1 + exact.ball(epsilon).exp()))
            return ThresholdedCounts(epsilon=epsilon, delta=delta, partitions=rows)
        factor = 4 if replaced else 1
        deviation = exact.rational_up(lambda: exact.ball(factor * self._sigma**2 / share).sqrt())
        return WeightedGaussianSelection(deviation=deviation, delta=delta if replaced else 2 * delta, partitions=rows)

    # ── what people read ─────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def title(self) -> str:
        """The table and how many of its columns are counted."""
        return f"profile of {self.table.name}, {len(self.tasks)} columns"

    def error(self, confidence: Number = 0.95) -> dict[str, float]:
        """How far off each count of a column will be at most, for units of one row.

        For columns whose values are looked for: how many units a value needs to be found.
        """
        level = confidence_of(confidence)
        found: dict[str, float] = {}
        for task in self.tasks:
            name = task.column.name
            last = "fine" if task.how == "untyped" else task.stages[-1]
            mechanism = self.finding(name, 1) if task.how == "values" else self._single((name, last))
            found[name] = mechanism.error(level)
        return found

    def _single(self, part: tuple[str, str]) -> Laplace | Gaussian:
        both = 2 if is_replacement(self.catalog.adjacency) else 1
        return self.counting(part, both, Fraction(both))

    @property
    def notes(self) -> tuple[str, ...]:
        """What is left out."""
        lines = [f"{name} is left out: {reason}" for name, reason in self.left_out]
        if self.asked_delta == 0 and any(task.how == "untyped" for task in self.tasks):
            lines.append("columns that turn out to be text are left out: finding their values privately needs a delta above 0")
        return tuple(lines)

    def explain(self) -> str:
        """Who is protected, what will be counted, what it costs and how far off it will be."""
        lines = [f"a profile of {self.table.name}: what is public about every column, bought once and used by every later question"]
        lines += [f"protects {self.priced.protected}", *self.notes]
        if self.limits_rows:
            lines.append("first a histogram of rows per unit, from which their limit is chosen")
        words: Sequence[tuple[How, str]] = (
            ("untyped", "how many values parse as numbers, dates or timestamps, which decides the type, then what that type has"),
            ("range", "a histogram on a logarithmic grid, then finer ones inside the range found"),
            ("bounded", "a histogram between declared bounds"),
            ("listed", "a count of each declared value"),
            ("values", "the values that enough units have, with their counts"),
        )
        error = self.error()
        for how, said in words:
            named = [task.column.name for task in self.tasks if task.how == how]
            if named:
                about = f"units needed: about {error[named[0]]:,.0f}" if how == "values" else f"each count within ± {error[named[0]]:,.0f}"
                lines.append(f"{said} ({about}): {', '.join(named)}")
        lines.append(f"{self.noise.capitalize()} noise, the smaller of the two here")
        return "\n".join([*lines, f"costs {price(self.epsilon, self.delta)}", *self._price_lines[1:]])
