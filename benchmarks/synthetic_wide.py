"""Synthetic tables of many rows and columns through a session: seconds, memory, error; each run in its own process. Prints Markdown.

    python benchmarks/synthetic_wide.py [--rows 1000000] [--columns 8 12 50] [--epsilon 1] [--seconds 60]

Tables are made up: columns of 4 to 20 values, each of which follows the one before it for half of the rows. The error is the mean ℓ₁
distance of all pairs of neighbouring columns, divided by the number of rows, of the synthetic rows and of independent columns.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent.parent / "src")]  # the sources beside this folder, installed or not

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

import discreet  # noqa: E402

SIZES = (4, 20, 8, 12, 5, 16, 10, 6)


def main() -> int:
    """Run every number of columns in a process, or one of them here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--columns", type=int, nargs="+", default=[8, 12, 50])
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.here:
        print(json.dumps(measured(asked.rows, asked.columns[0], asked.epsilon, asked.seconds)))
        return 0
    print(
        f"| columns | cells | method | seconds, {asked.seconds:g} allowed | CPU seconds | peak MB | table alone, MB | pairs | independent |"
    )
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    for columns in asked.columns:
        arguments = ["--rows", str(asked.rows), "--columns", str(columns), "--epsilon", asked.epsilon, "--seconds", str(asked.seconds)]
        run = subprocess.run([sys.executable, __file__, "--here", *arguments], capture_output=True, text=True, check=True)
        told = json.loads(run.stdout.splitlines()[-1])
        print("| " + " | ".join(str(cell) for cell in told) + " |", flush=True)
    return 0


def measured(rows: int, columns: int, epsilon: str, seconds: float) -> list[Any]:
    """The cells of one line."""
    sizes = [SIZES[i % len(SIZES)] for i in range(columns)]
    true = made_up(rows, sizes)
    names = list(true)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        pq.write_table(pa.table(true), path)
        before = _peak()
        keys = {name: list(range(size)) for name, size in zip(names, sizes, strict=True)}
        declared: dict[str, Any] = {"unit": discreet.each_row(), "keys": keys, "epsilon": 100, "delta": 1e-3, "ledger": ":memory:"}
        with discreet.connect(path, **declared) as db:
            wall, cpu = time.perf_counter(), time.process_time()
            made = db.synthesize("t", epsilon=epsilon, delta="1e-9", columns=names, seconds=seconds)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    found = made.to_arrow()
    after = _peak()
    synthetic = {name: np.asarray(found[name]).astype(np.int64) for name in names}
    error, alone = errors(true, synthetic, sizes)
    cells = f"10^{sum(map(math.log10, sizes)):.1f}"
    return [columns, cells, made.method, f"{wall:.1f}", f"{cpu:.1f}", round(after), round(before), f"{error:.4f}", f"{alone:.4f}"]


def made_up(rows: int, sizes: list[int]) -> dict[str, Any]:
    """Each column follows the one before it for half of the rows, and is skewed otherwise."""
    random = np.random.default_rng(0)
    found: dict[str, Any] = {}
    before = np.zeros(rows, np.int64)
    for place, size in enumerate(sizes):
        alone = random.choice(size, rows, p=(shares := 0.7 ** np.arange(size)) / shares.sum())
        before = found[f"c{place}"] = np.where(random.random(rows) < 0.5, before % size, alone)
    return found


def errors(true: dict[str, Any], made: dict[str, Any], sizes: list[int]) -> tuple[float, float]:
    """The mean distance of neighbouring pairs, for the made rows and for exact columns that are independent."""
    names, own, alone = list(true), [], []
    for place in range(len(names) - 1):
        shape = sizes[place], sizes[place + 1]
        there, here = (_pair(table, names[place], names[place + 1], shape) for table in (true, made))
        own.append(np.abs(there - here).sum())
        alone.append(np.abs(there - np.outer(there.sum(1), there.sum(0))).sum())
    return float(np.mean(own)), float(np.mean(alone))


def _pair(table: dict[str, Any], first: str, second: str, shape: tuple[int, int]) -> Any:
    counts = np.bincount(table[first] * shape[1] + table[second], minlength=shape[0] * shape[1]).reshape(shape)
    return counts / counts.sum()


def _peak() -> float:
    """The most memory that the process had so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


if __name__ == "__main__":
    raise SystemExit(main())
