"""Tables as sums over the finest one."""

from __future__ import annotations

import numpy as np

from discreet.algorithms.consistent.layout import Layout, Table, closed, dimensions

LAYOUT = Layout(((0, 0), (0, 0, 1)), (2,))


def test_sums() -> None:
    cells = np.arange(6)
    assert LAYOUT.summed(cells, Table(2, (0,))).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert LAYOUT.summed(cells, Table(2, ())).tolist() == [1, 5, 9]
    assert LAYOUT.summed(cells, Table(1, (0,))).tolist() == [[2, 4], [4, 5]]
    assert LAYOUT.summed(cells, Table(0, ())).tolist() == [15]


def test_what_tables_have_in_common() -> None:
    assert Table(2, (0, 1)).meet(Table(1, (1, 2))) == Table(1, (1,))
    assert Table(1, (1,)).within(Table(2, (0, 1)))
    assert not Table(1, (1,)).within(Table(0, (0, 1)))
    assert set(closed([Table(0, (0, 1)), Table(0, (1, 2))])) == {Table(0, (0, 1)), Table(0, (1, 2)), Table(0, (1,))}


def test_dimensions_add_up_to_the_cells() -> None:
    layout = Layout((), (3, 4, 5))
    found = dimensions(layout, [Table(0, (0, 1, 2)), Table(0, (0,)), Table(0, ())])
    assert found == {(): 1, (0,): 2, (0, 1, 2): 57}
