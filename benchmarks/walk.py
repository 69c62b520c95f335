"""The walk of one question through the code: how many files and functions it visits, how deep it goes, and whether it turns back.

    python benchmarks/walk.py            # one SQL question with declared keys and bounds, and one synthetic table

A walk turns back where a floor is entered again from a higher-numbered step of the road: query → plan → ledger → run → release.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import discreet

PACKAGE = str(Path(discreet.__file__).parent)


def walked(run: Callable[[], Any]) -> tuple[int, int, int]:
    """Files, functions and depth (frames of this package on the stack) of a call, after everything is loaded."""
    functions: set[tuple[str, str]] = set()
    depth = deepest = 0

    def watch(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth, deepest
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return
        if event == "call":
            depth += 1
            deepest = max(deepest, depth)
            functions.add((frame.f_code.co_filename, frame.f_code.co_qualname))
        elif event == "return":
            depth -= 1

    sys.setprofile(watch)
    try:
        run()
    finally:
        sys.setprofile(None)
    return len({file for file, _ in functions}), len(functions), deepest


def main() -> None:
    import pandas as pd

    warnings.simplefilter("ignore")
    coin = np.random.default_rng(0)
    table = pd.DataFrame({"id": np.arange(5000), "dept": coin.choice(["a", "b"], 5000), "cost": coin.uniform(0, 500, 5000)})
    with tempfile.TemporaryDirectory() as folder:
        db = discreet.connect(
            {"visits": table}, unit="id", epsilon=100, delta=1e-6, ledger=f"{folder}/ledger", bounds={"cost": (0, 500)},
            keys={"dept": ["a", "b"]}, contributions={"rows": 3},
        )  # fmt: skip
        text = "SELECT dept, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY dept"
        db.sql(text).release(epsilon=0.5)  # load everything
        db.synthesize("visits", epsilon=1, columns=["dept", "cost"])
        for what, run in {
            "one question": lambda: db.sql(text).release(epsilon=0.25),
            "one synthetic table": lambda: db.synthesize("visits", epsilon=2, columns=["dept", "cost"]),
        }.items():
            files, functions, deepest = walked(run)
            print(f"{what}: {files} files, {functions} functions, depth {deepest}")
        print(f"names at the root: {len(discreet.__all__)}")


if __name__ == "__main__":
    main()
