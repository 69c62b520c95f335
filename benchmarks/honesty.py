"""Do intervals hold the truth when nothing is declared? Every numeric column of every CSV file in a folder, through `connect`.

    python benchmarks/honesty.py FOLDER [--runs 50] [--epsilon 1] [--question 0.5] [--rows 1000 ...]

For each column a profile of the whole table (ε = 1) is bought once a run, then its mean (ε = 0.5) is asked: coverage of the true mean by
the 95 % interval, and the root mean squared error divided by that with the true least and greatest value declared as bounds, and by that of
Laplace noise on a sum and a count with those bounds, each with half of ε. `k` is the median of the rows that the profile says may lie
outside; `moves` is how far the k largest or smallest values move the mean, in half-widths: above 1 no interval can promise to hold.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "src")]

import discreet  # noqa: E402

DELTA = 1e-6


def main() -> int:
    """Print one line for each column, and a summary."""
    arguments = _arguments()
    rng = np.random.default_rng(0)  # chooses rows and draws the plain Laplace noise beside ours; our own noise is the system's
    print(f"profile ε = {arguments.epsilon:g} for the whole table, each mean ε = {arguments.question:g}, {arguments.runs} runs\n")
    lines: list[dict[str, Any]] = []
    for path in sorted(path for folder in arguments.folder for path in (folder.glob("*.csv") if folder.is_dir() else [folder])):
        table = _table(path)
        if table is None or len(table) < arguments.least:
            continue
        print(f"{path.stem}: n = {len(table):,}, {table.shape[1]} columns")
        print(f"  {'column':24s} learnt  cover declared laplace  half/sd      k  moves", flush=True)
        found = _trials(table, arguments, rng)
        lines += found
        for one in found:
            print(
                f"  {one['column'][:24]:24s} {one['learnt']:6.0%} {one['cover']:6.0%} {one['declared']:8.2f} {one['laplace']:7.2f} "
                f"{one['half']:8.3f} {one['k']:6.0f} {one['moves']:6.2f}",
                flush=True,
            )
    _summary(lines)
    return 0


def _summary(lines: list[dict[str, Any]]) -> None:
    held = [one for one in lines if one["learnt"] > 0 and one["moves"] < 1 and one["n"] >= 1000]
    print(f"\ncolumns with n ≥ 1,000 whose k extreme values move the mean by less than the half-width: {len(held)}")
    if held:
        worst = min(held, key=lambda one: one["cover"])
        print(f"  least coverage {worst['cover']:.0%} ({worst['table']}.{worst['column']})")
    for least in (5_000, 45_000):
        some = [one for one in lines if one["n"] >= least and one["learnt"] > 0]
        if some:
            worst = max(some, key=lambda one: one["declared"])
            print(
                f"n ≥ {least:,}: error / declared true bounds: median {np.median([one['declared'] for one in some]):.2f}, "
                f"largest {worst['declared']:.2f} ({worst['table']}.{worst['column']})"
            )
    apart = [f"{one['table']}.{one['column']} ({one['cover']:.0%})" for one in lines if one["learnt"] > 0 and one["moves"] >= 1]
    print(f"columns whose k extreme values move the mean further: {', '.join(apart) or 'none'}")
    unknown = [f"{one['table']}.{one['column']}" for one in lines if one["learnt"] == 0]
    print(f"columns that were never learnt: {', '.join(unknown) or 'none'}")


def _trials(table: pd.DataFrame, arguments: argparse.Namespace, rng: np.random.Generator) -> list[dict[str, Any]]:
    names = list(table.columns)
    got: dict[str, list[tuple[float, float, float, float]]] = {name: [] for name in names}
    bounds = {name: (float(table[name].min()), float(table[name].max())) for name in names}
    for _ in range(arguments.runs):
        with _connect(table) as db:
            profile = db.profile(epsilon=arguments.epsilon)
            for name in names:
                column = profile[name]
                if column.learnt:
                    assert column.histogram is not None
                    asked = db.table("data").mean(f'"{name}"', name="m").release(epsilon=arguments.question)
                    value, (low, high) = asked.rows[0]["m"], asked.intervals[0]["m"]
                    got[name].append((value, low, high, column.histogram.beyond))
    found = []
    with _connect(table, bounds={name: ends for name, ends in bounds.items() if ends[0] < ends[1]}) as declared:
        for name in names:
            values = table[name].dropna().to_numpy(float)
            found.append(_column(table, name, values, got[name], declared, arguments, rng))
    return found


def _column(table: Any, name: str, values: Any, got: list[Any], declared: Any, arguments: Any, rng: Any) -> dict[str, Any]:
    truth, low, high = values.mean(), values.min(), values.max()
    line = {"table": table.attrs["name"], "column": name, "n": len(values), "learnt": len(got) / arguments.runs}
    if not got or low == high:
        return line | {"cover": math.nan, "declared": math.nan, "laplace": math.nan, "half": math.nan, "k": math.nan, "moves": math.nan}
    value, below, above, k = (np.array(part) for part in zip(*got, strict=True))
    # the declared session's error is exact: the same question is never drawn twice, so its expected error is computed from its plan
    query = declared.table("data").mean(f'"{name}"', name="m").plan(epsilon=arguments.question)
    tight = _rmse_declared(query.error(size=len(values), at={"m": truth})["m"])
    both = 2 / arguments.question
    middle, half = (low + high) / 2, (high - low) / 2
    sums = (values - middle).sum() + rng.laplace(0, half * both, 4000)
    plain = middle + sums / np.maximum(len(values) + rng.laplace(0, both, 4000), 1)
    rmse = math.sqrt(((value - truth) ** 2).mean())
    width = float(np.median(above - below) / 2)
    many = int(min(np.median(k), len(values) - 1))
    ordered = np.sort(values)
    inner = ordered[many : len(ordered) - many] if 2 * many < len(ordered) else ordered[:0]
    moved = max(abs(ordered[: len(ordered) - many].mean() - truth), abs(ordered[many:].mean() - truth)) if len(inner) else math.inf
    return line | {
        "cover": float(((below <= truth) & (truth <= above)).mean()),
        "declared": rmse / tight,
        "laplace": rmse / math.sqrt(((plain - truth) ** 2).mean()),
        "half": width / max(values.std(), 1e-300),
        "k": float(np.median(k)),
        "moves": moved / width,
    }


def _rmse_declared(half_width: float) -> float:
    """The standard deviation behind a 95 % half-width: of a sum of two Laplace variables, nearly 1/2.12 of it."""
    return half_width / 2.12


def _connect(table: pd.DataFrame, **declared: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return discreet.connect(table, unit=discreet.each_row(), epsilon=10_000, delta=32 * DELTA, ledger=":memory:", **declared)


def _table(path: Path) -> pd.DataFrame | None:
    """The numeric columns of a file, as pandas reads them."""
    read = pd.read_csv(path, low_memory=False)
    numbers = read.apply(lambda column: pd.to_numeric(column, errors="coerce"))
    kept = [name for name in numbers if numbers[name].notna().mean() > 0.3 and numbers[name].nunique() > 2]
    if not kept:
        return None
    table = numbers[kept].convert_dtypes().copy()
    table = table.astype({name: "float64" for name in kept if table[name].dtype.kind == "f" or str(table[name].dtype) == "Float64"})
    table.columns = [f"c{i}_{''.join(c if c.isalnum() else '_' for c in str(name))}" for i, name in enumerate(kept)]
    table.attrs["name"] = path.stem
    return table


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--question", type=float, default=0.5)
    parser.add_argument("--least", type=int, default=200, help="rows that a table must have")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
