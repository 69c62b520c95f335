"""The closed form is least squares: compared with dense matrices on small layouts, with and without a hierarchy."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.algorithms.consistent.estimate import effective_noises, estimate, variances
from discreet.algorithms.consistent.layout import Floats, Layout, Table

TREE = ((0, 0, 0), (0, 0, 1, 2, 2, 2))
CASES = [
    (Layout((), (3, 4)), [Table(0, (0, 1)), Table(0, (0,)), Table(0, ())]),
    (Layout((), (2, 3, 2)), [Table(0, (0, 1)), Table(0, (1, 2)), Table(0, (1,)), Table(0, (0, 1, 2))]),
    (Layout(TREE, ()), [Table(2, ()), Table(1, ()), Table(0, ())]),
    (Layout(TREE, ()), [Table(2, ()), Table(0, ())]),
    (Layout(TREE, (3, 2)), [Table(2, (0, 1)), Table(2, (0,)), Table(1, (1,)), Table(0, ()), Table(0, (0, 1))]),
]
PARTIAL = [  # what is measured does not determine all cells
    (Layout((), (3, 4)), [Table(0, (0,)), Table(0, (1,))]),
    (Layout(TREE, (3, 2)), [Table(1, (0,)), Table(0, (1,))]),
    (Layout(TREE, (3,)), [Table(2, ()), Table(0, (0,))]),
]


def matrices(layout: Layout, tables: list[Table]) -> list[Floats]:
    return [np.array([layout.summed(cell, table).ravel() for cell in np.eye(layout.cells(layout.finest))]).T for table in tables]


def draw(layout: Layout, tables: list[Table]) -> tuple[dict[Table, float], dict[Table, Floats], Floats, Floats]:
    """Precisions, noisy tables, and by dense matrices the (pseudo-)inverse and the estimate."""
    rng = np.random.default_rng(len(tables))
    precision = {table: float(rng.uniform(0.2, 3)) for table in tables}
    noisy = {table: rng.normal(size=layout.shape(table)) for table in tables}
    rows = matrices(layout, tables)
    inverse = np.linalg.pinv(sum(precision[table] * one.T @ one for table, one in zip(tables, rows, strict=True)))
    right = sum(precision[table] * one.T @ noisy[table].ravel() for table, one in zip(tables, rows, strict=True))
    return precision, noisy, inverse, inverse @ right


@pytest.mark.parametrize(("layout", "tables"), CASES)
def test_it_is_least_squares(layout: Layout, tables: list[Table]) -> None:
    precision, noisy, inverse, dense = draw(layout, tables)
    assert estimate(layout, noisy, precision).ravel() == pytest.approx(dense, abs=1e-12)
    asked = [Table(level, flat) for level in range(len(layout.parents) + 1) for flat in [(), *((i,) for i in range(len(layout.sizes)))]]
    found = variances(layout, precision, asked)
    for table, rows in zip(asked, matrices(layout, asked), strict=True):
        each = np.diag(rows @ inverse @ rows.T).reshape(layout.shape(table))
        assert np.broadcast_to(found[table].reshape(-1, *(1 for _ in table.flat)), each.shape) == pytest.approx(each)


@pytest.mark.parametrize(("layout", "tables"), PARTIAL)
def test_what_is_measured_is_estimated_where_not_all_is_determined(layout: Layout, tables: list[Table]) -> None:
    precision, noisy, inverse, dense = draw(layout, tables)
    cells = estimate(layout, noisy, precision)
    for table, rows in zip(tables, matrices(layout, tables), strict=True):
        assert layout.summed(cells, table).ravel() == pytest.approx(rows @ dense, abs=1e-12)
        each = np.diag(rows @ inverse @ rows.T).reshape(layout.shape(table))
        found = variances(layout, precision, [table])[table]
        assert np.broadcast_to(found.reshape(-1, *(1 for _ in table.flat)), each.shape) == pytest.approx(each)


def test_exact_tables_are_given_back() -> None:
    layout = Layout(TREE, (3, 2))
    cells = np.random.default_rng(1).integers(0, 100, layout.shape(layout.finest)).astype(float)
    tables = [Table(2, (0, 1)), Table(1, (0,)), Table(0, ())]
    found = estimate(layout, {table: layout.summed(cells, table) for table in tables}, dict.fromkeys(tables, 0.5))
    assert found == pytest.approx(cells)


@pytest.mark.parametrize(("layout", "tables"), CASES)
def test_the_number_of_noises_is_that_of_the_coefficients(layout: Layout, tables: list[Table]) -> None:
    precision, _, inverse, _ = draw(layout, tables)
    for table in tables:
        (rows,) = matrices(layout, [table])
        added = [
            (rows[0] @ inverse @ one.T) ** 2 * precision[measured] for measured, one in zip(tables, matrices(layout, tables), strict=True)
        ]
        whole = np.concatenate(added)
        assert effective_noises(layout, precision, table) == pytest.approx(whole.sum() ** 2 / (whole**2).sum())


def test_one_table_alone_has_one_noise_in_its_cells_and_many_in_its_sums() -> None:
    layout = Layout((), (4, 5))
    precision = {Table(0, (0, 1)): 1.0}
    assert effective_noises(layout, precision, Table(0, (0, 1))) == pytest.approx(1)
    assert effective_noises(layout, precision, Table(0, (0,))) == pytest.approx(5)
    assert effective_noises(layout, precision, Table(0, ())) == pytest.approx(20)


def test_a_table_that_is_asked_for_twice_has_the_same_variance() -> None:
    layout, table = Layout((), (3, 2)), Table(0, (0,))
    precision = {layout.finest: 1.0, Table(0, ()): 0.5}
    assert variances(layout, precision, [table, table])[table] == pytest.approx(variances(layout, precision, [table])[table])


def test_the_number_of_noises_is_that_of_each_node() -> None:
    """Measured on the cities alone, a region's error is the sum of its cities'."""
    layout = Layout(((0, 0), (0, 0, 0, 1)), ())
    assert [effective_noises(layout, {layout.finest: 1.0}, Table(1, ()), node) for node in (0, 1)] == pytest.approx([3, 1])
