"""The tape, by which tests replay all noise on neighbouring data; and all small histograms with their neighbours."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scripted import Seeded

from discreet.errors import Invalid
from discreet.loss.loss import Loss, compose
from discreet.mechanisms import mechanism as mechanism_module
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.streams import sparse_vector
from discreet.mechanisms.streams.sparse_vector import SparseVector, ThresholdAnswer
from discreet.private import Private, reveal


class Strayed(Exception):
    """The algorithm did something else on neighbouring data though all noise was the same: it looked at the data by itself."""


class Tape:
    """Record each meeting of data and a mechanism; on neighbouring data give the same outputs, and compare what was to be noised.

    If all meetings are with the same mechanisms, answers move by no more than each mechanism's sensitivity in its norm, and the
    algorithm's result is the same, then the algorithm is the composition of these mechanisms, and costs what they cost.
    """

    def __init__(self, patch: pytest.MonkeyPatch, seed: int) -> None:
        self.meetings: list[tuple[Any, Any, Any]] = []  # mechanism, answer, output
        self.opened: list[Loss] = []
        self._at: int | None = None
        self._seed = seed
        for kind in (Laplace, Gaussian, Exponential):
            patch.setattr(kind, "sample", self._sampling(kind.sample))
        patch.setattr(sparse_vector.SparseVectorRun, "ask", self._asking(sparse_vector.SparseVectorRun.ask))
        patch.setattr(SparseVector, "open", self._opening(SparseVector.open))
        patch.setattr(mechanism_module, "SystemBits", lambda: self.bits)
        patch.setattr(sparse_vector, "SystemBits", lambda: self.bits)
        self.bits = Seeded(seed)

    @property
    def loss(self) -> Loss:
        """What all meetings cost together."""
        return compose([m.loss for m, *_ in self.meetings if not isinstance(m, SparseVector)] + self.opened)

    def rewind(self) -> None:
        self._at, self.opened, self.bits = 0, [], Seeded(self._seed)

    def same(self, run: Callable[[Private[Any]], Any], given: tuple[int, ...], *, replace: bool = False) -> Any:
        """Run on a data set, then with the same outputs on each neighbour, and see that nothing differs."""
        first = run(Private(given))
        for other in neighbours(given, replace=replace):
            self.rewind()
            if run(Private(other)) != first:
                raise Strayed("another result")
        return first

    def _meet(self, mechanism: Any, answer: Any, draw: Any) -> Any:
        if self._at is None:
            out = draw()
            self.meetings.append((mechanism, answer, out))
            return out
        if self._at >= len(self.meetings):
            raise Strayed("one meeting more")
        before, taken, out = self.meetings[self._at]
        self._at += 1
        if before != mechanism:
            raise Strayed("another mechanism")
        moved = np.abs(np.atleast_1d(np.asarray(answer, object)) - np.atleast_1d(np.asarray(taken, object)))
        bound = mechanism.sensitivity
        size = {Laplace: lambda: sum(moved), Gaussian: lambda: sum(moved**2)}.get(type(mechanism), lambda: max(moved))()
        assert size <= (bound**2 if isinstance(mechanism, Gaussian) else bound), f"{mechanism} is given an answer that moves by {size}"
        return out

    def _sampling(self, original: Any) -> Any:
        return lambda itself, answer, bits: self._meet(itself, answer, lambda: original(itself, answer, bits))

    def _asking(self, original: Any) -> Any:
        def ask(run: sparse_vector.SparseVectorRun, answer: Any) -> ThresholdAnswer:
            if run.halted:
                raise Invalid("halted")
            out: ThresholdAnswer = self._meet(run.mechanism, reveal(answer), lambda: original(run, answer))
            if self._at is not None and out.above:
                run.left -= 1
            return out

        return ask

    def _opening(self, original: Any) -> Any:
        def open_(itself: SparseVector) -> Any:
            self.opened.append(itself.loss)
            return original(itself)

        return open_


def histograms(domain: int, most: int, *, least: int = 0) -> list[tuple[int, ...]]:
    """All data sets over a domain with so many records."""
    return [h for h in itertools.product(range(most + 1), repeat=domain) if least <= sum(h) <= most]


def neighbours(given: tuple[int, ...], *, replace: bool = False) -> Iterator[tuple[int, ...]]:
    """One record more or less, or one replaced."""
    one = np.eye(len(given), dtype=int)
    here = np.array(given)
    moves = [a - b for a in one for b in one] if replace else [*one, *-one]
    for move in moves:
        if (here + move).min() >= 0 and move.any():
            yield tuple((here + move).tolist())
