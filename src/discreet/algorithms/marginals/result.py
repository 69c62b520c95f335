"""The result of a synthesis run: a model, the measurements, and the loss of each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

from attrs import field, frozen

from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.model import Model
from discreet.loss.loss import Loss

FINAL_STEPS = 1500  # of the final fit, which starts afresh, so that the model depends on the measurements only
Progress = Callable[[str, float], None]  # the last step, and the share of the work that is done


def quiet(what: str, share: float) -> None:
    """Report nothing."""


@final
@frozen(eq=False)
class Result:
    """A fitted model with its measurements and losses."""

    method: str
    model: Model
    measured: tuple[NoisyMeasurement, ...] = field(repr=False)
    losses: tuple[tuple[str, Loss], ...] = field(repr=False)
    claimed: Loss
    notes: tuple[str, ...] = ()  # what was decided on the way, and why; by released numbers only
