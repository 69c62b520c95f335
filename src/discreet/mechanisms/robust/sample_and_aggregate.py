"""Sample and aggregate: run any estimator on disjoint blocks of people, and release an aggregate of the blocks' results."""

from __future__ import annotations

import copy
import io
import logging
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from fractions import Fraction
from typing import Any, Literal, final

import numpy as np
from attrs import field, frozen

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.mechanisms import answer as answers
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.robust.propose_test_release import StableMode
from discreet.mechanisms.sensitivity import interval
from discreet.noise.bits import Bits
from discreet.noise.uniform import uniforms

Aggregate = Literal["median", "mean", "stable"]
_STEPS = 2**40
_MOST_BLOCKS = 10**6


def block_count(blocks: int) -> int:
    """Read the number of blocks, from 2 to a million."""
    if exact.whole(blocks, "blocks", least=2) > _MOST_BLOCKS:
        raise Invalid(f"there may be at most {_MOST_BLOCKS:,} blocks: give a larger epsilon, or fewer blocks")
    return blocks


@final
@frozen(eq=False)
class Blocks:
    """Records that an engine has already divided into blocks: each unit is in one of them, by its identifier or at random."""

    parts: tuple[Any, ...]


def into_blocks(records: Any, blocks: int, bits: Bits) -> list[Any]:
    """Assign each record to a block, independently and uniformly at random."""
    if isinstance(records, Blocks):
        return [*records.parts, *[[]] * blocks][:blocks]
    rows = records if isinstance(records, np.ndarray) and records.ndim else _listed(records)
    which = uniforms(blocks, len(rows), bits)
    return [_part_of(rows, which == block) for block in range(blocks)]


@final
@frozen(kw_only=True, init=False)
class SampleAndAggregate(Mechanism[Any]):
    """Assign each record to one of `blocks` blocks, run the estimator on each, and release a private median, mean or mode of the results.

    The estimator is a black box: a function from a list of records (or an array, if the input is one) to a number, or for "stable" to any
    dict key. It is called once for each block, also for empty ones. If it fails or returns no number, the block's result is `lower` (none,
    for "stable"). What it prints, logs or warns is dropped; other side effects, such as writing a file, are not prevented.

    Assumes. The estimator's result for a block is a function of that block's records (and of fresh randomness) alone: it keeps no state
    between blocks. A seeded generator of the whole process is such a state: seed none, or seed it inside the estimator.

    Theorem (Nissim, Raskhodnikova & Smith 2007).
        Adding, removing or changing one record changes the result of one block, whatever the estimator does: the blocks' results are a data
        set of public size in which one record is replaced. Each aggregate is private for such neighbours: the median by the exponential
        mechanism, the mean of clamped results by Laplace noise for (upper − lower)/blocks, "stable" by releasing the most frequent result
        if its lead is large enough. (If a unit may change `blocks_per_unit` blocks, group privacy for that many records applies.)

    Accuracy.
        For "median" `error` is in blocks, as that of `Quantile` is in ranks; for "mean" in the units of the result; for "stable" it is the
        lead that is needed. The difference between blocks and the whole is not included: each block has a fraction 1/blocks of the records.

    >>> fit = lambda rows: np.polyfit(rows[:, 0], rows[:, 1], 1)[0]
    >>> slope = SampleAndAggregate(epsilon=4, estimator=fit, blocks=60, lower=-10, upper=10)
    >>> x = np.arange(4000) % 100 / 10
    >>> 2.5 < slope.release(np.column_stack([x, 3 * x + np.sin(37 * x)])) < 3.5
    True
    """

    epsilon: Fraction = field(repr=str)
    delta: Fraction = field(repr=str)
    estimator: Callable[[Any], Any] = field(repr=False)
    blocks: int
    aggregate: Aggregate
    lower: Fraction | None = field(repr=str)
    upper: Fraction | None = field(repr=str)
    blocks_per_unit: int

    def __init__(
        self,
        *,
        epsilon: Number,
        delta: Number = 0,
        estimator: Callable[[Any], Any],
        blocks: int,
        aggregate: Aggregate = "median",
        lower: Number | None = None,
        upper: Number | None = None,
        blocks_per_unit: int = 1,
    ) -> None:
        if not callable(estimator):
            raise Invalid("estimator must be a function of the records of a block")
        if aggregate not in ("median", "mean", "stable"):
            raise Invalid("aggregate must be median, mean or stable")
        if (aggregate == "stable") != (lower is None and upper is None) or (lower is None) != (upper is None):
            raise Invalid("median and mean need lower and upper bounds of the estimates, and stable has none: set both, or neither")
        if (aggregate == "stable") != bool(mass := parameter.any_delta(delta)):
            raise Invalid("stable needs a delta, and median and mean have none: set delta for stable only")
        ends = interval(lower, upper) if lower is not None and upper is not None else (None, None)
        self.__attrs_init__(
            epsilon=parameter.some_epsilon(epsilon),
            delta=mass,
            estimator=estimator,
            blocks=block_count(blocks),
            aggregate=aggregate,
            lower=ends[0],
            upper=ends[1],
            blocks_per_unit=exact.whole(blocks_per_unit, "blocks_per_unit"),
        )
        self.aggregator.error(Fraction(1, 2))  # raises Invalid here if a parameter is out of range

    @property
    def aggregator(self) -> Mechanism[Any]:
        """The mechanism that aggregates the blocks' results, of which one is replaced."""
        each = self.epsilon / self.blocks_per_unit
        match self.aggregate:
            case "median":
                low, high = self._ends
                return Quantile(epsilon=each, lower=low, upper=high, adjacency="replace-one")
            case "mean":
                low, high = self._ends
                return Laplace(epsilon=each, sensitivity=(high - low) / self.blocks, whole=False)
            case _:
                return StableMode(epsilon=each, delta=_part(self.delta, each, self.blocks_per_unit), adjacency="replace-one")

    @property
    def _ends(self) -> tuple[Fraction, Fraction]:
        assert self.lower is not None
        assert self.upper is not None
        return self.lower, self.upper

    @property
    def loss(self) -> Loss:
        if self.aggregate == "stable":
            return leaves.Approx(self.epsilon, self.delta)
        return self.aggregator.loss.group(self.blocks_per_unit)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        return self.aggregator.error(confidence)

    def check(self, answer: Any) -> None:
        if isinstance(answer, Blocks):
            if len(answer.parts) != self.blocks:
                raise Invalid(f"give {self.blocks} blocks, as the mechanism was created with")
        elif (
            not isinstance(answer, Sequence | np.ndarray)
            or isinstance(answer, str | bytes)
            or (isinstance(answer, np.ndarray) and not answer.ndim)
        ):
            raise Invalid("give the records as a list or an array, one for each unit")

    def sample(self, answer: Any, bits: Bits) -> Any:
        return self.combine([self.estimate(part) for part in into_blocks(answer, self.blocks, bits)], bits)

    def estimate(self, records: Any) -> Any:
        """The result of one block; None if the estimator fails."""
        try:
            with _silence():  # a warning or a printed line would reveal what is in the block
                return self.estimator(copy.copy(records))  # a copy, which it may sort or change
        except KeyboardInterrupt:
            raise  # the user interrupts
        except BaseException:  # any other exception, also SystemExit, would reveal something about the block
            return None

    def combine(self, estimates: Sequence[Any], bits: Bits) -> Any:
        """Aggregate the results of all blocks; only mechanisms may use it, with private results."""
        if self.aggregate == "stable":
            return self.aggregator.sample(_votes(estimates), bits)
        low, high = self._ends
        clean = [min(max(low if one is None else one, low), high) for one in map(answers.exactly, map(as_number, estimates))]
        if self.aggregate == "median":
            return self.aggregator.sample(np.array([float(one) for one in clean]), bits)
        step = (high - low) / _STEPS
        return self.aggregator.sample(low + step * Fraction(sum(round((one - low) / step) for one in clean), self.blocks), bits)


@contextmanager
def _silence() -> Iterator[None]:
    nowhere = io.StringIO()
    logged = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), redirect_stdout(nowhere), redirect_stderr(nowhere):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logged)


def _part(delta: Fraction, epsilon: Fraction, blocks_per_unit: int) -> Fraction:
    """The δ of one block if a unit changes k of them: group privacy inverted, δ/(1 + e^ε + … + e^((k − 1)ε)), rounded down."""
    if blocks_per_unit == 1:
        return delta
    return exact.rational_down(
        lambda: exact.ball(delta) / sum((exact.ball(epsilon * i).exp() for i in range(blocks_per_unit)), exact.ball(0)), 96
    )


def _listed(records: Any) -> list[Any]:
    with suppress(Exception):
        return list(records)
    return []


def _part_of(records: Any, chosen: Any) -> Any:
    return records[chosen] if isinstance(records, np.ndarray) else [record for record, one in zip(records, chosen, strict=True) if one]


def as_number(estimate: Any) -> Any:
    """A number; an array of one number is that number."""
    if isinstance(estimate, np.ndarray) and estimate.size == 1:
        return estimate.reshape(-1)[0].item() if estimate.dtype.kind in "biuf" else None
    return None if isinstance(estimate, float) and math.isnan(estimate) else estimate


def _votes(estimates: Sequence[Any]) -> tuple[list[Any], list[int]]:
    """Each result with one vote; results that are not plain values are dropped when votes are added up."""
    cast = [one.item() if isinstance(one, np.generic) else one for one in estimates if one is not None]
    return cast, [1] * len(cast)
