"""Several questions at one price: which noise is taken, what discoveries leave of δ, and who shares what is measured."""

from __future__ import annotations

from fractions import Fraction

import pytest
from attrs import evolve
from plan.questions import catalog

from discreet.loss.notions import Approx
from discreet.plan.batch import BatchSteps, compile_batch
from discreet.query.question import Question
from discreet.query.sql.read import read
from discreet.session.batch.plan import BatchPlan
from discreet.tables.catalog import Catalog
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.table import Contributions, Table
from discreet.tables.unit import EachRow

LEVEL = Fraction(95, 100)
COUNTS = ["SELECT COUNT(*) AS n FROM t", "SELECT dept, COUNT(*) AS n FROM t GROUP BY dept", "SELECT COUNT(*) AS n FROM t WHERE age > 40"]


def compiled(texts: list[str], tables: Catalog, epsilon: str = "1", delta: str = "1e-6", common: bool | None = None) -> BatchSteps:
    questions = {f"q{i}": read(text, tables) for i, text in enumerate(texts)}
    return compile_batch(questions, tables, Fraction(epsilon), Fraction(delta), lambda table, column: (), LEVEL, None, common)


def largest_error(steps: BatchSteps) -> float:
    errors = BatchPlan(steps, LEVEL).error()
    return max(float(width) for one in errors.values() for width in one.worst.values())  # type: ignore[arg-type]


SIZES = {"a": 16, "b": 5, "c": 2}
SETS = ("", "a", "b", "c", "a, b", "a, c", "b, c")


def by(keys: str, where: str = "") -> str:
    return f"SELECT {keys + ', ' if keys else ''}COUNT(*) AS n FROM t {where}" + (f" GROUP BY {keys}" if keys else "")


@pytest.mark.parametrize(("number", "epsilon"), [(2, "1"), (10, "0.1"), (10, "1"), (10, "20")])
def test_the_noise_is_taken_whose_largest_error_is_least(number: int, epsilon: str) -> None:
    """A mean of errors preferred noise that was better for some questions, and worse for the worst."""
    columns = tuple(ColumnMetadata.of(name, Kind.INTEGER, keys=range(size), nullable=False) for name, size in SIZES.items())
    tables = Catalog((Table("t", columns, EachRow()),))
    texts = [*map(by, SETS), *(by(keys, "WHERE a > 8") for keys in ("", "c", "b"))][:number]
    gaussian, own = (largest_error(compiled(texts, tables, epsilon, common=common)) for common in (True, False))
    assert largest_error(compiled(texts, tables, epsilon)) == pytest.approx(min(gaussian, own), rel=0.08)  # 1.96 and 2.12 deviations


@pytest.mark.parametrize("common", [True, False])
@pytest.mark.parametrize("adjacency", ["add/remove", "replace-one"])
def test_discoveries_are_paid_from_the_same_delta(common: bool, adjacency: str) -> None:
    tables = catalog({"rows": 2}, keys=None, adjacency=adjacency)
    found = compiled([COUNTS[0], COUNTS[1], COUNTS[2]], tables, "1", "1e-6", common)
    assert any(one.steps.discoveries for one in found.components)
    assert found.delta <= Fraction("1e-6")
    taken = sum(one.delta for part in found.components for one in part.steps.discoveries)
    assert all(taken + part.steps.budget.delta <= Fraction("1e-6") for part in found.components)
    assert found.loss.within(Approx(1, Fraction("1e-6")))


def test_questions_with_other_limits_are_measured_apart() -> None:
    tables = catalog({"rows": 2})
    one, two = (read(text, tables) for text in COUNTS[:2])

    def names(second: Question) -> list[tuple[str, ...]]:
        asked = {"q0": one, "q1": second}
        steps = compile_batch(asked, tables, Fraction(1), Fraction("1e-6"), lambda table, column: (), LEVEL)
        return [part.names for part in steps.components]

    assert names(two) == [("q0", "q1")]
    assert names(evolve(two, contributions=Contributions.of({"rows": 7}))) == [("q0",), ("q1",)]
