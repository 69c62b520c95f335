"""One file is enough: a statistic that is registered from outside passes the suite, and one that lacks a part does not get so far."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from query.statistics import suite
from query.statistics.toy import RootMeanSquare

from discreet.errors import Invalid
from discreet.query.statistics.registry import by_spelling, register, unregister
from discreet.query.statistics.statistic import Additive, Selected, Statistic

ROOT = Path(__file__).parents[3]


@pytest.fixture
def toy() -> Iterator[type[Statistic]]:
    register(RootMeanSquare)
    yield RootMeanSquare
    unregister(RootMeanSquare)
    assert by_spelling("RMS") is None


def root_mean_square(text: str, where: str | None) -> float:
    return float(suite.reference("SQRT(AVG(x * x))" if where is None else f"SQRT(AVG(CASE WHEN {where} THEN x * x END))"))


@pytest.mark.parametrize("check", suite.CHECKS)
def test_a_registered_class_is_a_statistic(toy: Any, check: str) -> None:
    if check == "exact":
        suite.check_exact(toy, root_mean_square)
    else:
        suite.CHECKS[check](toy)


def test_a_name_is_given_once(toy: type[Statistic]) -> None:
    with pytest.raises(Invalid, match="RMS"):
        register(toy)


@pytest.mark.parametrize("kind", [Additive, Selected])
def test_a_class_that_lacks_a_method_is_no_statistic(kind: Any) -> None:
    """Each abstract method is needed: without it no value of the class can be made."""
    missing = sorted(kind.__abstractmethods__)
    assert {"describe"} < set(missing)
    for left_out in missing:
        made = {name: lambda self: None for name in missing if name != left_out}
        with pytest.raises(TypeError, match=left_out):
            type("Incomplete", (kind,), made)()


def test_a_class_that_lacks_a_method_does_not_type_check(tmp_path: Path) -> None:
    whole = (Path(__file__).parent / "toy.py").read_text(encoding="utf-8")
    kept, _, _ = whole.partition("    def limits(")
    call = "\n\nfrom discreet.query.statistics.registry import register  # noqa: E402\n\nregister(RootMeanSquare)\n"
    for text, passes in ((whole, True), (kept, False)):
        file = tmp_path / f"statistic_{passes}.py"
        file.write_text(text + call, encoding="utf-8")
        said = subprocess.run([sys.executable, "-m", "mypy", "--strict", str(file)], cwd=ROOT, capture_output=True, text=True)
        assert (said.returncode == 0) == passes, said.stdout
        assert passes or 'abstract attributes "limits"' in said.stdout


def test_the_example_in_the_documentation_is_the_file() -> None:
    page = (ROOT / "docs" / "contributing" / "add-a-statistic.md").read_text(encoding="utf-8")
    assert (ROOT / "src" / "discreet" / "query" / "statistics" / "skewness.py").read_text(encoding="utf-8") in page
