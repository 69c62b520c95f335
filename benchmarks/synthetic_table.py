"""Synthetic tables beside independent columns: seven tables, ε 0.1, 1 and 10, many runs, through a session with declared domains.

    python benchmarks/synthetic_table.py run --data PATH --public FOLDER --file runs.jsonl --runs 20 --seconds 10
    python benchmarks/synthetic_table.py show --file runs.jsonl

PATH has nltcs, adult, titanic and national2019 (not part of this repository); FOLDER is what `public_tables.py` writes. Every run is a line
of the file, so what was begun can be continued and shown at any time. Errors are mean ℓ₁ distances of 1-, 2- and 3-way marginals (at most
150 each, the same for all), from rows, divided by n. "independent" spends the whole price on single columns, in equal parts, with the same
domains. Seconds are those of the processor, of all threads, for `db.synthesize` and the rows.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from statistics import mean, stdev
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "src"), str(HERE)]  # the sources beside this folder, installed or not

import numpy as np  # noqa: E402
import polars  # noqa: E402
from synthetic_session import coded, counted, independent  # noqa: E402

import discreet  # noqa: E402
from discreet.algorithms.marginals.domain import Domain  # noqa: E402

CODED, MOST, DELTA = ("nltcs", "adult", "titanic"), 150, "1e-9"
TABLES = (*CODED, "national2019", "rwm5yr", "benefits", "doctorcontacts")
BINARY, YES = [0, 1], ["no", "yes"]
PUBLIC: dict[str, dict[str, Any]] = {  # what a codebook says: ranges as round numbers, lists of values
    "rwm5yr": {
        "bounds": {"docvis": (0, 121), "hospvis": (0, 51), "age": (25, 64), "hhninc": (0, 31), "educ": (7, 18)},
        "keys": {"year": [1984, 1985, 1986, 1987, 1988], "edlevel": [1, 2, 3, 4]}
        | dict.fromkeys(["outwork", "female", "married", "kids", "self", "edlevel1", "edlevel2", "edlevel3", "edlevel4"], BINARY),
    },
    "benefits": {
        "bounds": {"stateur": (2, 18), "statemb": (80, 300), "state": (11, 95), "age": (20, 64), "tenure": (0, 41), "yrdispl": (1, 10)}
        | {"rr": (0, 1)},
        "keys": {"joblost": ["other", "position_abolished", "seasonal_job_ended", "slack_work"], "sex": ["female", "male"]}
        | dict.fromkeys(["nwhite", "school12", "bluecol", "smsa", "married", "dkids", "dykids", "head", "ui"], YES),
    },
    "doctorcontacts": {
        "bounds": {"mdu": (0, 80), "lc": (0, 5), "lpi": (0, 8), "fmde": (0, 9), "ndisease": (0, 60), "linc": (0, 11), "lfam": (0, 3)}
        | {"educdec": (0, 25), "age": (0, 65)},
        "keys": {"health": ["excellent", "good", "fair", "poor"], "sex": ["female", "male"]},
    },
}  # fmt: skip


def main() -> int:
    """Run and append to the file, or show what is in it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "show"))
    parser.add_argument("--file", type=Path, required=True, help="one line of JSON for each run")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--public", type=Path)
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--epsilons", nargs="+", default=["0.1", "1", "10"])
    parser.add_argument("--runs", type=int, default=20, help="runs of each line, with those in the file (default 20)")
    parser.add_argument("--seconds", type=float, default=10.0, help="that a table may be predicted to compute (default 10)")
    arguments = parser.parse_args()
    if arguments.what == "show":
        print("\n".join(lines([json.loads(text) for text in arguments.file.read_text().splitlines()])))
        return 0
    warnings.simplefilter("ignore")  # a ledger in memory
    tables = {name: Compared(*read(arguments.data, arguments.public, name)) for name in arguments.only}
    done = [json.loads(text) for text in arguments.file.read_text().splitlines()] if arguments.file.exists() else []
    for turn in range(arguments.runs):
        for name, table in tables.items():
            for epsilon in arguments.epsilons:
                if sum((run["table"], run["epsilon"]) == (name, epsilon) for run in done) <= turn:
                    found = {"table": name, "epsilon": epsilon, "seconds": arguments.seconds, **table.once(epsilon, arguments.seconds)}
                    with arguments.file.open("a") as file:
                        file.write(json.dumps(found) + "\n")
    return 0


class Compared:
    """A table with what is declared about it, and its true marginals, which are counted once."""

    def __init__(self, data: polars.DataFrame, declared: dict[str, Any]) -> None:
        self.data, self.declared = data, declared
        self.truth: dict[tuple[int, ...], Any] = {}
        self.real: list[Any] = []

    def once(self, epsilon: str, seconds: float) -> dict[str, Any]:
        """Make a table on a session, and compare its rows and those of independent columns with the real ones."""
        told: dict[str, Any] = {"unit": "person", "one_row_per_unit": True, "ledger": ":memory:", **self.declared}
        with discreet.connect({"t": self.data}, epsilon=Fraction(epsilon), delta=Fraction(DELTA), **told) as db:
            begin = time.process_time()
            made = db.synthesize("t", Fraction(epsilon), Fraction(DELTA), seconds=seconds)
            rows = made.codes
            used = time.process_time() - begin
        if not self.real:
            self.real = [coded(coding, self.data[coding.name].to_list()) for coding in made.codings]
        begin = time.process_time()
        alone = independent(made.domain, self.real, epsilon, DELTA)
        alone_used = time.process_time() - begin
        fell_back = any("columns are independent" in note for note in made.receipt.notes)
        return {
            "made": "independent" if fell_back else made.method,
            "rows": self.data.height,
            "columns": len(made.columns),
            "ours": [self.error(made.domain, rows, k) for k in (1, 2, 3)],
            "theirs": [self.error(made.domain, alone, k) for k in (1, 2, 3)],
            "used": [used, alone_used],
        }

    def error(self, domain: Domain, rows: Sequence[Any], k: int) -> float:
        """The mean ℓ₁ distance of k-way marginals, divided by n."""
        apart = [np.abs(self.true(domain, one) - counted(domain, one, rows)).sum() for one in some(domain, k)]
        return float(np.mean(apart) / self.data.height)

    def true(self, domain: Domain, clique: tuple[int, ...]) -> Any:
        """A marginal of the real rows."""
        if clique not in self.truth:
            self.truth[clique] = counted(domain, clique, self.real).astype(np.int32)
        return self.truth[clique]


def some(domain: Domain, k: int) -> list[tuple[int, ...]]:
    """All k-way marginals, or as many as are compared; always the same."""
    cliques = list(combinations(domain.columns, k))
    return cliques if len(cliques) <= MOST else [cliques[i] for i in np.random.default_rng(0).choice(len(cliques), MOST, replace=False)]


def lines(runs: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The table as Markdown: each line with whether it is no worse than independent columns."""
    heads = " | ".join(f"{head} | indep." for head in ("1-way", "2-way", "3-way", "mean"))
    yield f"| table | rows × columns | ε | runs | made by | {heads} | no worse | CPU s | indep. |"
    yield "|" + "---|" * 16
    for name in TABLES:
        for epsilon in ("0.1", "1", "10"):
            held = [run for run in runs if (run["table"], run["epsilon"]) == (name, epsilon)]
            if held:
                yield line(name, epsilon, held)


def line(name: str, epsilon: str, runs: Sequence[dict[str, Any]]) -> str:
    """One row: errors with their standard errors; 2-way, 3-way and the mean of all three are judged."""
    made = [run["made"] for run in runs]
    by = ", ".join(f"{one}{f' {made.count(one)}×' if made.count(one) < len(made) else ''}" for one in sorted(set(made)))
    cells, verdicts = [], []
    for k in (0, 1, 2, None):
        ours, theirs = ([mean(run[who]) if k is None else run[who][k] for run in runs] for who in ("ours", "theirs"))
        cells += [spread(ours), spread(theirs)]
        apart = (error(ours) ** 2 + error(theirs) ** 2) ** 0.5
        verdicts.append(mean(ours) <= max(1.02 * mean(theirs), mean(theirs) + 2 * apart))
    wrong = [what for what, good in zip(("1-way", "2-way", "3-way", "mean"), verdicts, strict=True) if not good]
    seconds = [mean(run["used"][i] for run in runs) for i in (0, 1)]
    size = f"{runs[0]['rows']:,} × {runs[0]['columns']}"
    told = f"but {', '.join(wrong)}" if wrong else "yes"
    return f"| {name} | {size} | {epsilon} | {len(runs)} | {by} | {' | '.join(cells)} | {told} | {seconds[0]:.1f} | {seconds[1]:.1f} |"


def spread(values: Sequence[float]) -> str:
    """Mean and its standard error."""
    return f"{mean(values):.4f}" + (f" ± {error(values):.4f}" if len(values) > 1 else "")


def error(values: Sequence[float]) -> float:
    """The standard error of the mean."""
    return stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


def read(data: Path, public: Path, name: str) -> tuple[polars.DataFrame, dict[str, Any]]:
    """A table with a number for each row, which is a person here, and what is declared about its columns."""
    if name in CODED:
        table, sizes = polars.read_csv(data / f"{name}.csv"), json.loads((data / f"{name}-domain.json").read_text())
        return table.with_row_index("person"), {"keys": {column: list(range(sizes[column])) for column in table.columns}}
    if name == "national2019":
        return read_nist(data)
    table, declared = polars.read_csv(public / "fresh" / f"{name}.csv", infer_schema_length=None), PUBLIC[name]
    named = {*declared["bounds"], *declared["keys"]}
    columns = [column for column in table.columns if column in named or table[column].dtype == polars.Boolean]
    return table.select(columns).with_row_index("person"), declared | {"not_null": columns}


def read_nist(data: Path) -> tuple[polars.DataFrame, dict[str, Any]]:
    """All 24 columns of NIST's national2019, as its schema declares them."""
    schema = json.loads((data / "national2019.json").read_text())["schema"]
    table = polars.read_csv(data / "national2019.csv", null_values=["N"], infer_schema_length=None)
    bounds, keys, present = {}, {}, []
    for name, about in schema.items():
        if "values" in about:
            values = [value if table[name].dtype == polars.String else int(value) for value in about["values"] if value != "N"]
            keys[name] = [*values, *([None] if about.get("has_null") else [])]
        else:
            bounds[name] = (about["min"], about["max"])
            present += [] if about.get("has_null") else [name]
    return table.select(list(schema)).with_row_index("person"), {"bounds": bounds, "keys": keys, "not_null": present}


if __name__ == "__main__":
    raise SystemExit(main())
