"""The tables that the road is measured on: made once into a folder, the same for all. `python benchmarks/inputs.py --data DIR`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from attrs import frozen
from numpy.typing import NDArray

FOLDER = Path(__file__).parent / ".data"
SEED = 7
ROWS = 10_000_000
PEOPLE = 1_000_000
DEPARTMENTS = 50
POPULAR, PRIME = 1000, 7919  # one page in so many has many readers; what scatters the others
MOST = 1000  # of the values whose median is asked


@frozen
class Inputs:
    """Where the tables lie; each is made when it is first asked for."""

    folder: Path = FOLDER

    def keys(self, number: int) -> Path:
        """W2: ROWS keys, each below `number`, all equally likely. The same numbers lie beside it as .npy, for peers that take arrays."""
        return self._make(f"w2_k{number}", lambda rng: {"key": rng.integers(0, number, ROWS, dtype=np.int32)}, array="key")

    def visits(self, rows: int = ROWS) -> Path:
        """W3: who, where and how much. A few people have many rows; smaller tables have proportionally fewer people, with as many each."""
        return self._make(f"w3_{rows}", lambda rng: _visits(rng, rows))

    def scattered(self) -> Path:
        """W3 with people's numbers spread over 64 bits, as hashes and random identifiers are."""
        path, visits = self.folder / "w3_scattered.parquet", self.visits()
        if not path.exists():
            _say(path)
            beside = path.with_suffix(".part")
            columns = "CAST(hash(user_id) >> 1 AS BIGINT) AS user_id, dept, amount"
            duckdb.connect().execute(f"COPY (SELECT {columns} FROM '{visits}') TO '{beside}' (FORMAT parquet, ROW_GROUP_SIZE 1048576)")
            beside.rename(path)
        return path

    def values(self) -> Path:
        """W4: ROWS positive values with a long tail."""
        return self._make("w4", lambda rng: {"v": np.clip(rng.lognormal(3.2, 0.9, ROWS), 0, MOST)}, array="v")

    def pages(self, groups: int) -> Path:
        """Who read what, two rows for each page: half of them about one popular page in a thousand, the others each about another."""
        path = self.folder / f"pages_{groups}.parquet"
        if not path.exists():
            _say(path)
            self.folder.mkdir(parents=True, exist_ok=True)
            beside = path.with_suffix(".part")
            popular = groups // POPULAR
            page = f"CASE WHEN i % 2 = 0 THEN hash(i + 1) % {popular} ELSE {popular} + (i // 2 * {PRIME}) % {groups} END"
            columns = f"CAST(hash(i) % {groups // 4} AS BIGINT) AS person, CAST({page} AS BIGINT) AS page"
            duckdb.connect().execute(f"COPY (SELECT {columns} FROM range({2 * groups}) AS r(i)) TO '{beside}' (FORMAT parquet)")
            beside.rename(path)
        return path

    def _make(self, name: str, columns: Callable[[np.random.Generator], dict[str, NDArray[Any]]], array: str | None = None) -> Path:
        path = self.folder / f"{name}.parquet"
        if path.exists() and (array is None or path.with_suffix(".npy").exists()):
            return path
        _say(path)
        self.folder.mkdir(parents=True, exist_ok=True)
        made = columns(np.random.default_rng([SEED, *name.encode()]))
        if array is not None:
            np.save(path.with_suffix(".npy"), made[array])
        beside = path.with_suffix(".part")  # so that what lies there is whole
        pq.write_table(pa.table(made), beside)
        beside.rename(path)
        return path


def _visits(rng: np.random.Generator, rows: int) -> dict[str, NDArray[Any]]:
    """All rows are drawn, and those of the first people kept: so the people of a smaller table have as many rows each."""
    popularity = np.cumsum(np.arange(1, PEOPLE + 1) ** -0.6)
    rank = np.searchsorted(popularity, rng.random(ROWS) * popularity[-1])
    person = rng.permutation(PEOPLE)[np.minimum(rank, PEOPLE - 1)].astype(np.int64)
    sizes = np.arange(1, DEPARTMENTS + 1) ** -0.8
    department = rng.choice(DEPARTMENTS, size=ROWS, p=sizes / sizes.sum()).astype(np.int32)
    amount = np.round(rng.lognormal(3.2, 0.9, ROWS), 2)
    kept = person < PEOPLE * rows // ROWS
    return {"user_id": person[kept], "dept": department[kept], "amount": amount[kept]}


def _say(path: Path) -> None:
    print(f"making {path.name} …", flush=True)


def main() -> int:
    """Make all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER, help="the folder they go to (default benchmarks/.data)")
    inputs = Inputs(parser.parse_args().data)
    for path in (inputs.keys(100), inputs.keys(100_000), inputs.visits(), inputs.visits(1_000_000), inputs.scattered(), inputs.values()):
        print(path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
