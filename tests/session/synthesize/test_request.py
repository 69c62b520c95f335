"""Requests: how many rows are generated, which tables cannot be asked for, and what guards and plans say."""

from __future__ import annotations

from pathlib import Path

import polars
import pytest
from algorithms.marginals.backends import torch_module
from session.synthesize import clinic

import discreet
from discreet.algorithms.marginals.model import DenseModel
from discreet.errors import Invalid, Refused
from discreet.session.project import open_project

ASKED = {"columns": ["dept", "urgent"], "workload": 2}


def test_as_many_rows_as_are_asked_for_cost_nothing_more(tmp_path: Path) -> None:
    with clinic.session() as db:
        usual = db.synthesize("visits", 5, 1e-4, **ASKED)
        spent = db.spent
        few = db.synthesize("visits", 5, 1e-4, rows=50, **ASKED)
        many = usual.with_rows(20_000)
        assert few.repeated
        assert db.spent == spent
    assert (len(few), few.to_polars().height, len(few.rows), len(many.rows)) == (50, 50, 50, 20_000)
    assert few.answer({"dept": "er"}) == usual.answer({"dept": "er"})  # from the same model
    assert len(usual.rows) == len(usual) not in (50, 20_000)
    share = usual.answer({"dept": "er"}).value / usual.model.total
    assert abs(many.to_polars().filter(polars.col("dept") == "er").height / 20_000 - share) < 0.001
    assert all(a["rows"] < 0.05 + b["rows"] for a, b in zip(many.score(), usual.score(), strict=True))  # as shares of all records
    many.save(tmp_path / "many.json")
    assert len(discreet.Synthetic.open(tmp_path / "many.json")) == 20_000
    for wrong in (0, -1, 10**9, 2.5):
        with pytest.raises(Invalid, match="rows"):
            usual.with_rows(wrong)  # type: ignore[arg-type]
        with clinic.session() as db, pytest.raises(Invalid, match="rows"):
            db.synthesize("visits", rows=wrong, **ASKED)


def test_several_tables_are_refused_with_what_to_do() -> None:
    with clinic.session() as db:
        for tables in (["visits", "visits"], ("visits",), {"visits": 1}):
            with pytest.raises(Refused, match=r"one at a time.*join them first"):
                db.synthesize(tables, 1)  # type: ignore[call-overload]
        assert db.spent.epsilon == 0


def test_columns_that_link_tables_are_no_columns_of_a_synthetic_table(tmp_path: Path) -> None:
    polars.DataFrame({"id": range(50), "patient": [i % 20 for i in range(50)], "urgent": [True] * 50}).write_parquet(
        tmp_path / "visits.parquet"
    )
    polars.DataFrame({"visit": [i % 50 for i in range(90)], "bad": [False] * 90}).write_parquet(tmp_path / "notes.parquet")
    (tmp_path / "discreet.toml").write_text(
        """
        [budget]
        epsilon = 5
        delta = 1e-6
        [tables.visits]
        source = "visits.parquet"
        unit = "patient"
        contributions.rows = 3
        [tables.notes]
        source = "notes.parquet"
        link = { column = "visit", table = "visits", key = "id" }
        contributions.rows = 3
        """
    )
    with open_project(tmp_path / "discreet.toml") as db:
        for table, left_out in (("notes", "visit"), ("visits", "id")):
            assert f"{left_out} is left out: it links rows to another table" in db.synthesize(table).plan(1).explain()
            with pytest.raises(Refused, match="join the tables first"):
                db.synthesize(table, columns=[left_out])
        assert db.synthesize("notes").plan(1).spec.columns.names == ("bad",)


def test_a_size_that_is_enough_for_the_fit_is_not_refused() -> None:
    """The guard used the error before the fit: it asked for 9,385 records here."""
    names = [f"c{i}" for i in range(9)]
    data = polars.DataFrame({"patient": range(10), **{name: [0] * 10 for name in names}})
    keys = {name: list(range(size)) for name, size in zip(names, (2, 2, 3, 5, 7, 7, 9, 11, 3), strict=True)}
    with clinic.session(data, keys=keys, bounds={}, contributions=None, one_row_per_unit=True) as db:
        plan = db.synthesize("visits", size=9_276).plan(1, 1e-9)
        assert plan.decided is not None
        assert plan.decided.method == "residuals"
        assert 300 < plan.decided.records_needed < 3_000  # 717 by the prediction of the fit
        with pytest.raises(Refused, match="no better than independent columns"):
            assert db.synthesize("visits", size=100).plan(1, 1e-9).decided


def test_the_device_is_named_and_is_no_part_of_what_is_bought() -> None:
    with clinic.session(keys={"urgent": [False, True]}, bounds={}) as db:
        request = db.synthesize("visits", columns=["urgent"], device="cpu")
        assert "fitted on the CPU in about a second, with 1 MiB of memory" in request.plan(5, 1e-4).explain()
        made = request.release(5, 1e-4)
        again = db.synthesize("visits", 5, 1e-4, columns=["urgent"])
        assert (made.device, again.device) == ("cpu", "auto")
        assert again.repeated
        assert again.data == made.data
        assert "fitted on" not in made.explain()  # a receipt does not depend on the machine
        with pytest.raises(Invalid, match="device must be one of auto, cpu, cuda"):
            db.synthesize("visits", 5, 1e-4, columns=["urgent"], device="gpu")
        with pytest.raises(Invalid, match="device must be one of auto, cpu, cuda"):
            made.on("gpu")
        assert made.on("cpu") is made
        assert made.on("auto").model is made.model


def test_a_table_is_fitted_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for torch, whose arithmetic is numpy's; in single precision."""
    torch_module(monkeypatch, gpus=1)
    with clinic.session(keys={"urgent": [False, True]}, bounds={}) as db:
        request = db.synthesize("visits", columns=["urgent"], device="cuda")
        assert "fitted on a GPU in about 2 s, with 1 MiB of memory, 0.5 GiB of the GPU's" in request.plan(5, 1e-4).explain()
        made = request.release(5, 1e-4)
        assert isinstance(made.model, DenseModel)
        assert made.model.distribution.dtype == "float32"
        stored = db.synthesize("visits", 5, 1e-4, columns=["urgent"], device="cpu")
        assert stored.repeated
        assert stored.model.marginal((0,)) == pytest.approx(made.model.marginal((0,)), rel=1e-5)


def test_it_says_which_method_it_takes_and_why() -> None:
    few, many = {"urgent": [False, True]}, {f"c{i}": list(range(8)) for i in range(9)}
    wide = polars.DataFrame({"patient": range(300), **{name: [i % 8 for i in range(300)] for name in many}})
    with clinic.session(keys=few, bounds={}) as db:
        made = db.synthesize("visits", 5, 1e-4, columns=["urgent"])
        assert "by residuals: all 2 combinations of values fit one array" in repr(made)
        assert "by residuals: all 2" in db.synthesize("visits", columns=["urgent"]).plan(1, 1e-4).explain()
        assert "by mst, as asked" in repr(db.synthesize("visits", 5, 1e-4, columns=["urgent"], method="mst"))
    with clinic.session(wide, keys=many, bounds={}, contributions=None, one_row_per_unit=True) as db:
        made = db.synthesize("visits", 0.5, 1e-4)
        assert "by aim: to fit 1.3e+08 combinations of values as one array needs about " in made.explain()
        assert "columns are independent: with about " in made.explain()
        assert {len(one.clique) for one in made.measured} == {1}
        assert any("columns are independent" in note for note in made.receipt.notes)


def test_a_time_limit_is_part_of_the_choice_and_decided_before_paying() -> None:
    """From public sizes: another table with the same declarations has the same plan, word for word."""
    declared = {f"c{i}": list(range(8)) for i in range(7)}
    tables = [
        polars.DataFrame({"patient": range(n), **{name: [i % codes for i in range(n)] for name in declared}})
        for n, codes in ((300, 8), (9, 1))
    ]
    told = []
    for table in tables:
        with clinic.session(table, keys=declared, bounds={}, contributions=None, one_row_per_unit=True) as db:
            quick, slow = db.synthesize("visits", seconds=3), db.synthesize("visits", seconds=1000)
            told.append((quick.plan(0.5, 1e-4).explain(), slow.plan(0.5, 1e-4).explain()))
            with pytest.raises(Invalid, match="and 3 s are allowed"):
                db.synthesize("visits", method="residuals", seconds=3).plan(0.5, 1e-4).explain()
            for wrong in (0, -1, float("nan"), float("inf"), "10", True):
                with pytest.raises(Invalid, match="seconds must be a positive number"):
                    db.synthesize("visits", seconds=wrong)
            assert not db.spent.epsilon
    assert told[0] == told[1]
    assert "by aim: to fit 2.1e+06 combinations of values as one array needs about" in told[0][0]
    assert "; 3 s are allowed (seconds=)" in told[0][0]
    assert "by residuals: all 2,097,152 combinations" in told[0][1]
