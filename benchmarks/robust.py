"""Five private medians of skewed data beside each other: who wins where.

    python benchmarks/robust.py [--runs 200] [--upper 1000] [--plot median.png]

Data are log-normal wages in thousands, clamped to [0, upper] on a grid of 0.001, of 100 to 100,000 people; ε = 1, δ = 1e-6 where one is
needed. The error is the median of |answer − exact median| over the runs. Laplace noise for the global sensitivity (the whole range), the
exponential mechanism (`Quantile`), smooth sensitivity with Cauchy and with Laplace noise, inverse sensitivity, and propose–test–release
with three proposed bounds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.robust.inverse_sensitivity import InverseSensitivity
from discreet.mechanisms.robust.order_statistics import Robust
from discreet.mechanisms.robust.propose_test_release import ProposeTestRelease
from discreet.mechanisms.robust.smooth_sensitivity import SmoothSensitivity

LOW, STEP, EPSILON, DELTA = 0, 0.001, 1, 1e-6
SIZES = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)


def mechanisms(upper: int) -> dict[str, Callable[[Any], float | None]]:
    """Each release as a function of the records; the textbook's first idea is that the median may move by the whole range."""
    global_noise, middle = Laplace(epsilon=EPSILON, sensitivity=upper - LOW, whole=False), Robust.median(lower=LOW, upper=upper, step=STEP)
    return {
        "Laplace, global sensitivity": lambda records: float(global_noise.release(float(np.median(records)))),
        "exponential mechanism": Quantile(epsilon=EPSILON, lower=LOW, upper=upper, step=STEP).release,
        "inverse sensitivity": InverseSensitivity(epsilon=EPSILON, statistic=middle).release,
        "smooth, Cauchy": SmoothSensitivity(epsilon=EPSILON, statistic=middle).release,
        "smooth, Laplace": SmoothSensitivity(epsilon=EPSILON, delta=DELTA, statistic=middle).release,
        **{
            f"propose–test–release, {bound}": ProposeTestRelease(epsilon=EPSILON, delta=DELTA, bound=bound, statistic=middle).release
            for bound in (0.1, 1, 10)
        },
    }


def measure(runs: int, upper: int) -> dict[str, list[float]]:
    """The median error of each mechanism at each size; NaN where more than half of the runs gave no answer."""
    generator = np.random.default_rng(1)
    found: dict[str, list[float]] = {name: [] for name in mechanisms(upper)}
    for size in SIZES:
        data = np.clip(generator.lognormal(3.5, 0.8, size), LOW, upper)
        exact = float(np.sort(data)[(size + 1) // 2 - 1])
        for name, release in mechanisms(upper).items():
            told = [release(data) for _ in range(runs)]
            errors = [np.inf if one is None else abs(one - exact) for one in told]
            middle = float(np.median(errors))
            found[name].append(middle if np.isfinite(middle) else float("nan"))
    return found


def draw(found: dict[str, list[float]], path: str) -> None:
    """Error against size, on logarithmic axes."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 5))
    styles = ["-", "-", "-", "--", "--", ":", ":", ":"]
    for (name, errors), style in zip(found.items(), styles, strict=True):
        axes.plot(SIZES, errors, style, marker="o", markersize=4, label=name)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="people",
        ylabel="median error (thousand a year)",
        title="A private median of skewed wages, ε = 1",
    )
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, loc="lower left")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--upper", type=int, default=1000)
    parser.add_argument("--plot")
    said = parser.parse_args()
    found = measure(said.runs, said.upper)
    print("| mechanism | " + " | ".join(f"{size:,}" for size in SIZES) + " |")
    print("|---" * (len(SIZES) + 1) + "|")
    for name, errors in found.items():
        print(f"| {name} | " + " | ".join("no answer" if np.isnan(e) else f"{e:.3g}" for e in errors) + " |")
    best = [min((errors[i], name) for name, errors in found.items() if not np.isnan(errors[i]))[1] for i in range(len(SIZES))]
    print("| **least error** | " + " | ".join(best) + " |")
    if said.plot:
        draw(found, said.plot)


if __name__ == "__main__":
    main()
