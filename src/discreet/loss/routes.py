"""Every conversion from a loss to its ε at δ and its δ at ε; the least result is used."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Protocol, TypeAlias

import numpy as np

from discreet import exact
from discreet.loss import convert, pld
from discreet.loss.certify import float_up_or_infinite, log_inverse, roughly
from discreet.loss.law import Floats, Laws

Curve: TypeAlias = Callable[[Floats], Floats]
NAMES = ("basic", "advanced", "zcdp", "renyi", "gdp", "pld")


class Guarantees(Protocol):
    """The values of a loss under each notion of privacy; see Loss."""

    @property
    def delta(self) -> Fraction: ...
    @property
    def epsilon(self) -> Fraction | None: ...
    @property
    def basic(self) -> tuple[Fraction | None, Fraction]: ...
    @property
    def rho(self) -> Fraction | None: ...
    @property
    def mu_squared(self) -> Fraction | None: ...
    @property
    def laws(self) -> Laws | None: ...
    def renyi(self, orders: Floats) -> Floats: ...


def epsilons(loss: Guarantees, steps: Iterable[tuple[Fraction | None, int]], delta: Fraction) -> dict[str, float]:
    """The ε at δ by each conversion; ∞ where it does not apply. Each is an upper bound, so the least is too."""
    if delta >= 1:
        return dict.fromkeys(NAMES, 0.0)
    price, mass = loss.basic
    basic = math.inf if price is None or mass > delta else float_up_or_infinite(price)
    rest = convert.left_after(loss.delta, delta)
    if rest <= 0:
        return dict.fromkeys(NAMES, math.inf) | {"basic": basic}
    return {
        "basic": basic,
        "advanced": _advanced(list(steps), rest),
        "zcdp": math.inf if loss.rho is None else convert.zcdp_epsilon(loss.rho, rest),
        "renyi": best_epsilon(loss.renyi, rest),
        "gdp": math.inf if loss.mu_squared is None else convert.gaussian_epsilon(loss.mu_squared, rest),
        "pld": math.inf if loss.laws is None else pld.epsilon(loss.laws, rest),
    }


def least_delta(loss: Guarantees, epsilon: Fraction) -> float:
    """The least δ at ε over all conversions."""
    if loss.delta >= 1:
        return 1.0
    if loss.epsilon is not None and loss.epsilon <= epsilon:
        return exact.float_up(loss.delta)
    rest = min(
        1.0 if loss.rho is None else convert.zcdp_delta(loss.rho, epsilon),
        best_delta(loss.renyi, epsilon),
        1.0 if loss.mu_squared is None else convert.gaussian_delta(loss.mu_squared, epsilon),
        1.0 if loss.laws is None else pld.delta(loss.laws, epsilon),
    )
    return exact.float_up(convert.revealed_or(loss.delta, Fraction(rest)))


def _advanced(steps: list[tuple[Fraction | None, int]], slack: Fraction) -> float:
    finite = [(e, k) for e, k in steps if e is not None and e < 100]
    return math.inf if len(finite) < len(steps) else float_up_or_infinite(convert.advanced_sum(finite, slack))


# ── Rényi differential privacy ───────────────────────────────────────────────────────────────────────────────────────


def _search(cost: Callable[[Floats], Floats]) -> float | None:
    """The s = α − 1 of least cost on a grid that is refined around its best point; any order is sound."""
    low, high = math.log(1e-4), math.log(1e9)
    best: float | None = None
    for _ in range(5):
        s = np.exp(np.linspace(low, high, 64))
        values = cost(s)
        if not np.isfinite(values).any():
            return None
        best = float(s[int(np.nanargmin(values))])
        half_width = (high - low) / 32
        low, high = math.log(best) - half_width, math.log(best) + half_width
    return best


def _divergence(curve: Curve, s: float) -> tuple[Fraction, Fraction]:
    order = 1 + s  # one float, so that the curve and the conversion use the same order
    return Fraction(order), Fraction(float(curve(np.array([order]))[0]))


def best_epsilon(curve: Curve, delta: Fraction) -> float:
    """The least ε at δ over all orders, evaluated in balls at the chosen one."""
    goal = log_inverse(delta)
    s = _search(lambda s: curve(1 + s) + (goal - s * np.log1p(1 / s) - np.log1p(s)) / s)
    if s is None:
        return math.inf
    order, divergence = _divergence(curve, s)
    return convert.renyi_epsilon(order, divergence, delta)


def best_delta(curve: Curve, epsilon: Fraction) -> float:
    """The least δ at ε over all orders, evaluated in balls at the chosen one."""
    e = roughly(epsilon)
    s = _search(lambda s: s * (curve(1 + s) - e) - s * np.log1p(1 / s) - np.log1p(s))
    if s is None:
        return 1.0
    order, divergence = _divergence(curve, s)
    return convert.renyi_delta(order, divergence, epsilon)
