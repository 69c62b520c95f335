"""What a synthesis run gives: a model, what was measured, and what each step cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

from attrs import field, frozen

from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.model import Model
from discreet.loss.loss import Loss

FINAL_STEPS = 1500  # of the last fit, which begins anew, so that the model follows from what was measured alone
Progress = Callable[[str, float], None]  # what was done, and the share of the work that is done


def quiet(what: str, share: float) -> None:
    """Say nothing."""


@final
@frozen(eq=False)
class Result:
    """A fitted model with its history."""

    method: str
    model: Model
    measured: tuple[NoisyMeasurement, ...] = field(repr=False)
    losses: tuple[tuple[str, Loss], ...] = field(repr=False)
    claimed: Loss
