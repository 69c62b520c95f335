"""The table as a DataFrame, and an engine that reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from engines.visits import TABLE

from discreet.engines.spark.engine import Spark


@pytest.fixture(scope="module")
def visits(spark: Any) -> Any:
    """The table as a DataFrame."""
    return spark.sql(
        TABLE.split(" AS ", 1)[1]
        .replace("1::BIGINT, 0.5::DOUBLE", "1L, 0.5D")
        .replace("'inf'::DOUBLE", "double('inf')")
        .replace("TIMESTAMP ", "TIMESTAMP_NTZ ")
    )


@pytest.fixture(scope="module")
def engine(visits: Any) -> Iterator[Spark]:
    with Spark.open({"visits": visits}) as found:
        yield found
