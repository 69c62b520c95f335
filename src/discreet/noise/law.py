"""The interface of integer laws: certified probabilities, tail, quantile, and sampling."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction

from discreet import exact
from discreet.exact import Ball
from discreet.noise.bits import Bits
from discreet.noise.refine import Integers


class Law(ABC):
    """A law on the integers, sampled exactly."""

    __slots__ = ()

    @abstractmethod
    def mass(self, k: int) -> Ball:
        """P[X = k] as a ball at the working precision."""

    @abstractmethod
    def beyond(self, k: int) -> Ball:
        """P[|X| ≥ k] as a ball at the working precision."""

    @abstractmethod
    def sample(self, size: int, bits: Bits) -> Integers:
        """Draw independent samples."""

    def pmf(self, k: int) -> tuple[float, float]:
        """Floats that enclose P[X = k]."""
        return exact.bounds(lambda: self.mass(k))

    def tail(self, k: int) -> tuple[float, float]:
        """Floats that enclose P[|X| ≥ k]."""
        return exact.bounds(lambda: self.beyond(k))

    def quantile(self, confidence: Fraction, size: int = 1) -> int:
        """The least k such that `size` independent samples all lie in [−k, k] with this confidence."""

        def covers(k: int) -> bool:
            with exact.precision(160):
                return bool((1 - self.beyond(k + 1)) ** size >= exact.ball(confidence))

        return exact.least_whole(covers)  # no sample lies in an empty interval
