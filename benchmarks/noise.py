"""W1, noise: samples each second, beside numpy's generators (fast, seeded, floats: not private) and OpenDP's measurements."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from attrs import frozen
from environments import OPENDP, Company, Process
from report import Goal, Report, Table, duration, millions, power, times
from timing import Result, complaints, local, race

from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.noise import lattice
from discreet.noise.bits import SystemBits
from discreet.noise.gaussian import DiscreteGaussian, RoundedGaussian
from discreet.noise.laplace import DiscreteLaplace, RoundedLaplace

SIZES = (1, 1000, 1_000_000)
SCALES = (1, 1000)
LARGEST_FOR_OPENDP = {"int": 100_000, "float": 10_000}  # its rate does not grow beyond; a million would take minutes
GENERATOR = np.random.default_rng()


@frozen
class Kind:
    """One kind of noise: how we sample it, how it is released, and what stands beside it."""

    name: str
    sample: Callable[[Any, Fraction], Any]  # the answers and the scale; fresh coins each time, as for a release
    release: Callable[[Fraction], Callable[[Any], Any]] | None
    numpy: str
    opendp: str
    real: bool


KINDS = (
    Kind(
        "discrete Laplace on integers",
        lambda x, scale: DiscreteLaplace(scale).sample(len(x), SystemBits()),
        lambda scale: Laplace.of_scale(scale).release,
        "laplace",
        "laplace int",
        real=False,
    ),
    Kind(
        "rounded Laplace on reals",
        lambda x, scale: lattice.noisy(x, RoundedLaplace, scale, SystemBits()),
        lambda scale: Laplace.of_scale(scale).release,
        "laplace",
        "laplace float",
        real=True,
    ),
    Kind(
        "rounded Gaussian on integers",
        lambda x, scale: RoundedGaussian(scale).sample(len(x), SystemBits()),
        lambda scale: Gaussian(scale=scale).release,
        "normal",
        "gaussian int",
        real=False,
    ),
    Kind(
        "rounded Gaussian on reals",
        lambda x, scale: lattice.noisy(x, RoundedGaussian, scale, SystemBits()),
        lambda scale: Gaussian(scale=scale).release,
        "normal",
        "gaussian float",
        real=True,
    ),
    Kind(
        "discrete Gaussian",
        lambda x, scale: DiscreteGaussian(scale).sample(len(x), SystemBits()),
        None,
        "normal",
        "gaussian int",
        real=False,
    ),
)


def run(company: Company, rounds: int) -> Report:
    """Measure vectors, then single numbers."""
    with company.process(OPENDP, "opendp_noise.py") as opendp:
        measured = {(kind, size, scale): _race(kind, size, scale, opendp, rounds) for kind in KINDS for size in SIZES for scale in SCALES}
        single = _single(opendp, rounds)
    rows = [_row(*key, results) for key, results in measured.items()]
    vectors = Table(
        "W1  Noise for vectors, millions of samples a second",
        ["noise", "size", "scale", "sample", "release", "numpy", "sample/numpy", "release/numpy", "OpenDP", "ours/OpenDP"],
        rows,
        [
            "sample: the noise alone, key drawn from the system included; on reals the exact rounding of answer + noise",
            "release: mechanism.release(vector), checks included, beside OpenDP's measurement(vector); discrete Gaussian: sample",
            "numpy: Generator.laplace or Generator.normal, floats from a seeded generator: not private",
            "OpenDP at 10⁶: from vectors of 10⁵ integers or 10⁴ reals",
            *complaints(measured.values()),
        ],
        labels=3,
    )
    return Report([vectors, single[0]], [*_goals(measured), *single[1]])


def _race(kind: Kind, size: int, scale: int, opendp: Process | None, rounds: int) -> dict[str, Result]:
    width = Fraction(scale)
    answers = GENERATOR.normal(0, 100, size)
    x = answers if kind.real else np.rint(answers).astype(np.int64)
    floor = getattr(GENERATOR, kind.numpy)
    contenders = [
        local("sample", lambda: kind.sample(x, width), size),
        local("numpy", lambda: floor(0.0, float(scale), size), size),
    ]
    if kind.release is not None:
        release = kind.release(width)
        contenders.append(local("release", lambda: release(x), size))
    if opendp is not None:
        small = min(size, LARGEST_FOR_OPENDP[kind.opendp.split()[1]])
        contenders.append(opendp.contender("OpenDP", f"{kind.opendp} {small} {scale}", small))
    return race(contenders, rounds)


def _against_opendp(results: dict[str, Result]) -> float | None:
    return results.get("release", results["sample"]).over(results.get("OpenDP"))


def _row(kind: Kind, size: int, scale: int, results: dict[str, Result]) -> list[str]:
    sample, floor, release, opendp = (results.get(name) for name in ("sample", "numpy", "release", "OpenDP"))
    assert sample is not None
    return [
        kind.name,
        power(size),
        str(scale),
        millions(sample.best),
        millions(release.best) if release else "–",
        millions(floor.best) if floor else "–",
        times(sample.over(floor)),
        times(release.over(floor)) if release else "–",
        millions(opendp.best) if opendp else "–",
        times(_against_opendp(results)),
    ]


def _goals(measured: dict[tuple[Kind, int, int], dict[str, Result]]) -> list[Goal]:
    """At 10⁶, the worse of the two scales."""

    def worst(prefix: str, ratio: Callable[[dict[str, Result]], float | None]) -> float | None:
        found = [ratio(r) for (kind, size, _), r in measured.items() if kind.name.startswith(prefix) and size == SIZES[-1]]
        known = [f for f in found if f is not None]
        return min(known) if known else None

    def over_numpy(results: dict[str, Result]) -> float | None:
        return results["sample"].over(results["numpy"])

    gaussians = [kind for kind in KINDS if kind.numpy == "normal"]
    return [
        Goal.at_least("10⁶ discrete Laplace, beside numpy's laplace", 1.0, worst("discrete Laplace", over_numpy)),
        *(Goal.at_least(f"10⁶ {kind.name}, beside numpy's normal", 0.6, worst(kind.name, over_numpy)) for kind in gaussians),
        *(Goal.at_least(f"10⁶ {kind.name}, beside OpenDP", 200, worst(kind.name, _against_opendp)) for kind in KINDS),
    ]


def _single(opendp: Process | None, rounds: int) -> tuple[Table, list[Goal]]:
    laplace, gaussian = Laplace(epsilon=1), Gaussian(scale=1)
    cases = {
        "Laplace(epsilon=1).release(5)": (lambda: Laplace(epsilon=1).release(5), "laplace", "new laplace int 0 1"),
        "laplace.release(5)": (lambda: laplace.release(5), "laplace", "laplace int 0 1"),
        "laplace.release(5.0)": (lambda: laplace.release(5.0), "laplace", "laplace float 0 1"),
        "gaussian.release(5)": (lambda: gaussian.release(5), "normal", "gaussian int 0 1"),
        "gaussian.release(5.0)": (lambda: gaussian.release(5.0), "normal", "gaussian float 0 1"),
        "SystemBits(): a fresh key alone": (SystemBits, "laplace", None),
    }
    rows: list[list[str]] = []
    goals: list[Goal] = []
    races: list[dict[str, Result]] = []
    for name, (ours, floor, theirs) in cases.items():
        draw = getattr(GENERATOR, floor)
        contenders = [local("ours", ours), local("numpy", lambda draw=draw: 5 + draw(0.0, 1.0))]
        if opendp is not None and theirs is not None:
            contenders.append(opendp.contender("OpenDP", theirs))
        results = race(contenders, rounds)
        races.append(results)
        other = results.get("OpenDP")
        beside_numpy = duration(results["numpy"].best) if theirs else "–"
        rows.append(
            [name, duration(results["ours"].best), beside_numpy, duration(other.best) if other else "–", times(results["ours"].over(other))]
        )
        if theirs is not None:  # a release, not a part of one
            goals.append(Goal.at_most(name, 20e-6, results["ours"].best))
    notes = [
        "numpy: 5 + Generator.laplace(0, 1) or .normal(0, 1), not private",
        "first line: the mechanism is built anew each time, OpenDP's too",
        *complaints(races),
    ]
    table = Table("W1  One number, time for each release", ["", "ours", "numpy", "OpenDP", "ours/OpenDP"], rows, notes)
    return table, goals
