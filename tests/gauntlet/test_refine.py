"""Refinements, replayed on neighbours: what is bought after an answer shows and debits the same, and is paid before it reads."""

from __future__ import annotations

import pytest
from gauntlet import world
from gauntlet.questions import Asked, question
from gauntlet.replay import Trace, differences, excesses, run
from gauntlet.test_replay import neighbours

from discreet.errors import Refused
from discreet.session.release import Release
from discreet.session.session import Session

QUESTIONS, PARTS = 80, 4


def more_of(asked: Asked, session: Session) -> Release:
    """The answer, refined where that is possible; then with other intervals."""
    first: Release = asked(session)
    try:
        return first.refine(epsilon=2, delta=asked.delta).at_confidence(0.8)
    except Refused:
        return first


def paid_in_time(trace: Trace, alone: Trace) -> bool:
    """Whether what follows the first answer begins with its own debit."""
    before, after = trace.events[: len(alone.events)], trace.events[len(alone.events) :]
    return before == alone.events and after[:1] in ([], ["debit"])


@pytest.mark.parametrize("part", [pytest.param(part, marks=[pytest.mark.slow] if part else []) for part in range(PARTS)])
def test_refinements_look_the_same_on_neighbours(part: int) -> None:
    wrong, refined = [], 0
    for number in range(part, QUESTIONS, PARTS):
        asked = question(number)
        for before, after in neighbours(number, asked)[:2]:
            first = run(world.session(before, asked.adjacency), lambda session, asked=asked: more_of(asked, session), seed=number)  # type: ignore[misc]
            second = run(
                world.session(after, asked.adjacency),
                lambda session, asked=asked: more_of(asked, session),  # type: ignore[misc]
                script=first.calls,
            )
            found = differences(first, second) + excesses(first, second, asked.adjacency == "add/remove")
            alone = run(world.session(before, asked.adjacency), asked, seed=number)
            found += [] if paid_in_time(first, alone) else ["read before paying"]
            wrong += [f"{number}: {before} / {after}: {what}\n    {asked}" for what in found]
            refined += first.events.count("debit") == 2
    assert not wrong, "\n".join(wrong[:20])
    assert refined > QUESTIONS // PARTS  # of twice as many runs
