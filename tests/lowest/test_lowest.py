"""Declared lower bounds: each is there, and together they can be installed and work."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from lowest.install import EXTRAS, ROOT, lowest

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_dependency_has_one_lower_bound() -> None:
    pins = dict(one.split("==") for one in lowest(PROJECT))
    assert pins["cryptography"] == "45.0.1"  # 42 raised a raw ValueError after the debit; authlib 1.9 needs 45.0.1, and joserfc 1.6.1
    assert pins["typer"] == "0.15.4"  # 0.12 failed on --help
    assert set(EXTRAS) == set(PROJECT["optional-dependencies"]) - {"all", "dev", "docs", "gpu"}  # torch is not installed here


@pytest.mark.parametrize("wrong", [["numpy"], ["numpy<3"], ["numpy>=2", "numpy>=3"]])
def test_bounds_that_say_nothing(wrong: list[str]) -> None:
    project = {"dependencies": wrong, "optional-dependencies": {extra: [] for extra in EXTRAS}}
    with pytest.raises(SystemExit, match="lower bound"):
        lowest(project)


@pytest.mark.slow
def test_the_lowest_versions_work(tmp_path: Path) -> None:
    """The same as `make test-lowest`."""
    place = tmp_path / "lowest"
    subprocess.run([sys.executable, ROOT / "tests" / "lowest" / "install.py", place], check=True, timeout=600)
    done = subprocess.run(
        [place / "bin" / "python", ROOT / "tests" / "lowest" / "smoke.py"],
        env={**os.environ, "MPLBACKEND": "agg", "PYTHONPATH": str(ROOT / "src")}, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("the lowest versions work\n")
