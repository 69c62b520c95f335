"""How long synthesis computes, beside what is predicted from public sizes alone. Prints Markdown.

    python benchmarks/synthetic_time.py --seconds 60 10

Tables are made up: columns with the given numbers of codes, each dependent on the one before it. The processor's time of one run is shown,
for the method that "auto" takes within the time, and for AIM.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent.parent / "src")]  # the sources beside this folder, installed or not

import numpy as np  # noqa: E402

from discreet.algorithms.marginals.counts import CodedTable  # noqa: E402
from discreet.algorithms.marginals.domain import Domain  # noqa: E402
from discreet.algorithms.marginals.methods import choose, method_of, predicted_seconds  # noqa: E402
from discreet.algorithms.marginals.spending import MeasurementBudget  # noqa: E402
from discreet.algorithms.marginals.workload import Workload  # noqa: E402

ROWS, RHO = 20_000, {"1": "0.014973", "10": "1.0908"}  # (ε, 1e-9)
TABLES = {
    "16 columns of 2": (2,) * 16,
    "5 columns of 16": (16,) * 5,
    "8 columns of 2 to 12": (2, 12, 5, 8, 3, 6, 9, 2),
    "23 columns of 2 to 5": (5, 2, 4, 5, 3, 3, 5, 3, 3, 5, 4, 4, 5, 5, 5, 5, 2, 3, 3, 2, 2, 5, 5),
}


def main() -> int:
    """Run, and print a line for each table, time and method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", nargs="+", type=float, default=[60.0, 10.0])
    parser.add_argument("--epsilons", nargs="+", choices=RHO, default=list(RHO))
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    arguments = parser.parse_args()
    print("| table | ε | allowed | taken by auto | predicted | real | aim: predicted | real |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for name in arguments.only:
        for epsilon in arguments.epsilons:
            for seconds in arguments.seconds:
                print(f"| {name} | {epsilon} | {line(TABLES[name], epsilon, seconds)} |", flush=True)
    return 0


def line(sizes: Sequence[int], epsilon: str, seconds: float) -> str:
    """What is taken, predicted and needed."""
    domain = Domain.of({f"c{i}": size for i, size in enumerate(sizes)})
    workload, columns = Workload.all_of(domain, 3), made_up(domain)
    taken = choose(workload, "auto", seconds)
    cells = [f"{seconds:g} s", taken]
    for name in dict.fromkeys([taken, "aim"]):
        method = method_of(name, MeasurementBudget.zcdp(RHO[epsilon]), workload, seconds)
        begin = time.process_time()
        method.run(CodedTable(domain, columns))
        cells += [f"{predicted_seconds(name, workload, seconds):.1f}", f"{time.process_time() - begin:.1f}"]
    return " | ".join(cells if taken != "aim" else [*cells, "–", "–"])


def made_up(domain: Domain) -> dict[str, Any]:
    """Each column follows the one before it for half of the rows, and is skewed otherwise."""
    random = np.random.default_rng(0)
    found: dict[str, Any] = {}
    before = np.zeros(ROWS, np.int64)
    for name, size in zip(domain.names, domain.sizes, strict=True):
        alone = random.choice(size, ROWS, p=(shares := 0.7 ** np.arange(size)) / shares.sum())
        before = found[name] = np.where(random.random(ROWS) < 0.5, before % size, alone)
    return found


if __name__ == "__main__":
    raise SystemExit(main())
