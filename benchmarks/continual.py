"""Running counts over a million steps: how far off, with how much memory, how fast.

    python benchmarks/continual.py [--steps 1048576] [--runs 3]

One unit counts in one step. Gaussian noise at ρ = ½ and Laplace noise at ε = 1 (which is ρ ≤ 0.462). Errors are means over the runs; ± is
the error that holds for all steps at once with 95 %: as `error(size=T)` says, and by the published bound. Beside them the two first ideas:
fresh noise on every running total (T numbers that all move), and noise on every step, added up.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.streams.continual import simultaneous_bound
from discreet.mechanisms.streams.toeplitz import Toeplitz
from discreet.mechanisms.streams.tree import Tree, published_error
from discreet.private import Private

RHO, EPSILON, BETA = 0.5, 1, 0.05
ONE_BY_ONE = 20_000  # steps that are timed through add()


def union(deviation: float, steps: int) -> float:
    """σ·√(2 ln(2T/β)): what papers state for T normal errors."""
    return deviation * math.sqrt(2 * math.log(2 * steps / BETA))


def measured(name: str, totals: Callable[[Any], Any], values: Any, truth: Any, runs: int) -> tuple[str, float, float, float]:
    """The mean largest and mean root-mean-square error, and the best time of a step in microseconds."""
    largest, spread, best = 0.0, 0.0, math.inf
    for _ in range(runs):
        began = time.perf_counter()
        told = np.asarray(totals(values), float)
        best = min(best, time.perf_counter() - began)
        errors = told - truth
        largest, spread = largest + float(abs(errors).max()), spread + float(np.sqrt((errors**2).mean()))
    return name, largest / runs, spread / runs, best / len(truth) * 1e6


def step_by_step(mechanism: Tree | Toeplitz, values: Any) -> tuple[float, int]:
    """Microseconds for one add(), and how many numbers a run keeps."""
    run = mechanism.open()
    began = time.perf_counter()
    for value in values[:ONE_BY_ONE]:
        run.add(Private(value))
    spent = time.perf_counter() - began
    run.add_many(values[run.steps : -1])  # one step before a power of two a tree keeps most
    return spent / ONE_BY_ONE * 1e6, run.numbers_kept


def report(steps: int, runs: int) -> None:
    values = np.random.default_rng(1).poisson(100, steps).astype(np.int64).tolist()
    truth, numbers = np.cumsum(values), np.array(values)
    everything, each = Gaussian(rho=RHO / steps, whole=True), Gaussian(rho=RHO, whole=True)
    sigma = float(everything.scale)
    rows: list[tuple[Any, ...]] = [
        (
            *measured("fresh noise on every total, ρ = ½", lambda _: everything.release(truth), values, truth, runs),
            simultaneous_bound([(sigma, steps)], 1 - BETA),
            union(sigma, steps),
            1,
            None,
        ),
        (
            *measured("noise on every step, added up, ρ = ½", lambda _: np.cumsum(each.release(numbers)), values, truth, runs),
            simultaneous_bound([(math.sqrt(steps), 2)], 1 - BETA),  # Lévy: the largest sum is beyond t at most twice as often as the last
            union(math.sqrt(steps), steps),
            1,
            None,
        ),
    ]
    levels = steps.bit_length()
    for name, mechanism, published in (
        ("binary tree, Laplace, ε = 1", Tree(epsilon=EPSILON, horizon=steps), published_error(steps, EPSILON, BETA / steps)),
        ("best tree, Laplace, ε = 1", Tree(epsilon=EPSILON, horizon=steps, arity=None), None),
        ("binary tree, Gaussian, ρ = ½", Tree(rho=RHO, horizon=steps), union(levels / math.sqrt(2 * RHO), steps)),
        ("Toeplitz, ρ = ½", Toeplitz(rho=RHO, horizon=steps), union((math.log(steps) / math.pi + 1.07) / math.sqrt(2 * RHO), steps)),
    ):
        one, kept = step_by_step(mechanism, values)
        found = measured(name, mechanism.release, values, truth, runs)
        rows.append((*found, mechanism.error(1 - BETA, size=steps), published, kept, one))
    print(f"T = {steps:,} steps, {runs} runs\n")
    print("| | largest error | rms error | ± for all | published ± | numbers kept | µs a step, batch | µs a step, add() |")
    print("|---|---|---|---|---|---|---|---|")
    for name, largest, spread, batch, said, published, kept, one in rows:
        alone, bound = ("–" if known is None else f"{known:,.1f}" for known in (one, published))
        print(f"| {name} | {largest:,.1f} | {spread:,.1f} | {said:,.1f} | {bound} | {kept} | {batch:.2f} | {alone} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=2**20)
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    report(asked.steps, asked.runs)
