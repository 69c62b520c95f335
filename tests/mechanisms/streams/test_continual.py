"""Runs that are interrupted within a step end: what they hold may be in the sums already, and would count twice."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.errors import Invalid
from discreet.mechanisms.streams.continual import StreamRun
from discreet.mechanisms.streams.toeplitz import Toeplitz
from discreet.mechanisms.streams.tree import Tree
from discreet.noise.bits import SystemBits
from discreet.private import Private

MECHANISMS: list[Any] = [Tree(epsilon=100, horizon=9), Tree(rho=100, horizon=9), Toeplitz(rho=100, horizon=9)]


class Interrupts(SystemBits):
    """Coins that Ctrl-C comes in the way of."""

    def word(self) -> int:
        raise KeyboardInterrupt

    def fill(self, out: Any) -> None:
        raise KeyboardInterrupt


def interrupted(run: StreamRun, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop it while coins are drawn, or between the steps of one batch."""
    values: Any = [Private(1)] if how == "add" else [Private([1, 0, 0, 0])]
    if how == "between":
        through = next(name for name in ("_undone", "_drawn") if hasattr(run, name))
        real = getattr(run, through)

        def cut(*given: Any) -> Any:
            real(*given)
            raise KeyboardInterrupt

        monkeypatch.setattr(run, through, cut)
    else:
        monkeypatch.setattr(run, "_bits", Interrupts())
    with pytest.raises(KeyboardInterrupt):
        (run.add if how == "add" else run.add_many)(values[0])
    monkeypatch.undo()


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=str)
@pytest.mark.parametrize("how", ["add", "add_many", "between"])
def test_an_interrupt_ends_the_run(mechanism: Any, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = mechanism.open(windows=(2,))
    told = run.add_many(Private([3, 4]))
    interrupted(run, how, monkeypatch)
    assert run.halted
    for again in (
        lambda: run.add(Private(1)),
        lambda: run.add_many(Private([1, 0])),
        lambda: run.follow([1], [1]),
        lambda: run.add_many([]),
    ):
        with pytest.raises(Invalid, match="interrupted"):
            again()
    assert run.window(2) == told[-1]  # what was told stays
    assert run.steps == 2


def test_what_is_refused_before_a_step_does_not_end_it() -> None:
    for mechanism in MECHANISMS:
        run = mechanism.open()
        for wrong in (lambda run=run: run.add_many(Private([1] * 10)), lambda run=run: run.add("x"), lambda run=run: run.add_many([None])):
            with pytest.raises(Invalid):
                wrong()
        assert not run.halted
        assert len(run.add_many(Private([1] * 9))) == 9
