"""W6, accounting: ε at δ = 10⁻⁶ of 1,000 Gaussian (σ 50) and 1,000 Laplace (b 100) releases, in fresh processes and warm ones."""

from __future__ import annotations

import statistics

from attrs import frozen
from environments import AUTODP, DP_ACCOUNTING, PRV, Company, Peer, running
from report import Goal, Report, Table, duration, times
from timing import Unmeasured

QUESTION = "1000 50 100 {delta}"
DELTA = "1e-6"


@frozen
class Method:
    """One way to the answer."""

    name: str
    peer: Peer | None
    script: str
    case: str = "{}"


METHODS = (
    Method("discreet", None, "discreet_loss.py"),
    Method("dp-accounting PLD, grid 1e-4 (default)", DP_ACCOUNTING, "dp_accounting_loss.py", "pld 1e-4 {}"),
    Method("dp-accounting PLD, grid 1e-3", DP_ACCOUNTING, "dp_accounting_loss.py", "pld 1e-3 {}"),
    Method("dp-accounting RDP", DP_ACCOUNTING, "dp_accounting_loss.py", "rdp {}"),
    Method("prv-accountant, error 0.01", PRV, "prv_loss.py", "0.01 {}"),
    Method("autodp RDP", AUTODP, "autodp_loss.py"),
)


@frozen
class Measured:
    """Medians over fresh processes; seconds."""

    imports: float
    cold: float
    warm: float
    epsilon: float


def run(company: Company, rounds: int) -> Report:
    """Start a fresh process of each method in turn, some times over."""
    chosen = [m for m in METHODS if m.peer is None or m.peer in company.present]
    found: dict[Method, list[Measured]] = {m: [] for m in chosen}
    failures: dict[str, str] = {}
    for turn in range(max(3, rounds)):
        for method in chosen:
            if method.name in failures:
                continue
            try:
                found[method].append(_fresh(method, turn))
            except Unmeasured as failure:
                failures[method.name] = str(failure)
    medians = {m: _median(f) for m, f in found.items() if f}
    ours = medians.get(METHODS[0])
    table = Table(
        "W6  ε at δ = 1e-6 of 1,000 Gaussian (σ 50) and 1,000 Laplace (b 100) releases",
        ["", "ε", "import", "cold", "warm", "import + cold", "ours: cold", "warm", "import + cold"],
        [_row(m, v, ours) for m, v in medians.items()],
        [
            "cold: the first question in a fresh process, after its imports; warm: a second question there, at another δ",
            "medians over fresh processes; the last three columns say how many times as fast we are",
            "ε as each library gives it; prv-accountant's is the upper end of its interval",
            *(f"{name}: {why}" for name, why in failures.items()),
        ],
    )
    return Report([table], [Goal.at_most("ε of 1,000 Gaussian + 1,000 Laplace, cold", 0.100, ours.cold if ours else None)])


def _fresh(method: Method, turn: int) -> Measured:
    with running(method.peer, method.script) as process:
        first = process.ask(method.case.format(QUESTION.format(delta=DELTA)))
        # another δ, so that no answer is remembered
        second = process.ask(method.case.format(QUESTION.format(delta=f"{1.01 + turn / 100:.2f}e-6")))
        return Measured(process.ready["import_seconds"], first["seconds"], second["seconds"], first["value"])


def _median(found: list[Measured]) -> Measured:
    return Measured(*(statistics.median(getattr(m, name) for m in found) for name in ("imports", "cold", "warm", "epsilon")))


def _row(method: Method, value: Measured, ours: Measured | None) -> list[str]:
    cells = [
        method.name,
        f"{value.epsilon:.6f}",
        *(duration(s) for s in (value.imports, value.cold, value.warm, value.imports + value.cold)),
    ]
    if ours is None or method.peer is None:
        return [*cells, "", "", ""]
    ratios = (value.cold / ours.cold, value.warm / ours.warm, (value.imports + value.cold) / (ours.imports + ours.cold))
    return [*cells, *map(times, ratios)]
