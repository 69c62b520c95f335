"""The interface of a statistic: one class with its spellings, its totals, its value and its limits.

Reading, planning, running, forecasting and explaining ask the class; no name of a statistic is compared outside its file. (SQL syntax
beyond NAME(argument, …), such as COUNT(DISTINCT x), refers to the class that it means.) To add one, write its file and list the class in
`registry.py`; `docs/contributing/add-a-statistic.md` walks through an example.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from enum import Enum
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias, cast, final

import attrs

from discreet.loss.loss import Loss
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.sensitivity import Adjacency
from discreet.query.relation.expr import Expr, Schema
from discreet.query.relation.field import Field, Interval
from discreet.query.relation.node import Within
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

    def reading_note(self, spelling: str) -> str | None:
        """The note for a SQL name that is not answered literally."""
        return None


class Additive(Statistic, ABC):
    """A statistic computed from noisy totals."""

    curved: ClassVar[bool] = False  # whether it is too nonlinear within the noise for slopes alone, which would understate its error

    one_total: ClassVar[bool] = False  # whether it is a single sum over rows, so that a threshold stream can compare it

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

    def remarks(self, of: Totals) -> tuple[str, ...]:
        """Notes for readers of the plan."""
        return ()


class Selected(Statistic, ABC):
    """A statistic whose value a mechanism selects in each group."""

    votes: ClassVar[bool]  # whether units vote once for each of their values, or rows carry weights

    @property
    @abstractmethod
    def expr(self) -> Expr:
        """The expression whose value is selected."""

    @abstractmethod
    def loss(self, epsilon: Fraction) -> Loss:
        """Its price, which does not depend on what is discovered."""

    @abstractmethod
    def mechanism(
        self, epsilon: Fraction, weight: int, field: Field, interval: Interval | None, adjacency: Adjacency
    ) -> Quantile | NoisyMax:
        """The mechanism, for units of at most this weight, over a field with these bounds."""

    @abstractmethod
    def describe_choice(self, spelled: Spelled, mechanism: Quantile | NoisyMax, candidates: tuple[Value, ...]) -> str:
        """What is selected from what, in explanations."""
