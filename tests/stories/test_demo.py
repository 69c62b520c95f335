"""The demonstration and the public names, as a newcomer meets them."""

from __future__ import annotations

import subprocess
import sys

import discreet


def test_the_demonstration_runs_and_refuses() -> None:
    run = subprocess.run([sys.executable, "-m", "discreet"], capture_output=True, text=True, timeout=120, check=True)
    assert run.stderr == ""
    for expected in ("forecast, before paying", "hypertension", "refused: the budget does not admit this", "98.2%", "← charged"):
        assert expected in run.stdout


def test_every_public_name_exists_once() -> None:
    assert len(set(discreet.__all__)) == len(discreet.__all__)
    assert all(hasattr(discreet, name) for name in discreet.__all__)
    public = {n for n in vars(discreet) if not n.startswith("_") and getattr(discreet, n).__class__.__name__ != "module"}
    assert public == set(discreet.__all__) - {"__version__"}


def test_import_loads_no_heavy_library() -> None:
    """What costs start-up time stays out: test oracles, plotting, data frames and the terminal library."""
    code = "import sys, discreet; print([m for m in ('scipy', 'matplotlib', 'pandas', 'polars', 'rich', 'duckdb') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.strip() == "[]"
