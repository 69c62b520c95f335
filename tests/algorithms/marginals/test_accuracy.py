"""Accuracy on public tables, at the ρ of the reference: mean ℓ₁ over all 3-way marginals. Skipped where the tables are not there."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from algorithms.marginals.replay import taped

from discreet.algorithms.marginals.aim import AIM
from discreet.algorithms.marginals.counts import CodedTable
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.mst import MST
from discreet.algorithms.marginals.residuals import Residuals
from discreet.algorithms.marginals.rows import make_rows
from discreet.algorithms.marginals.spending import MeasurementBudget
from discreet.algorithms.marginals.workload import Workload

DATA = Path(os.environ.get("DISCREET_DATA", "/work/shared/data"))
RHO = {"0.1": "0.000177", "1": "0.014973", "10": "1.0908"}  # (ε, 1e-9)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not (DATA / "nltcs.csv").exists(), reason="public tables are not here (DISCREET_DATA)")]


def read(name: str) -> tuple[Domain, dict[str, Any]]:
    with (DATA / f"{name}.csv").open() as file:
        header = next(csv.reader(file))
    codes = np.loadtxt(DATA / f"{name}.csv", delimiter=",", skiprows=1, dtype=np.int64)
    sizes = json.loads((DATA / f"{name}-domain.json").read_text())
    return Domain.of({column: sizes[column] for column in header}), dict(zip(header, codes.T, strict=True))


def counted(domain: Domain, clique: tuple[int, ...], codes: Any) -> Any:
    place = np.ravel_multi_index(tuple(codes[i] for i in clique), domain.shape(clique))
    return np.bincount(place, minlength=domain.cells(clique))


def errors(name: str, method: Any, epsilon: str, seed: int = 0) -> tuple[float, float]:
    """The mean error of a model and of its rows, over n; coins are fixed, so that no test fails by chance."""
    domain, columns = read(name)
    workload = Workload.all_of(domain, 3)
    with taped(seed):
        model = method(budget=MeasurementBudget.zcdp(RHO[epsilon]), workload=workload).run(CodedTable(domain, columns)).model
    codes = [columns[name] for name in domain.names]
    rows, n = make_rows(model, round(model.total), workload), len(codes[0])
    truth = {c: counted(domain, c, codes) for c in workload.cliques}
    by_model = float(np.mean([np.abs(truth[c] - model.marginal(c).ravel()).sum() / n for c in workload.cliques]))
    return by_model, float(np.mean([np.abs(truth[c] - counted(domain, c, rows)).sum() / n for c in workload.cliques]))


@pytest.mark.parametrize(("epsilon", "most", "runs"), [("0.1", 0.055, 6), ("1", 0.0107, 4), ("10", 0.0015, 2)])
def test_residuals_on_nltcs(epsilon: str, most: float, runs: int) -> None:
    found = np.mean([errors("nltcs", Residuals, epsilon, seed) for seed in range(runs)], axis=0)
    assert found[0] <= most
    assert found[1] <= most


def test_mst_on_adult() -> None:
    by_model, by_rows = np.mean([errors("adult", MST, "1", seed) for seed in range(2)], axis=0)
    assert by_model <= 0.180
    assert by_rows <= 0.189


def test_aim_on_adult() -> None:
    by_model, by_rows = errors("adult", AIM, "1")
    assert by_model <= 0.121
    assert by_rows <= 0.128


def test_aim_on_titanic() -> None:
    assert np.mean([errors("titanic", AIM, "1", seed)[0] for seed in range(10)]) <= 0.68
