"""Rows one by one: each has the same form alone and with others."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest

from discreet.algorithms.adaptive.rows import IsolatedRows, entries

FORMS: dict[str, Any] = {
    "rows in memory": np.ascontiguousarray,
    "columns in memory": np.asfortranarray,
    "every other": lambda rows: np.repeat(rows, 2, axis=1)[:, ::2],
    "objects": lambda rows: rows.astype(object),
    "long floats": lambda rows: rows.astype(np.longdouble),
}
ODD: list[Any] = ["n/a", None, float("nan"), 0.5, 10**400, 2**53 + 1, True, 1j, datetime.date(2020, 1, 1)]


def shown(table: Any) -> Any:
    """All that a predictor could see of an array or a frame."""
    if hasattr(table, "columns"):
        return (list(table.columns), list(table.dtypes), table.index.tolist(), shown(np.asarray(table)), repr(table.to_dict("list")))
    return (type(table), table.dtype, table.shape, table.strides, table.tolist() if table.dtype == object else table.tobytes())


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, bool])
def test_a_row_is_the_same_in_every_form_alone_and_with_others(kind: Any) -> None:
    rows = np.random.default_rng(3).normal(0, 3, (30, 9)).astype(kind)
    usual = [shown(rows[i : i + 1].copy()) for i in range(30)]
    for name, form in FORMS.items():
        together = IsolatedRows.of(form(rows), rows)
        assert [shown(together[i]) for i in range(30)] == usual, name
        assert [shown(IsolatedRows.of(form(rows[i : i + 1]), rows)[0]) for i in range(30)] == usual, name
        in_a_list = IsolatedRows.of(list(form(rows)), list(rows))
        assert [shown(in_a_list[i][0].reshape(1, 9)) for i in range(30)] == usual, name
    broken = np.asfortranarray(rows)
    assert shown(broken[3:4]) != usual[3]  # a slice has the strides of the whole


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a category that the training data has not; nobody sees it when scoring
@pytest.mark.parametrize("odd", ODD)
def test_one_record_does_not_change_the_form_of_others(odd: Any) -> None:
    pandas = pytest.importorskip("pandas")
    train = pandas.DataFrame({"n": [1, 2], "x": [0.5, 1.5], "s": ["a", "b"], "c": pandas.Categorical(["u", "v"]), "b": [True, False]})
    records = [(3, 0.25, "a", "v", True), (2**53 + 1, 2.0, "b", "u", False), (-4, 1e9, "", "w", True), (5, 5.0, "a", "u", True)]

    def forms(changed: list[Any], names: list[str]) -> list[Any]:
        frame = pandas.DataFrame({name: [one["nxscb".index(name)] for one in changed] for name in names})
        rows, arrays = IsolatedRows.of(frame, train[names]), IsolatedRows.of(np.asarray(frame), np.asarray(train[names]))
        return [(shown(rows[i]), shown(arrays[i])) for i in range(len(changed))]

    for names in (list("nxscb"), list("nx"), ["n"], ["x"], ["b"]):
        usual = forms(records, names)
        assert usual[0][0][3][1] == (np.asarray(train[names])[:1]).dtype  # as predictors were fitted
        for place in range(5):
            changed = [*records[:-1], tuple(odd if place == i else value for i, value in enumerate(records[-1]))]
            assert forms(changed, names)[:-1] == usual[:-1]
    labels = [entries(pandas.Series(column), pandas.Series([0, 1])) for column in ([1, 0, 2**53 + 1, 1], [1, 0, 2**53 + 1, odd])]
    assert [repr(label) for label in labels[0][:3]] == [repr(label) for label in labels[1][:3]]
