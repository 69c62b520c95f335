"""Notes of a release that follow from its plan: how close a selected value is to the best one."""

from __future__ import annotations

from discreet.plan.steps import Steps


def release_notes(plan: Steps) -> tuple[str, ...]:
    """The notes of the plan, and how close each selected value without an interval is to the best one."""
    told = [(choice.name, choice.statistic.closeness(choice.mechanism, choice.candidates, choice.unit)) for choice in plan.choices]
    return (*plan.notes, *(f"{name} {said}" for name, said in told if said is not None))
