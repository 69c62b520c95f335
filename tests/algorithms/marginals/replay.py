"""Runs with fixed coins, and runs on other data with an earlier run's releases: what may differ between neighbours, and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import isqrt
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from scripted import Seeded

from discreet.algorithms.marginals.counts import CodedTable
from discreet.algorithms.marginals.domain import Domain
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.mechanism import Mechanism
from discreet.private import reveal

Row = tuple[int, ...]


class Leak(AssertionError):
    """Neighbours differ in something that they must share."""


@frozen(eq=False)
class Step:
    """One release: by which mechanism, of what, and what came out."""

    mechanism: Mechanism[Any]
    answer: Any
    output: Any


@contextmanager
def taped(seed: int = 0, outputs: Sequence[Any] | None = None) -> Iterator[list[Step]]:
    """All releases in the block, made with fixed coins or, where outputs are given, these."""
    steps: list[Step] = []
    bits = Seeded(seed)

    def release(self: Mechanism[Any], answer: Any, _: Any = None) -> Any:
        held = reveal(answer)
        if outputs is not None and len(steps) >= len(outputs):
            raise Leak("a neighbour asks for more releases")
        out = self.sealed().sample(held, bits) if outputs is None else outputs[len(steps)]
        steps.append(Step(self, held, out))
        return out

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Mechanism, "release", release)
        yield steps


def table(domain: Domain, rows: Sequence[Row], replace_one: bool = False) -> CodedTable:
    """Rows as a coded table."""
    codes = np.array(rows, np.int64).reshape(len(rows), len(domain.names))
    return CodedTable(domain, dict(zip(domain.names, codes.T, strict=True)), replace_one)


def every_row(domain: Domain) -> list[Row]:
    """All rows there may be."""
    return list(product(*map(range, domain.sizes)))


def tables(domain: Domain, most: int) -> list[tuple[Row, ...]]:
    """All tables of at most so many rows, as multisets."""
    return [rows for n in range(most + 1) for rows in combinations_with_replacement(every_row(domain), n)]


def neighbours(domain: Domain, rows: Sequence[Row], replace_one: bool = False) -> list[tuple[Row, ...]]:
    """All tables with one row more or less, or one replaced."""
    less = [(*rows[:i], *rows[i + 1 :]) for i in range(len(rows))]
    less = [fewer for place, fewer in enumerate(less) if rows[place] not in rows[:place]]
    start = less if replace_one else [tuple(rows)]
    more = [(*fewer, row) for fewer in start for row in every_row(domain)]
    return more if replace_one else more + less


def moved(a: Step, b: Step) -> tuple[Fraction, Fraction]:
    """How far the answers are apart, squared, and the square of what the mechanism allows for."""
    apart = [int(x) - int(y) for x, y in zip(np.ravel(a.answer), np.ravel(b.answer), strict=True)]
    assert isinstance(a.mechanism, Gaussian | Exponential)
    far = sum(d * d for d in apart) if isinstance(a.mechanism, Gaussian) else max((d * d for d in apart), default=0)
    return Fraction(far), a.mechanism.sensitivity**2


def audit(method: Any, domain: Domain, rows: Sequence[Row], replace_one: bool = False, seed: int = 0, make: Any = table) -> float:
    """Replay a run on all neighbours; what differs unpaid raises Leak. Gives the largest move, as a share of what is paid."""
    with taped(seed) as first:
        result = method.run(make(domain, rows, replace_one))
    outputs, most = [step.output for step in first], Fraction(0)
    cliques = [c for k in range(len(domain.names) + 1) for c in combinations(domain.columns, k)]
    for other in neighbours(domain, rows, replace_one):
        with taped(seed, outputs) as second:
            again = method.run(make(domain, other, replace_one))
        if len(second) != len(first) or any(a.mechanism != b.mechanism for a, b in zip(first, second, strict=True)):
            raise Leak("mechanisms differ")
        if again.losses != result.losses or again.claimed != result.claimed:
            raise Leak("losses differ")
        if any(not np.array_equal(again.model.marginal(c), result.model.marginal(c)) for c in cliques):
            raise Leak("models differ")
        for a, b in zip(first, second, strict=True):
            far, allowed = moved(a, b)
            if far > allowed:
                raise Leak(f"{type(a.mechanism).__name__}: an answer moves by {far}, paid are {float(allowed):.6g} (squared)")
            most = max(most, far / allowed)
    return isqrt(int(most * 10**12)) / 10**6
