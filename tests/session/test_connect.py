"""Connecting: a unit that is misspelt, and a table that is public."""

from __future__ import annotations

from pathlib import Path

import pytest
from session.project import copied

import discreet
from discreet.errors import PolicyError


def test_a_misspelt_unit_is_not_answered_with_public(tmp_path: Path) -> None:
    copied("SELECT i AS patient_id, i AS cost", tmp_path / "visits.parquet")
    for unit, advice in (("patient", "did you mean patient_id?"), ("x", "there are cost, patient_id")):
        with pytest.raises(PolicyError, match=f"there is no column {unit} in the data") as caught:
            discreet.connect(tmp_path / "visits.parquet", unit=unit, epsilon=1)
        assert advice in str(caught.value)
        assert "public" not in str(caught.value)
    assert not (tmp_path / "visits.parquet.ledger").exists()


def test_a_table_beside_the_persons_may_be_public(tmp_path: Path) -> None:
    copied("SELECT i AS id, i AS cost", tmp_path / "visits.parquet")
    copied("SELECT i AS site", tmp_path / "sites.parquet")
    tables = {name: str(tmp_path / f"{name}.parquet") for name in ("visits", "sites")}
    with pytest.raises(PolicyError, match=r'tables\.sites\.unit: there is no column id.*public=\["sites"\]'):
        discreet.connect(tables, unit="id", epsilon=1, ledger=":memory:")
