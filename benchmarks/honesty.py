"""Do intervals hold the truth when nothing is declared? Every numeric column of every CSV file in a folder, through `connect`.

    python benchmarks/honesty.py FOLDER [--runs 50] [--rows 200 2000] [--profile 1] [--question 0.1 0.5] [--roads profiled undeclared]

For each column the mean is asked on up to three roads: `profiled` after a profile of the whole table that is bought once a run,
`undeclared` with nothing known, `declared` with the true least and greatest value as bounds. Printed are the share of runs that gave a
number, coverage of the true mean by the 95 % interval, and the root mean squared error divided by that of the declared bounds (from the
plan) and that of Laplace noise on a sum and a count with those bounds, each with half of ε. `k` is the median of the rows the profile
says may lie outside; `moves` is how far the k largest or smallest values move the mean, in half-widths: above 1 no interval can hold.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from attrs import frozen

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "src")]

import discreet  # noqa: E402
from discreet.errors import NotEnoughData  # noqa: E402

DELTA = 1e-6
ROADS = ("profiled", "undeclared", "declared")


@frozen
class Line:
    """What one road gave for one column, over all runs."""

    table: str
    column: str
    road: str
    n: int
    question: float
    answered: float
    cover: float = math.nan
    declared: float = math.nan
    laplace: float = math.nan
    half: float = math.nan
    k: float = math.nan
    moves: float = math.nan

    def __str__(self) -> str:
        numbers = f"{self.answered:6.0%} {self.cover:6.1%} {self.declared:8.2f} {self.laplace:7.2f} {self.half:8.3f}"
        return f"  {self.column[:24]:24s} {self.road:10s} {numbers} {self.k:6.0f} {self.moves:6.2f}"


def main() -> int:
    """Print one line for each column and road, and a summary."""
    arguments = _arguments()
    rng = np.random.default_rng(0)  # chooses rows and draws the plain Laplace noise beside ours; our own noise is the system's
    lines: list[Line] = []
    for path in sorted(path for folder in arguments.folder for path in (folder.glob("*.csv") if folder.is_dir() else [folder])):
        whole = _table(path)
        if whole is None or len(whole) < arguments.least:
            continue
        for rows in [rows for rows in arguments.rows if rows < len(whole)] or [len(whole)] if arguments.rows else [len(whole)]:
            table = whole if rows == len(whole) else whole.sample(rows, random_state=0).reset_index(drop=True)
            table = table[[name for name in table if table[name].nunique() > 1]]
            for question in arguments.question:
                print(f"{path.stem}: n = {len(table):,}, {table.shape[1]} columns, ε = {question:g} a mean, {arguments.runs} runs")
                print(f"  {'column':24s} {'road':10s}  given  cover declared laplace  half/sd      k  moves", flush=True)
                for line in _lines(path.stem, table, question, arguments, rng):
                    print(line, flush=True)
                    lines.append(line)
    _summary(lines)
    return 0


def _summary(lines: list[Line]) -> None:
    for road in ROADS:
        given = [one for one in lines if one.road == road and one.answered > 0]
        if not given:
            continue
        held = [one for one in given if one.n >= 1000 and not one.moves >= 1]
        print(
            f"\n{road}: {len(given)} columns with an answer, {len(held)} of them with n ≥ 1,000 and k extreme values within the half-width"
        )
        if held:
            worst = min(held, key=lambda one: one.cover)
            print(f"  coverage: least {worst.cover:.1%} ({worst.table}.{worst.column}), mean {np.mean([one.cover for one in held]):.1%}")
        for least, limit in ((200, 3), (5_000, 3), (50_000, 1.5)):
            ratios = {f"{one.table}.{one.column}": one.declared for one in given if one.n >= least and math.isfinite(one.declared)}
            if ratios:
                beyond = [f"{name} {ratio:.1f}" for name, ratio in sorted(ratios.items(), key=lambda item: -item[1]) if ratio > limit]
                middle = f"median {np.median(list(ratios.values())):.2f}, largest {max(ratios.values()):.2f}"
                print(
                    f"  n ≥ {least:,}, error / declared bounds: {middle}; above {limit}: {', '.join(beyond) or 'none'} (of {len(ratios)})"
                )
        apart = [f"{one.table}.{one.column} ({one.cover:.0%})" for one in given if one.moves >= 1]
        print(f"  columns whose k extreme values move the mean further: {', '.join(apart) or 'none'}")
    silent = sorted({f"{one.table}.{one.column} ({one.road})" for one in lines if one.answered == 0})
    print(f"never answered: {', '.join(silent) or 'none'}")


def _lines(name: str, table: pd.DataFrame, question: float, arguments: argparse.Namespace, rng: np.random.Generator) -> Iterator[Line]:
    bounds = {column: (float(table[column].min()), float(table[column].max())) for column in table}
    got: dict[tuple[str, str], list[tuple[float, float, float, float]]] = {}
    for _ in range(arguments.runs):
        for road in arguments.roads:
            with _connect(table, bounds if road == "declared" else None) as db:
                for column, answer in _answers(db, road, list(table), arguments.profile, question):
                    got.setdefault((column, road), []).append(answer)
    with _connect(table, bounds) as declared:
        for column in table:
            values = table[column].dropna().to_numpy(float)
            # from the plan, for the same question is never drawn twice in a session
            plan = declared.table("data").mean(f'"{column}"', name="m").plan(epsilon=question)
            tight = _deviation(plan.error(size=len(values), at={"m": values.mean()})["m"])
            for road in arguments.roads:
                yield _line((name, column, road), values, question, got.get((column, road), []), tight, arguments.runs, rng)


def _answers(
    db: Any, road: str, columns: list[str], price: float, question: float
) -> Iterator[tuple[str, tuple[float, float, float, float]]]:
    profile = db.profile(epsilon=price) if road == "profiled" else None
    for column in columns:
        if profile is not None and not profile[column].learnt:
            continue
        beyond = 0.0 if profile is None else profile[column].histogram.beyond
        try:
            asked = db.table("data").mean(f'"{column}"', name="m").release(epsilon=question)
        except NotEnoughData:
            continue
        if asked.rows[0]["m"] is not None:
            yield column, (asked.rows[0]["m"], *asked.intervals[0]["m"], beyond)


def _line(
    of: tuple[str, str, str], values: Any, question: float, got: list[tuple[float, float, float, float]], tight: float, runs: int,
    rng: np.random.Generator,
) -> Line:  # fmt: skip
    line = Line(*of, len(values), question, len(got) / runs)
    if not got:
        return line
    value, below, above, k = (np.array(part) for part in zip(*got, strict=True))
    truth, low, high, both = values.mean(), values.min(), values.max(), 2 / question
    middle, half = (low + high) / 2, (high - low) / 2
    plain = middle + ((values - middle).sum() + rng.laplace(0, half * both, 4000)) / np.maximum(len(values) + rng.laplace(0, both, 4000), 1)
    rmse, width = math.sqrt(((value - truth) ** 2).mean()), float(np.median(above - below) / 2)
    many, ordered = int(min(np.median(k), len(values) - 1)), np.sort(values)
    moved = max(abs(ordered[: len(ordered) - many].mean() - truth), abs(ordered[many:].mean() - truth))
    return Line(
        *of,
        len(values),
        question,
        len(got) / runs,
        float(((below <= truth) & (truth <= above)).mean()),
        rmse / tight,
        rmse / math.sqrt(((plain - truth) ** 2).mean()),
        width / max(values.std(), 1e-300),
        float(np.median(k)) if of[2] == "profiled" else math.nan,
        moved / width if of[2] == "profiled" else math.nan,
    )


def _deviation(half_width: float) -> float:
    """The standard deviation behind a 95 % half-width: of a sum of two Laplace variables, nearly 1/2.12 of it."""
    return half_width / 2.12


def _connect(table: pd.DataFrame, bounds: dict[str, tuple[float, float]] | None) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return discreet.connect(
            {"data": table}, unit=discreet.each_row(), epsilon=10_000, delta=32 * DELTA, ledger=":memory:", bounds=bounds
        )


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
    return table


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--rows", type=int, nargs="+", help="so many rows of each table, chosen at random; else all")
    parser.add_argument("--profile", type=float, default=1.0, help="ε of the profile")
    parser.add_argument("--question", type=float, nargs="+", default=[0.5], help="ε of each mean")
    parser.add_argument("--roads", nargs="+", choices=ROADS, default=["profiled"])
    parser.add_argument("--least", type=int, default=200, help="rows that a table must have")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
