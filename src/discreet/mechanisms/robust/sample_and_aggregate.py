"""Sample and aggregate: run any estimator on disjoint blocks of people, and release what the blocks agree on."""

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
    """At least two, and not more than anybody could fill."""
    if exact.whole(blocks, "blocks", least=2) > _MOST_BLOCKS:
        raise Invalid(f"there may be at most {_MOST_BLOCKS:,} blocks: give a larger epsilon, or fewer blocks")
    return blocks


@final
@frozen(eq=False)
class Blocks:
    """Records that are in blocks already, as an engine gives them: each unit is in one of them, by its own name or by chance."""

    parts: tuple[Any, ...]


def into_blocks(records: Any, blocks: int, bits: Bits) -> list[Any]:
    """Throw records into blocks, each by coins of its own."""
    if isinstance(records, Blocks):
        return [*records.parts, *[[]] * blocks][:blocks]
    rows = records if isinstance(records, np.ndarray) and records.ndim else _listed(records)
    which = uniforms(blocks, len(rows), bits)
    return [_part_of(rows, which == block) for block in range(blocks)]


@final
@frozen(kw_only=True, init=False)
class SampleAndAggregate(Mechanism[Any]):
    """Throw each record into one of `blocks` blocks, run the estimator on each, and release the blocks' private median or mean, or mode.

    The estimator is a black box: a function of a list of records (an array, if they come as one) to a number, or for "stable" to anything
    that a dict takes as a key. It is called once for each block, also for empty ones; where it fails, or gives no number, the block's
    answer counts as `lower` (as none, for "stable"). What it prints, logs or
    warns of is dropped; what else it does with what it sees (write a file, keep it) is its author's own affair.

    Assumes. The estimator's answer for a block is a function of that block's records (and of fresh coins) alone: it keeps nothing from one
    block to the next. Coins of the whole process that somebody has seeded are kept from one block to the next: seed none, or within it.

    Theorem (Nissim, Raskhodnikova & Smith 2007).
        One record more, less or changed changes the answer of one block, whatever the estimator does: the blocks' answers are a data set of
        public size of which one record is replaced. Each aggregate is private for such neighbours: the median by the exponential mechanism,
        the mean of clamped answers by Laplace noise for (upper − lower)/blocks, "stable" by telling the answer of most blocks if it leads
        by enough. (`moved` blocks, where a unit may change more than one, cost as much as so many records.)

    Accuracy.
        For "median" `error` is in blocks, as that of `Quantile` is in ranks; for "mean" in the answer's own units; for "stable" the lead
        that is needed. How far blocks are from the whole is the estimator's own affair: each sees a share 1/blocks of the records.

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
            raise Invalid("say between which lower and upper the estimates lie; for stable there are none")
        if (aggregate == "stable") != bool(mass := parameter.any_delta(delta)):
            raise Invalid("stable needs a delta, median and mean have none")
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
        self.aggregator.error(Fraction(1, 2))  # or its parameters are refused here

    @property
    def aggregator(self) -> Mechanism[Any]:
        """The mechanism that the blocks' answers go through, of which one is replaced."""
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
                raise Invalid("give as many blocks as were promised")
        elif (
            not isinstance(answer, Sequence | np.ndarray)
            or isinstance(answer, str | bytes)
            or (isinstance(answer, np.ndarray) and not answer.ndim)
        ):
            raise Invalid("give the records as a list or an array, one for each unit")

    def sample(self, answer: Any, bits: Bits) -> Any:
        return self.combine([self.estimate(part) for part in into_blocks(answer, self.blocks, bits)], bits)

    def estimate(self, records: Any) -> Any:
        """One block's answer; None where the estimator fails."""
        try:
            with _silence():  # a warning or a printed line would tell what is in the block
                return self.estimator(copy.copy(records))  # its own, to sort or change as it likes
        except KeyboardInterrupt:
            raise  # a person wants to stop
        except BaseException:  # any other end, an exit or a panic too, would tell as well
            return None

    def combine(self, estimates: Sequence[Any], bits: Bits) -> Any:
        """Aggregate the answers of all blocks; for mechanisms to build on, not to release."""
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
    """The δ of one block of which a unit changes `moved`: group privacy backwards, δ/(1 + e^ε + … + e^((moved − 1)ε)), rounded down."""
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
    """A number, also one in an array of its own."""
    if isinstance(estimate, np.ndarray) and estimate.size == 1:
        return estimate.reshape(-1)[0].item() if estimate.dtype.kind in "biuf" else None
    return None if isinstance(estimate, float) and math.isnan(estimate) else estimate


def _votes(estimates: Sequence[Any]) -> tuple[list[Any], list[int]]:
    """Each answer with its one vote; what cannot be spelled as a key is left out when votes are added up."""
    cast = [one.item() if isinstance(one, np.generic) else one for one in estimates if one is not None]
    return cast, [1] * len(cast)
