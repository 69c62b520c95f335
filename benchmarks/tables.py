"""Tables that add up: the total variance of a CUBE, of a hierarchy and of a batch, beside asking separately and beside the optimum.

    python benchmarks/tables.py [--data ../shared/data] [--runs 2000] [--epsilon 1] [--delta 1e-6]

Every run is a question to a session on Adult (education × race × sex, 16 × 5 × 2 groups; a made-up table if the data is not there). The
questions differ in the name of an output only, so each is drawn and paid for anew. Variances are those of the released counts against the
truth; "separately" are the same sets asked one by one at the same price, with equal shares and with the best ones.
Coverage is the share of intervals that hold the truth; totals are compared exactly with the sums of their parts.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "src"), str(HERE)]  # the sources beside this folder, installed or not

import numpy as np  # noqa: E402
import polars  # noqa: E402
from attrs import evolve  # noqa: E402

import discreet  # noqa: E402
from discreet.loss import calibrate  # noqa: E402
from discreet.plan.resolve import resolve  # noqa: E402
from discreet.run.execute import execute  # noqa: E402
from discreet.run.outcome import outcome  # noqa: E402

KEYS = {"education": 16, "race": 5, "sex": 2}
Row = tuple[Any, ...]


def main() -> None:
    """Measure them, and print a table of each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared" / "data")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--delta", default="1e-6")
    asked = parser.parse_args()
    people = adult(asked.data)
    cube(people, asked.runs, asked.epsilon, asked.delta)
    hierarchy(asked.runs, asked.epsilon, asked.delta)
    batch(people, asked.epsilon, asked.delta)
    goals(asked.epsilon, asked.delta)


def adult(data: Path) -> polars.DataFrame:
    """Three columns of Adult as codes; or as many made-up people."""
    if (data / "adult.csv").exists():
        return polars.read_csv(data / "adult.csv").select(*KEYS).with_row_index("id")
    rng = np.random.default_rng(0)
    return polars.DataFrame({name: rng.integers(0, size, 48_842) for name, size in KEYS.items()}).with_row_index("id")


def session(tables: Mapping[str, polars.DataFrame], keys: Mapping[str, Sequence[Any]]) -> Any:
    """One row for each person, and a budget for all runs."""
    return discreet.connect(
        dict(tables),
        unit="id",
        epsilon=10**7,
        delta=0.9,
        keys=dict(keys),
        contributions={"rows": 1},
        one_row_per_unit=True,
        ledger=":memory:",
    )


# ── CUBE ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def cube(people: polars.DataFrame, runs: int, epsilon: str, delta: str) -> None:
    """All sets of three keys."""
    names = list(KEYS)
    sets = [places for length in range(len(names), -1, -1) for places in combinations(range(len(names)), length)]
    db = session({"people": people}, {name: range(size) for name, size in KEYS.items()})
    exact = [_counts(people, [names[place] for place in places]) for places in sets]
    text = f"SELECT {', '.join(names)}, COUNT(*) AS n{{}} FROM people GROUP BY CUBE ({', '.join(names)})"
    labels = [", ".join(names[place] for place in places) or "all" for places in sets]
    sigma = float(calibrate.gaussian_scale(discreet.exact.rational(epsilon), discreet.exact.rational(delta), discreet.exact.rational(1)))
    least = math.prod((n - 1 + math.sqrt(n + 1)) ** 2 / n for n in KEYS.values()) * sigma**2
    plan = db.sql(text.format("")).plan(epsilon, delta).steps
    gaussian = with_gaussian_noise(plan, delta)
    ways = {
        f"as planned ({plan.budget.noise} noise)": (db.sql(text.format(run)).release(epsilon, delta).columns for run in range(runs)),
        "with Gaussian noise, not by way of the session": (outcome(execute(gaussian, db._engine), 0.95) for _ in range(runs)),
    }
    print(f"CUBE of {' × '.join(f'{n} ({k})' for n, k in KEYS.items())}, {len(people):,} people, ε = {epsilon}, δ = {delta}, {runs:,} runs")
    for way, answers in ways.items():
        print(f"\n{way}; tables measured: {len((gaussian if 'not by' in way else plan).totals)}")
        squared, inside, wrong = _measured(answers, names, sets, exact, runs)
        _coverage(labels, inside, squared, exact, runs)
        _compared(sum(squared), exact, epsilon, delta, least)
        print(f"totals that are not exactly the sum of their parts: {wrong} of {runs:,} runs")
    print()


def with_gaussian_noise(plan: Any, delta: str) -> Any:
    """The same plan with Gaussian noise, even where Laplace noise is better."""
    budget = evolve(plan.budget, noise="gaussian", delta=discreet.exact.rational(delta))
    return resolve(evolve(plan, budget=budget, bounding=None, totals=(), parts=()), plan.discovered)


def _counts(people: polars.DataFrame, names: Sequence[str]) -> dict[Row, int]:
    if not names:
        return {(): len(people)}
    domain = [sorted(people[name].unique()) if name not in KEYS else range(KEYS[name]) for name in names]
    found = dict.fromkeys(_product(domain), 0)
    return found | {row[:-1]: row[-1] for row in people.group_by(names).len().iter_rows()}


def _product(domain: Sequence[Sequence[Any]]) -> list[Row]:
    found: list[Row] = [()]
    for values in domain:
        found = [(*row, value) for row in found for value in values]
    return found


def _measured(
    answers: Any, names: Sequence[str], sets: Sequence[tuple[int, ...]], exact: Sequence[Mapping[Row, int]], runs: int
) -> tuple[list[float], list[int], int]:
    """For each set the summed squared error in a run, and how many intervals hold the truth; and in how many runs tables do not agree."""
    squared, inside, wrong = [0.0] * len(sets), [0] * len(sets), 0
    for columns in answers:
        (count,) = (column for column in columns if column.name not in names)
        keys = list(zip(*(column.values for column in columns if column.name in names), strict=True))
        widths = count.widths if isinstance(count.widths, list) else [count.widths] * len(keys)
        tables: list[dict[Row, float]] = [{} for _ in sets]
        for key, value, width in zip(keys, count.values, widths, strict=True):
            places = tuple(place for place, one in enumerate(key) if one is not None)
            at, short = sets.index(places), tuple(key[place] for place in places)
            off = value - exact[at][short]
            squared[at] += off**2 / runs
            inside[at] += abs(off) <= width
            tables[at][short] = value
        wrong += not _agree(sets, tables)
    return squared, inside, wrong


def _agree(sets: Sequence[tuple[int, ...]], tables: Sequence[Mapping[Row, float]]) -> bool:
    for coarse, above in zip(sets, tables, strict=True):
        for fine, below in zip(sets, tables, strict=True):
            if set(coarse) < set(fine):
                sums: dict[Row, list[float]] = {}
                for key, value in below.items():
                    sums.setdefault(tuple(key[fine.index(place)] for place in coarse), []).append(value)
                if any(math.fsum(parts) != above[key] for key, parts in sums.items()):
                    return False
    return True


def _coverage(names: Sequence[str], inside: Sequence[int], squared: Sequence[float], exact: Sequence[Mapping[Row, int]], runs: int) -> None:
    print(f"{'set':28s} {'groups':>7s} {'sd of a count':>14s} {'coverage':>9s}")
    for name, count, off, groups in zip(names, inside, squared, exact, strict=True):
        print(f"{name:28s} {len(groups):7,d} {math.sqrt(off / len(groups)):14.2f} {100 * count / (len(groups) * runs):8.2f}%")


def _compared(found: float, exact: Sequence[Mapping[Row, int]], epsilon: str, delta: str, least: float | None) -> None:
    """Beside separate tables at the same price: with Gaussian noise at shares of μ², with Laplace noise at shares of ε."""
    price, sizes = discreet.exact.rational(epsilon), [len(groups) for groups in exact]
    squared = float(calibrate.gaussian_scale(price, discreet.exact.rational(delta), discreet.exact.rational(1))) ** 2
    laplace = 2 / float(price) ** 2
    apart = {
        "Gaussian noise, equal shares": len(sizes) * sum(sizes) * squared,
        "Gaussian noise, best shares": sum(map(math.sqrt, sizes)) ** 2 * squared,
        "Laplace noise, equal shares": len(sizes) ** 2 * sum(sizes) * laplace,
        "Laplace noise, best shares": sum(size ** (1 / 3) for size in sizes) ** 3 * laplace,
    }
    print(f"total variance {found:,.0f}; asked separately it is, with")
    for way, variance in apart.items():
        print(f"  {way:30s} {variance / found:6.2f} times as much")
    if least is not None:
        print(f"the least that Gaussian noise of this price can have is {least:,.0f}; this is {100 * (found / least - 1):+.1f} %")


# ── hierarchy ────────────────────────────────────────────────────────────────────────────────────────────────────────


def hierarchy(runs: int, epsilon: str, delta: str) -> None:
    """Region → city → district, from a public table."""
    rng = np.random.default_rng(1)
    sizes = [(r, c, int(rng.integers(2, 12))) for r in range(8) for c in range(int(rng.integers(2, 9)))]
    places = [(f"r{r}", f"c{r}.{c}", f"d{r}.{c}.{d}") for r, c, districts in sizes for d in range(districts)]
    table = polars.DataFrame(places, schema=["region", "city", "district"], orient="row")
    chosen = rng.choice(len(places), 100_000, p=rng.dirichlet(np.full(len(places), 0.5)))
    people = polars.DataFrame({"id": np.arange(len(chosen)), "district": table["district"].gather(chosen)})
    with tempfile.TemporaryDirectory() as folder:
        people.write_parquet(Path(folder) / "people.parquet")
        table.write_parquet(Path(folder) / "places.parquet")
        (Path(folder) / "discreet.toml").write_text(POLICY, encoding="utf-8")
        db = discreet.connect(Path(folder) / "discreet.toml")
        joined = people.join(table, on="district")
        names, sets = ["region", "city", "district"], [(0, 1, 2), (0, 1), (0,), ()]
        exact = []
        for level in sets:
            shown = [names[place] for place in level]
            zero = dict.fromkeys(table.select(shown).unique().iter_rows(), 0) if shown else {}
            counts = {row[:-1]: row[-1] for row in joined.group_by(shown).len().iter_rows()} if shown else {(): len(people)}
            exact.append(zero | counts)
        text = (
            "SELECT region, city, p.district, COUNT(*) AS n{} FROM people JOIN places AS p ON people.district = p.district "
            "GROUP BY ROLLUP (region, city, p.district)"
        )
        print(f"ROLLUP of region → city → district, {len(people):,} people, ε = {epsilon}, δ = {delta}, {runs:,} runs")
        answers = (db.sql(text.format(run)).release(epsilon, delta).columns for run in range(runs))
        squared, inside, wrong = _measured(answers, names, sets, exact, runs)
        _coverage(["region, city, district", "region, city", "region", "all"], inside, squared, exact, runs)
        _compared(sum(squared), exact, epsilon, delta, None)
        print(f"totals that are not exactly the sum of their parts: {wrong} of {runs:,} runs\n")


POLICY = """
[budget]
epsilon = 10000000
delta = 0.9
[tables.people]
source = "people.parquet"
unit = "id"
one_row_per_unit = true
[tables.places]
source = "places.parquet"
public = true
[tables.places.columns.district]
type = "text"
unique = true
"""


# ── a batch ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def batch(people: polars.DataFrame, epsilon: str, delta: str) -> None:
    """Ten questions at once."""
    names = list(KEYS)
    questions = {"all": "SELECT COUNT(*) AS n FROM people"}
    questions |= {name: f"SELECT {name}, COUNT(*) AS n FROM people GROUP BY {name}" for name in names}
    questions |= {f"{a} × {b}": f"SELECT {a}, {b}, COUNT(*) AS n FROM people GROUP BY {a}, {b}" for a, b in combinations(names, 2)}
    questions["educated"] = "SELECT COUNT(*) AS n FROM people WHERE education >= 9"
    questions["educated by sex"] = "SELECT sex, COUNT(*) AS n FROM people WHERE education >= 9 GROUP BY sex"
    questions["educated by race"] = "SELECT race, COUNT(*) AS n FROM people WHERE education >= 9 GROUP BY race"
    db = session({"people": people}, {name: range(size) for name, size in KEYS.items()})
    request = db.batch(questions)
    plan = request.plan(epsilon, delta)
    tenth = {"epsilon": float(epsilon) / len(questions), "delta": float(delta) / len(questions)}
    separately = {name: db.sql(text).plan(**tenth).error() for name, text in questions.items()}
    together = plan.error()
    print(f"a batch of {len(questions)} questions, measured in {len(plan.steps.components)}, ε = {epsilon}, δ = {delta}")
    print(f"{'question':20s} {'together':>9s} {'separately, a tenth of the price each':>38s}")
    for name in questions:
        print(f"{name:20s} {_wide(together[name]):9.1f} {_wide(separately[name]):38.1f}")


def goals(epsilon: str, delta: str) -> None:
    """A cube of five keys, whose noise is chosen for different goals."""
    sizes = {"a": 14, "b": 9, "c": 8, "d": 5, "e": 2}
    rows = polars.DataFrame({"id": [0], **{key: [0] for key in sizes}})  # errors do not depend on them
    db = session({"t": rows}, {name: range(size) for name, size in sizes.items()})
    text = f"SELECT {', '.join(sizes)}, COUNT(*) AS n FROM t GROUP BY CUBE ({', '.join(sizes)})"
    print(f"\na cube of {math.prod(sizes.values()):,} cells, ε = {epsilon}, δ = {delta}: ± of a count, by what is minimised")
    print(f"{'minimise':26s} {'in total':>9s} {'by a':>9s} {'finest':>9s}")
    for goal in ("total", "worst", {"": 10_000, "a": 1000}):
        sets = db.sql(text, minimise=goal).plan(epsilon=epsilon, delta=delta).error().sets
        widths = [_wide(sets[name]) for name in ("", "a", ", ".join(sizes))]
        print(f"{goal!s:26s} " + " ".join(f"{width:9.1f}" for width in widths))


def _wide(found: Any) -> float:
    width = found["n"]
    return float(max(width.values()) if isinstance(width, dict) else width)


if __name__ == "__main__":
    main()
