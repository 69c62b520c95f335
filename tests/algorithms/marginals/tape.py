"""A tape of everything that mechanisms let out: recorded with fixed coins on one table, replayed on a neighbour."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from scripted import Seeded

from discreet.loss.loss import Loss, compose
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.streams.sparse_vector import SparseVector, SparseVectorRun, ThresholdAnswer
from discreet.private import reveal


class Unpaid(AssertionError):
    """Data was touched by a mechanism that nobody paid for."""


class TooFar(AssertionError):
    """Neighbours' answers differ by more than the stated sensitivity."""


class Differs(AssertionError):
    """With the same outputs something else was asked for: the run depends on the data in another way."""


class Tape:
    """Give fixed noise the first time, and what was given then the second time; check what is paid and what moves."""

    def __init__(self, patch: pytest.MonkeyPatch, seed: int = 1) -> None:
        self.events: list[tuple[Any, Any, Any]] = []
        self.paid: list[tuple[str, Loss]] = []
        self.used: list[Loss] = []
        self.replaying = False
        self._at, self._seed = 0, seed
        ask = SparseVectorRun.ask
        tape = self

        def release(mechanism: Any, answer: Any, bits: Any = None) -> Any:
            tape.use(mechanism.loss)
            return tape.play(mechanism, reveal(answer), lambda: mechanism.sealed().sample(reveal(answer), tape.coins()))

        def begin(mechanism: SparseVector) -> SparseVectorRun:
            tape.use(mechanism.loss)
            return SparseVectorRun(mechanism, tape.coins())

        def asked(run: SparseVectorRun, answer: Any) -> ThresholdAnswer:
            left = run.left
            if left == 0:
                raise Unpaid("a question after the last hit")
            outcome: ThresholdAnswer = tape.play(run.mechanism, reveal(answer), lambda: ask(run, answer))
            run.left = left - outcome.above
            return outcome

        patch.setattr(Mechanism, "release", release)
        patch.setattr(SparseVector, "open", begin)
        patch.setattr(SparseVectorRun, "ask", asked)

    def coins(self) -> Seeded:
        """Other coins each time."""
        self._seed += 1
        return Seeded(self._seed)

    def pay(self, what: str, loss: Loss) -> None:
        """An account that admits everything."""
        self.paid.append((what, loss))

    def use(self, loss: Loss) -> None:
        """What is used must have been paid for before."""
        self.used.append(loss)
        paid, used = (Counter(dict(compose(losses)._terms())) for losses in ([loss for _, loss in self.paid], self.used))
        if used - paid:
            raise Unpaid(repr(loss))

    def play(self, mechanism: Any, answer: Any, make: Any) -> Any:
        """Record, or replay."""
        now = np.atleast_1d(np.asarray(answer, np.float64))
        if not self.replaying:
            self.events.append((mechanism, now, make()))
            return self.events[-1][2]
        if self._at >= len(self.events) or self.events[self._at][0] != mechanism or self.events[self._at][1].shape != now.shape:
            raise Differs(repr(mechanism))
        _, before, output = self.events[self._at]
        self._at += 1
        if float(np.sqrt(((now - before) ** 2).sum())) > float(mechanism.sensitivity) * (1 + 1e-12):
            raise TooFar(repr(mechanism))
        return output

    def rewind(self) -> list[tuple[str, Loss]]:
        """Replay from now on; gives what was paid so far."""
        paid, self.paid, self.used = self.paid, [], []
        self.replaying, self._at = True, 0
        return paid

    def end(self) -> None:
        """Everything must have been asked for again."""
        if self._at != len(self.events):
            raise Differs("fewer questions were asked of the data")
