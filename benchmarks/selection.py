"""W5, selection: the noisy maximum of up to a million scores, beside numpy's argmax (not private) and OpenDP's noisy max."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from environments import OPENDP, Company
from report import Goal, Report, Table, duration, power, times
from timing import Result, complaints, local, race

from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.noisy_max import NoisyMax

SIZES = (10, 1000, 1_000_000)
SEED = 20_240_501  # the scores only; both sides make the same ones
GENERATOR = np.random.default_rng()

OURS: dict[str, tuple[Any, str | None]] = {  # the mechanism, and the kind of noise OpenDP adds for the same law
    "NoisyMax, exponential noise": (NoisyMax(epsilon=1), "exponential"),
    "NoisyMax, Laplace noise": (NoisyMax(epsilon=1, noise="laplace"), None),
    "NoisyMax, geometric noise, whole scores": (NoisyMax(epsilon=1, noise="geometric"), None),
    "Exponential (Gumbel noise)": (Exponential(epsilon=1), "gumbel"),
}


def run(company: Company, rounds: int) -> Report:
    """Measure each mechanism at each size."""
    rows: list[list[str]] = []
    largest: dict[str, Result] = {}
    races: list[dict[str, Result]] = []
    with company.process(OPENDP, "opendp_selection.py") as opendp:
        for size in SIZES:
            whole = np.random.default_rng(SEED).integers(0, 10_000, size)
            scores = whole.astype(np.float64)
            for name, (mechanism, law) in OURS.items():
                x = whole if "whole" in name else scores
                contenders = [
                    local("ours", _release(mechanism, x)),
                    local("argmax", lambda x=x: int(np.argmax(x))),
                    local("noisy argmax", lambda x=x: int(np.argmax(x + GENERATOR.exponential(2.0, len(x))))),
                ]
                if opendp is not None and law is not None:
                    contenders.append(opendp.contender("OpenDP", f"{law} {size} {SEED}"))
                results = race(contenders, rounds)
                races.append(results)
                rows.append(_row(name, size, results))
                largest[name] = results["ours"]
    table = Table(
        "W5  The best of many, time for each release",
        ["", "size", "ours", "argmax", "noisy argmax", "ours/noisy argmax", "OpenDP", "ours/OpenDP"],
        rows,
        [
            "argmax: numpy, no noise; noisy argmax: numpy scores + Generator.exponential, then argmax: both not private",
            "scores: uniform whole numbers below 10⁴; OpenDP's time depends on the scores, so others would give other ratios",
            "OpenDP: make_noisy_max at scale 2, for pure DP (exponential noise) and for zCDP (Gumbel noise)",
            *complaints(races),
        ],
        labels=2,
    )
    slowest = max((r.best for r in largest.values() if r.best is not None), default=None)
    return Report([table], [Goal.at_most("noisy max over 10⁶ scores, the slowest kind", 0.030, slowest)])


def _release(mechanism: Any, scores: Any) -> Callable[[], int]:
    return lambda: mechanism.release(scores)


def _row(name: str, size: int, results: dict[str, Result]) -> list[str]:
    ours, opendp = results["ours"], results.get("OpenDP")
    return [
        name,
        power(size),
        duration(ours.best),
        duration(results["argmax"].best),
        duration(results["noisy argmax"].best),
        times(ours.over(results["noisy argmax"])),
        duration(opendp.best) if opendp else "–",
        times(ours.over(opendp)),
    ]
