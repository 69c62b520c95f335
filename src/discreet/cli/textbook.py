"""`discreet demo --textbook`: mechanisms and accounting without tables, on a mock clinic that runs out of budget."""

from __future__ import annotations

import time
from fractions import Fraction
from itertools import pairwise

import numpy as np
from rich.console import Console
from rich.table import Table

import discreet
from discreet.loss import leaves
from discreet.loss.loss import Loss
from discreet.noise.bits import SystemBits
from discreet.noise.laplace import DiscreteLaplace
from discreet.private import Private

PEOPLE = 20_000
CONDITIONS = ["asthma", "diabetes", "flu", "fracture", "hypertension", "migraine", "none", "rare fever"]
SHARES = [0.11, 0.13, 0.21, 0.04, 0.18, 0.07, 0.2597, 0.0003]


def clinic() -> tuple[Private[list[str]], Private[list[float]]]:
    """One condition and one bill for each of 20,000 mock patients; the same in every run."""
    # no randomness: a low-discrepancy sequence, mapped by the quantile functions
    spread = [(i * 0.6180339887498949) % 1 for i in range(1, PEOPLE + 1)]
    ends = np.cumsum(SHARES)
    conditions = [CONDITIONS[min(int(np.searchsorted(ends, u, side="right")), len(CONDITIONS) - 1)] for u in spread]
    bills = [float(np.exp(4.6 + 0.9 * np.sqrt(2) * np.tan(1.2 * ((i * 0.7548776662466927) % 1 - 0.5)))) for i in range(1, PEOPLE + 1)]
    return Private(conditions), Private(bills)


def bar(value: float, largest: float, width: int = 28) -> str:
    """A bar, in eighths of a character."""
    eighths = round(max(0.0, value) / largest * width * 8)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()


def main() -> None:
    """Run the demonstration."""
    console = Console(highlight=False)
    conditions, bills = clinic()
    budget = discreet.Filter(1, "1e-6")
    console.print(f"\n[bold]A mock clinic with {PEOPLE:,} patients[/bold]. The budget is ε = 1, δ = 10⁻⁶ for each of them.\n")
    budget = _histogram(console, conditions, budget)
    budget = _popular(console, conditions, budget)
    budget = _median(console, bills, budget)
    _refusal(console, budget)
    _price(console)
    _accounting(console)
    _speed(console)


def _pay(console: Console, budget: discreet.Filter, loss: Loss) -> discreet.Filter:
    after = budget.spend(loss)
    left = float(after.remaining[0])
    console.print(f"  paid: {loss}   [dim]ε = {left:.3g} remains[/dim]")
    return after


def _histogram(console: Console, conditions: Private[list[str]], budget: discreet.Filter) -> discreet.Filter:
    mechanism, counts = discreet.mechanisms.histogram(conditions, CONDITIONS, epsilon="0.4")
    console.print("[bold]1. How many patients have each condition?[/bold]")
    forecast = mechanism.error(0.95, size=len(CONDITIONS))
    console.print(f"  forecast, before paying: all {len(CONDITIONS)} counts within ±{forecast:.0f} with 95 % confidence")
    budget = _pay(console, budget, mechanism.loss)  # pay first
    released = mechanism.release(counts)
    table = Table("condition", "patients", "", box=None, padding=(0, 2))
    for label, value in released.items():
        table.add_row(label, f"{value:,} ± {forecast:.0f}", f"[cyan]{bar(value, max(released.values()))}[/cyan]")
    console.print(table)
    console.print()
    return budget


def _popular(console: Console, conditions: Private[list[str]], budget: discreet.Filter) -> discreet.Filter:
    mechanism, counts = discreet.mechanisms.most_popular(conditions, CONDITIONS, epsilon="0.1")
    console.print("[bold]2. Which is the most common?[/bold]  (report noisy max: only the name is released)")
    budget = _pay(console, budget, mechanism.loss)
    behind = mechanism.error(0.95, size=len(CONDITIONS))
    console.print(f"  [green]{mechanism.release(counts)}[/green], within {behind:.0f} patients of the best\n")
    return budget


def _median(console: Console, bills: Private[list[float]], budget: discreet.Filter) -> discreet.Filter:
    mechanism = discreet.mechanisms.Quantiles(epsilon="0.4", qs=["0.25", "0.5", "0.75"], lower=0, upper=2000)
    console.print("[bold]3. What do the bills look like?[/bold]  (quartiles between 0 and 2,000)")
    budget = _pay(console, budget, mechanism.loss)
    low, middle, high = mechanism.release(bills)
    console.print(f"  [green]{low:.2f}  {middle:.2f}  {high:.2f}[/green], each within {mechanism.error(0.95):.0f} ranks of {PEOPLE:,}\n")
    return budget


def _refusal(console: Console, budget: discreet.Filter) -> None:
    console.print("[bold]4. One question too many[/bold]")
    try:
        budget.spend(discreet.Laplace(epsilon="0.5").loss)
    except discreet.BudgetExceeded as refusal:
        console.print(f"  [red]refused:[/red] {refusal}\n", soft_wrap=True)


def _price(console: Console) -> None:
    console.print("[bold]5. Which price earns most?[/bold]  (exponential mechanism, ε = 0.2, bids of up to $2)")
    mechanism = discreet.Exponential(epsilon="0.2", sensitivity=2)
    for who, scores in (("2 bid $1, 1 bids $2", [3, 2]), ("90 bid $1, 10 bid $2", [100, 20])):
        one, two = mechanism.probabilities(scores)
        console.print(f"  {who:22s} price $1: {one:6.1%}   price $2: {two:6.1%}")
    console.print()


def _accounting(console: Console) -> None:
    console.print("[bold]6. What do 1,000 Gaussian and 1,000 Laplace answers cost at δ = 10⁻⁶?[/bold]")
    start = time.perf_counter()
    routes = (1000 * leaves.GaussianLoss(Fraction(1, 2500)) + 1000 * leaves.LaplaceLoss(Fraction(1, 100))).routes("1e-6")
    took = time.perf_counter() - start
    best = min(routes.values())
    for name, epsilon in sorted(routes.items(), key=lambda item: -item[1]):
        shown = "does not apply" if epsilon == float("inf") else f"ε = {epsilon:.4f}" + ("   ← charged" if epsilon == best else "")
        console.print(f"  {name:10s} {shown}")
    console.print(f"  [dim]all routes in {took * 1e3:.0f} ms[/dim]\n")


def _speed(console: Console) -> None:
    size, law = 1_000_000, DiscreteLaplace(Fraction(10))
    law.sample(size, SystemBits())
    marks = [time.perf_counter()]
    for _ in range(3):
        law.sample(size, SystemBits())
        marks.append(time.perf_counter())
    best = min(b - a for a, b in pairwise(marks))
    rate = size / best / 1e6
    console.print(f"[bold]7. How fast is exact noise?[/bold]  {rate:.0f} million discrete Laplace samples a second\n")
