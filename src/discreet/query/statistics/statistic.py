"""The interface of a statistic: one class with its spellings, its totals, its value and its limits.

Reading, planning, running, forecasting and explaining ask the class; no name of a statistic is compared outside its file. (SQL syntax
beyond NAME(argument, …), such as COUNT(DISTINCT x), refers to the class that it means.) To add one, write its file and list the class in
`registry.py`; `docs/contributing/add-a-statistic.md` walks through an example.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeAlias, TypeVar, cast, final

import attrs
from numpy.typing import NDArray

from discreet.loss.loss import Loss
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.sensitivity import Adjacency
from discreet.mechanisms.value_grid import RelativeGrid
from discreet.query.grid import Grid
from discreet.query.relation.expr import Expr, Schema
from discreet.query.relation.field import Field, Interval
from discreet.query.relation.node import Within
from discreet.query.removed import Correction, Removed
from discreet.query.totals import Cells, Floats, Total, Totals
from discreet.tables.kind import Kind, Value

OFF_CENTRE = 0.65  # assumed when the budget is split: a mean lies this share of the way from the middle of its bounds to an end
Spelled: TypeAlias = Callable[[Expr], str]  # an expression as it is written in explanations
Drawn: TypeAlias = Literal["bar", "point", "label"]  # an amount from zero; a position on an axis; a value as text


@final
class Argument(Enum):
    """The kind of one argument of a statistic."""

    NUMBER = "a number"
    REPEATING = "values that repeat: text, whole numbers, dates or true/false"
    ANY = "any value"
    CONDITION = "a condition"
    SHARE = "a literal share between 0 and 1"


class Statistic(ABC):
    """One statistic of each group. Fields are its arguments in the order in which SQL writes them."""

    spellings: ClassVar[Mapping[str, Mapping[str, Any]]]  # each SQL name, and the fields that this name fixes
    methods: ClassVar[Mapping[str, str]]  # each name in Python, and the SQL name that it stands for
    arguments: ClassVar[tuple[Argument, ...]]
    optional: ClassVar[int] = 0  # how many arguments at the end may be left out
    drawn: ClassVar[Drawn]
    per_unit: ClassVar[Mapping[str, str]] = {}  # SQL name → the aggregate within one unit that it also names
    of_unit: ClassVar[str | None] = None  # the SQL name, without arguments, that is meant where its argument is the unit's own column

    @classmethod
    def read(cls, spelling: str, arguments: tuple[Any, ...], schema: Schema) -> Statistic:
        """The statistic that a SQL name with these arguments denotes."""
        return cls(*arguments, **cls.spellings[spelling])

    @classmethod
    def field_names(cls) -> list[str]:
        """The names of its fields, arguments first."""
        return [field.name for field in attrs.fields(cast("Any", cls))]

    @property
    def exprs(self) -> tuple[Expr, ...]:
        """The expressions that it is computed from: its arguments, without shares."""
        values = [getattr(self, name) for name in self.field_names()[: len(self.arguments)]]
        return tuple(value for value in values if value is not None and not isinstance(value, Fraction))

    def called(self, spelling: str) -> str:
        """The default name of its column: the first SQL name that fixes the same fields as the one that was written."""
        fixed = self.spellings.get(spelling, {})  # COUNT_IF is another way to write a COUNT
        return next(name for name, other in self.spellings.items() if other == fixed).lower()

    def answer(self, schema: Schema) -> Field:
        """The field of its value."""
        return Field(Kind.REAL, nullable=True)

    @abstractmethod
    def describe(self, spelled: Spelled) -> str:
        """Its description in explanations."""

    @property
    def numbers(self) -> tuple[Expr, ...]:
        """The numbers whose bounds it depends on."""
        return tuple(expr for expr, argument in zip(self.exprs, self.arguments, strict=False) if argument is Argument.NUMBER)

    @property
    def candidates(self) -> Expr | None:
        """The expression whose values must be public, or be discovered first."""
        return None

    def counts_units(self, schema: Schema) -> bool:
        """Whether each unit contributes once per group (or once per value), whatever the number of its rows."""
        return False

    @property
    def own_aggregate(self) -> Within | None:
        """The same aggregate within one unit, where contributions can be clipped per group."""
        return None

    def of_own_aggregates(self, own: Expr) -> Statistic | None:
        """The statistic over the units' own aggregates."""
        return None

    def size(self, of: Totals) -> Total | None:
        """The total that counts the rows (or votes) it describes: where it is too small, no value is shown. None if none is needed."""
        return None

    def reading_note(self, spelling: str) -> str | None:
        """The note for a SQL name that is not answered literally."""
        return None


class Additive(Statistic, ABC):
    """A statistic computed from noisy totals."""

    curved: ClassVar[bool] = False  # whether it is too nonlinear within the noise for slopes alone, which would understate its error

    corrected: ClassVar[bool] = False  # whether it can be corrected for what bounding takes away (`correction`)

    adds_up: ClassVar[bool] = False  # whether its value in a coarser group is the sum of those in the parts of it

    one_total: ClassVar[bool] = False  # whether it is a single sum over rows, so that a threshold stream can compare it

    sampled: ClassVar[bool] = False  # whether it has an honest interval on a sample of the units (`squares`)

    def squares(self, of: Totals, cells: Cells, most: Cells, error: Floats) -> Floats:
        """An upper bound of Σ w·g², where w is a row's weight and g what the row adds to this statistic, whose value is within ± `error`.

        The sampling error follows from it (`run/sampling_error.py`). `most` are counts that the true ones hardly exceed.
        """
        raise NotImplementedError

    @abstractmethod
    def needs(self, of: Totals) -> Mapping[Total, float]:
        """The totals it is computed from, each with the effect of its error on the statistic, relative to that total's sensitivity."""

    @abstractmethod
    def value(self, of: Totals, cells: Cells, clipped: bool) -> Floats:
        """Its value in every group, clipped to its limits or as the noise left it; NaN where it is undefined."""

    @abstractmethod
    def limits(self, of: Totals) -> tuple[float, float]:
        """The least and the greatest value it can have."""

    def counted(self, of: Totals) -> Total | None:
        """The total whose value it is, where it is a count: shown as a whole number if rows carry no weights."""
        return None

    def implies(self, value: float) -> Mapping[tuple[str, tuple[Expr, ...]], float]:
        """What a forecast may conclude if the statistic has this value: a mean, variance or correlation of expressions."""
        return {}

    @property
    def centring(self) -> Expr | None:
        """The expression whose sum may be centred at the middle of its bounds, or at 0, whichever gives less error."""
        return None

    @property
    def summed(self) -> Expr | None:
        """The expression of whose sum it is a multiple, so that it can be corrected for what clipping takes from that sum."""
        return None

    def correction(self, of: Totals, cells: Cells, removed: Removed) -> Correction | None:
        """What is added for what bounding takes away from the rows of a whole table; None if that is not known."""
        return None

    def remarks(self, of: Totals) -> tuple[str, ...]:
        """Notes for readers of the plan."""
        return ()


class ValueCounts(NamedTuple):
    """The distinct values of one group, in the engine's form or as positions on a grid, and the weight of each."""

    values: NDArray[Any]
    weights: NDArray[Any]


class UnitWeight(NamedTuple):
    """The weight of a unit's rows (or votes) over all groups, at most, that of one of them, and the confidence of intervals."""

    most: int
    one: int
    confidence: Fraction


Chooser = TypeVar("Chooser", bound=Mechanism[Any])
Arrange: TypeAlias = Callable[[ValueCounts], Any]


class Selected(Statistic, ABC, Generic[Chooser]):
    """A statistic whose value a mechanism selects in each group, from how often each value occurs."""

    votes: ClassVar[bool]  # whether units vote once for each of their values, or rows carry weights
    size_weight: ClassVar[float]  # of the noisy count that is bought with it, when the budget is split: see `plan.budget.split`

    def size(self, of: Totals) -> Total:
        return of.units(self.expr) if self.votes else of.count(self.expr)

    @property
    @abstractmethod
    def expr(self) -> Expr:
        """The expression whose value is selected."""

    @abstractmethod
    def loss(self, epsilon: Fraction) -> Loss:
        """Its price, which does not depend on what is discovered."""

    @abstractmethod
    def mechanism(self, epsilon: Fraction, unit: UnitWeight, field: Field, interval: Interval | None, adjacency: Adjacency) -> Chooser:
        """The mechanism, for units of this weight over all groups, over a field with this range."""

    def grid(self, mechanism: Chooser) -> Grid | RelativeGrid | None:
        """The grid whose positions are counted; None where the values themselves are."""
        return None

    @abstractmethod
    def arranged(self, mechanism: Chooser, candidates: Sequence[Any]) -> Arrange:
        """How the counts of a group become the mechanism's input, a function that is total; candidates are in the engine's form."""

    @abstractmethod
    def selected(self, released: Any, field: Field, candidates: tuple[Value, ...]) -> Value | float | None:
        """The value that the mechanism's release denotes."""

    def ends(self, released: Any, field: Field) -> tuple[float, float] | None:
        """The ends of its interval, where the mechanism releases them."""
        return None

    def closeness(self, mechanism: Chooser, candidates: tuple[Value, ...], unit: UnitWeight) -> str | None:
        """How close the selected value is to the best one, for the notes of a release, where it has no interval."""
        return None

    @abstractmethod
    def error(self, mechanism: Chooser, level: float, candidates: tuple[Value, ...]) -> float:
        """How far the selected value may be from the best one, in weight, with this confidence."""

    @abstractmethod
    def describe_choice(self, spelled: Spelled, mechanism: Chooser, candidates: tuple[Value, ...]) -> str:
        """What is selected from what, in explanations."""
