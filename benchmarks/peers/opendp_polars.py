"""OpenDP on Polars, from a Parquet file. A case is "histogram KEYS FILE" or "people known|found GROUPS PER_GROUP FILE"."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

begin = time.perf_counter()
import opendp.prelude as dp  # noqa: E402
import polars as pl  # noqa: E402

import_seconds = time.perf_counter() - begin
from serve import serve  # noqa: E402

dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
DEPARTMENTS = 50


def histogram(keys: int, path: str) -> Callable[[], int]:
    """Count each public key at ε = 1, a row for each person."""
    rows = pl.scan_parquet(path).select(pl.len()).collect().item()
    public = pl.DataFrame({"key": range(keys)}, schema={"key": pl.Int32})

    def release() -> int:
        context = dp.Context.compositor(
            data=pl.scan_parquet(path),
            privacy_unit=dp.unit_of(contributions=1),
            privacy_loss=dp.loss_of(epsilon=1.0, delta=1e-7),
            split_evenly_over=1,
            margins=[dp.polars.Margin(max_length=rows)],
        )
        return len(context.query().group_by("key").agg(dp.len(signed=True)).with_keys(public).release().collect())

    return release


def people(known: bool, groups: int, per_group: int, path: str) -> Callable[[], list[list[float]]]:
    """Count, sum and mean of each department at ε = 1; groups are kept first come, for its sampling (the default) raises here."""
    rows = pl.scan_parquet(path).select(pl.len()).collect().item()
    public = pl.DataFrame({"dept": range(DEPARTMENTS)}, schema={"dept": pl.Int32})
    limits = dp.polars.Bound(by=["dept"], num_groups=groups, per_group=per_group)
    sizes: dict[str, Any] = {"max_length": rows, "max_groups": 2 * DEPARTMENTS}
    amount = pl.col("amount").fill_null(0.0).fill_nan(0.0).clip(0.0, 100.0)

    def release() -> list[list[float]]:
        context = dp.Context.compositor(
            data=pl.scan_parquet(path),
            privacy_unit=dp.unit_of(contributions=[limits], identifier="user_id"),
            privacy_loss=dp.loss_of(epsilon=1.0, delta=1e-7),
            split_evenly_over=1,
            margins=[dp.polars.Margin(**sizes), dp.polars.Margin(by=["dept"], **sizes)],
        )
        bounded = context.query().truncate_per_group(per_group, by=["dept"]).truncate_num_groups(groups, by=["dept"], keep="first")
        asked = bounded.group_by("dept").agg(pl.len().dp.noise().alias("n"), amount.sum().dp.noise().alias("s"))
        found = (asked.with_keys(public) if known else asked).release().collect()
        return [list(row) for row in found.select("dept", "n", "s", m=pl.col("s") / pl.col("n")).rows()]

    return release


def case(name: str) -> Callable[[], Any]:
    """Read a case."""
    if name.startswith("histogram "):
        _, keys, path = name.split(" ", 2)
        return histogram(int(keys), path)
    _, which, groups, per_group, path = name.split(" ", 4)
    return people(which == "known", int(groups), int(per_group), path)


serve("opendp", import_seconds, case)
