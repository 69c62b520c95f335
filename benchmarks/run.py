"""Run the workloads: ours beside numpy and the peers, one table each, and at the end the goals. `--record` writes RESULTS.md."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]  # the sources beside this folder, installed or not
sys.path.append(str(HERE.parent / "tests"))  # they start servers

import accounting  # noqa: E402
import accuracy  # noqa: E402
import debits  # noqa: E402
import first_answer  # noqa: E402
import histogram  # noqa: E402
import many_groups  # noqa: E402
import median  # noqa: E402
import noise  # noqa: E402
import people  # noqa: E402
import scale  # noqa: E402
import selection  # noqa: E402
import startup  # noqa: E402
from environments import ALL, Company  # noqa: E402
from inputs import FOLDER, Inputs  # noqa: E402
from report import Goal, Report, Table, summary  # noqa: E402

GROUND: dict[str, Callable[[Company, int], Report]] = {
    "noise": noise.run,
    "selection": selection.run,
    "accounting": accounting.run,
    "startup": startup.run,
    "debits": debits.run,
}
ROAD: dict[str, Callable[[Company, int, Inputs], Report]] = {  # these read tables
    "histogram": histogram.run,
    "people": people.run,
    "accuracy": accuracy.run,
    "median": median.run,
    "first_answer": first_answer.run,
    "scale": scale.run,
    "many_groups": many_groups.run,
}
WORKLOADS = (*GROUND, *ROAD)
RESULTS = HERE / "RESULTS.md"


def main() -> int:
    """Measure, print, and record if asked."""
    arguments = _arguments()
    busy = os.getloadavg()
    print("\n".join(_machine()), f"load before: {_load(busy)}", "", sep="\n", flush=True)
    company = Company.invite(not arguments.no_peers)
    for name, why in company.absent.items():
        print(f"{name}: {why}", flush=True)
    tables: list[Table] = []
    goals: list[Goal] = []
    for name in arguments.only or WORKLOADS:
        print(f"{name} …", flush=True)
        read = Inputs(arguments.data.absolute())
        report = GROUND[name](company, arguments.rounds) if name in GROUND else ROAD[name](company, arguments.rounds, read)
        for table in report.tables:
            print(f"\n{table}\n", flush=True)
        tables += report.tables
        goals += report.goals
    tables.append(summary(goals))
    print(f"\n{tables[-1]}\n")
    if arguments.record:
        RESULTS.write_text(_page(tables, company, busy), encoding="utf-8")
        print(f"written: {RESULTS.relative_to(HERE.parent)}")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=WORKLOADS, metavar="WORKLOAD", help=f"some of: {', '.join(WORKLOADS)}")
    parser.add_argument("--no-peers", action="store_true", help="leave the peers out; nothing is installed")
    parser.add_argument("--rounds", type=int, default=7, help="turns for each contender (default 7)")
    parser.add_argument("--data", type=Path, default=FOLDER, help="the folder of the tables, made on first use (default benchmarks/.data)")
    parser.add_argument("--record", action="store_true", help="write benchmarks/RESULTS.md")
    arguments = parser.parse_args()
    if arguments.record and arguments.only:
        parser.error("--record is for a whole run: leave --only out")
    return arguments


def _machine() -> list[str]:
    ours = ", ".join(f"{name} {version(name)}" for name in ("numpy", "cryptography", "python-flint", "attrs", "duckdb", "sqlglot"))
    return [
        f"date: {datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC",
        f"machine: {os.cpu_count()} cores, {_processor()}, {platform.system()} {platform.machine()}",
        f"versions: Python {platform.python_version()}, {ours}",
    ]


def _processor() -> str:
    """The processor's family and model; hypervisors often hide the full name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines) if value}
    return f"{facts.get('model name', 'unknown processor')} (family {facts.get('cpu family', '?')}, model {facts.get('model', '?')})"


def _load(averages: tuple[float, float, float]) -> str:
    return " ".join(f"{a:.2f}" for a in averages)


def _page(tables: list[Table], company: Company, busy: tuple[float, float, float]) -> str:
    peers = [p.requirement.split()[0] for p in ALL if p in company.present] + [f"{name} ({why})" for name, why in company.absent.items()]
    head = [
        *_machine(),
        f"peers: {', '.join(peers)}",
        f"load average (1, 5, 15 minutes) before: {_load(busy)}, after: {_load(os.getloadavg())}",
        f"command: python benchmarks/run.py {' '.join(sys.argv[1:])}".rstrip(),
    ]
    return "\n".join(
        [
            "# Benchmark results",
            "",
            "Written by `benchmarks/run.py --record`; do not edit. Trust ratios more than times: contenders took turns in one run.",
            "",
            *(f"- {line}" for line in head),
            "",
            *(f"```text\n{table}\n```\n" for table in reversed(tables[-1:])),
            *(f"```text\n{table}\n```\n" for table in tables[:-1]),
        ]
    )


if __name__ == "__main__":
    raise SystemExit(main())
