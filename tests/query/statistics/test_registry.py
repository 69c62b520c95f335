"""One file is enough: a statistic that is registered from outside passes the suite, and one that lacks a part does not get so far."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from query.statistics import suite
from query.statistics.toy import Rarest, RootMeanSquare

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


@pytest.fixture
def selecting_toy() -> Iterator[type[Statistic]]:
    register(Rarest)
    yield Rarest
    unregister(Rarest)


def rarest(text: str, where: str | None) -> str:
    counted = Counter(k for g, k in zip(suite.rows()["g"], suite.rows()["k"], strict=True) if where is None or g == "b")
    return min(counted, key=lambda value: counted[value])


@pytest.mark.parametrize("check", [check for check in suite.CHECKS if check != "coverage"])
def test_a_registered_class_with_a_mechanism_of_its_own_selects(selecting_toy: Any, check: str) -> None:
    """The mechanism is one that no statistic of the package selects with; nothing but the class knows it."""
    if check == "exact":
        suite.check_exact(selecting_toy, rarest)
    else:
        suite.CHECKS[check](selecting_toy)


def test_the_selecting_toy_is_explained_and_paid_for(selecting_toy: Any) -> None:
    with suite.session(suite.rows(60)) as db:
        plan = db.sql("SELECT g, RAREST(k) AS s FROM t GROUP BY g").plan(2, 0)
        told = str(plan.explain())
        assert "s: the rarest of 3 values of k, by Exponential with ε = 1." in told.replace("\n", " ")
        assert "Exponential. Theorem (McSherry" in told.replace("\n", " ")
        release = db.sql("SELECT g, RAREST(k) AS s FROM t GROUP BY g").release(2, 0)
        assert {row["s"] for row in release.rows} <= {"p", "q", "r", None}
        release.verify(db._ledger)
        assert (plan.loss.epsilon_at(0), db.spent.epsilon) == (2.0, 2)


def test_no_module_but_its_own_knows_the_mechanism_of_a_selected_statistic() -> None:
    """Planning, running and explaining ask the statistic, so that a new one is one file."""
    source = ROOT / "src" / "discreet"
    choosing = [path for room in ("plan", "run", "explain") for path in (source / room).rglob("*.py")]
    choosing.append(source / "query" / "statistics" / "statistic.py")
    known = ("mechanisms.quantile", "mechanisms.noisy_max", "statistics.mode", "statistics.percentile")
    assert [path.name for path in choosing if any(f"discreet.{name} " in path.read_text(encoding="utf-8") for name in known)] == []


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
