"""SmartNoise on a pandas data frame in memory. A case is "ROWS FILE": at most ROWS rows of each person are kept."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

begin = time.perf_counter()
import snsql  # noqa: E402

import_seconds = time.perf_counter() - begin
import pandas as pd  # noqa: E402
from serve import serve  # noqa: E402

warnings.filterwarnings("ignore")
ASKED = "SELECT dept, COUNT(*) AS n, SUM(amount) AS s, AVG(amount) AS m FROM s.t GROUP BY dept"


def case(name: str) -> Callable[[], list[list[float]]]:
    """Read a case; the file is read before the clock starts."""
    most, path = name.split(" ", 1)
    frame = pd.read_parquet(path)
    table = {
        "rows": len(frame),
        "max_ids": int(most),
        "sample_max_ids": True,
        "clamp_counts": False,
        "censor_dims": False,
        "user_id": {"type": "int", "private_id": True},
        "dept": {"type": "int"},
        "amount": {"type": "float", "lower": 0.0, "upper": 100.0},
    }
    reader = snsql.from_df(frame, privacy=snsql.Privacy(epsilon=1.0, delta=1e-7), metadata={"": {"s": {"t": table}}})
    return lambda: [[float(value) for value in row] for row in reader.execute(ASKED)[1:]]


serve("smartnoise-sql", import_seconds, case)
