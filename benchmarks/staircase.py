"""Staircase noise beside discrete Laplace noise: from which ε it wins in expected error, variance and the 95 % half-width.

Everything is computed from the exact laws; nothing is drawn. Run it alone: `python benchmarks/staircase.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.staircase import Staircase

EPSILONS = ("0.1", "0.5", "1", "2", "3", "4", "6", "8", "10")
WIDTHS = (1, 2, 10, 100, 1000)
LEVEL = Fraction(19, 20)
CLEARLY = 0.9  # wins clearly: at most nine tenths of the other


def laplace(epsilon: Fraction, width: int) -> tuple[float, float, int]:
    """E|X|, variance and half-width of discrete Laplace noise of scale width/ε."""
    scale = width / epsilon
    a = 1 / float(scale)
    return 1 / math.sinh(a), 1 / (2 * math.sinh(a / 2) ** 2), DiscreteLaplace(scale).quantile(LEVEL)


def variance(law: Staircase) -> float:
    """E[X²], summed over whole steps in closed form: Σ_k b^k·Σ_j weight·(k·width + j)²."""
    b, w, r = math.exp(-float(law.epsilon)), law.width, law.tread
    moments = [math.fsum((1 if j < r else b) * j**power for j in range(w)) for power in (0, 1, 2)]
    left = -math.expm1(-float(law.epsilon))
    once, twice = b / left**2, b * (1 + b) / left**3  # Σ k·b^k and Σ k²·b^k
    return 2 * (w * w * moments[0] * twice + 2 * w * moments[1] * once + moments[2] / left) / (2 * moments[0] / left - 1)


def staircase(epsilon: Fraction, width: int) -> tuple[float, float, int]:
    """The same of the staircase of least expected error."""
    law = Staircase.best(epsilon, width)
    return law.mean_size(), variance(law), law.quantile(LEVEL)


def least_tread(epsilon: Fraction, width: int, cost: Callable[[Staircase], float]) -> float:
    """The least cost over all treads, or a hundred of them."""
    treads = sorted({max(1, round(width * i / 100)) for i in range(1, 101)})
    return min(cost(Staircase(epsilon, width, tread)) for tread in treads)


def first_win(width: int, measure: int, share: float) -> str:
    """The least ε, in steps of 0.1, from which the staircase has at most this share of the other's error."""
    won = [n for n in range(1, 121) if _ratio(n, width, measure) <= share]
    return "never" if not won else f"{won[0] / 10:g}"


def _ratio(tenths: int, width: int, measure: int) -> float:
    epsilon = Fraction(tenths, 10)
    other = laplace(epsilon, width)[measure]
    return staircase(epsilon, width)[measure] / other if other else math.inf


def main() -> None:
    """Print both tables."""
    names = ("E|X|", "variance", "95 % half-width")
    print("Δ      ε      " + "".join(f"{name}: Laplace, staircase, ratio".rjust(44) for name in names))
    for width in WIDTHS:
        for text in EPSILONS:
            epsilon = Fraction(text)
            plain, stairs = laplace(epsilon, width), staircase(epsilon, width)
            cells = [f"{p:.4g}, {s:.4g}, {s / p:.3f}" if p else f"{p:.4g}, {s:.4g}" for p, s in zip(plain, stairs, strict=True)]
            print(f"{width:<6} {text:<6} " + "".join(cell.rjust(44) for cell in cells))
    print(f"\nthe least ε at which the staircase is better, and clearly better (at most {CLEARLY} of the other)")
    for width in WIDTHS[1:]:
        wins = [f"{name}: {first_win(width, i, 1 - 1e-9)}, {first_win(width, i, CLEARLY)}" for i, name in enumerate(names)]
        print(f"Δ = {width:<5} " + "   ".join(wins))
    print("\nthe 95 % half-width with the tread that is best for it, over Laplace's")
    for width in (100, 1000):
        found = [f"ε {e}: {_best_width(Fraction(e), width):.3f}" for e in EPSILONS]
        print(f"Δ = {width:<5} " + "   ".join(found))


def _best_width(epsilon: Fraction, width: int) -> float:
    return least_tread(epsilon, width, lambda law: law.quantile(LEVEL)) / laplace(epsilon, width)[2]


if __name__ == "__main__":
    main()
