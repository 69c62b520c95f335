"""The choice of a method by its domain, and the model that follows from the measurements."""

from __future__ import annotations

import numpy as np
import pytest
from algorithms.marginals.replay import table

from discreet.algorithms.marginals.aim import AIM
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.methods import NAMES, Name, choose, method_of, model_of, predicted_seconds, reason, records_needed
from discreet.algorithms.marginals.mst import MST
from discreet.algorithms.marginals.residuals import Residuals
from discreet.algorithms.marginals.spending import MeasurementBudget
from discreet.algorithms.marginals.workload import Workload
from discreet.errors import Invalid

SMALL = Domain.of({"a": 2, "b": 3, "c": 2, "d": 2})
MIDDLE = Domain.of({f"c{i}": 4 for i in range(12)})
LARGE = Domain.of({f"c{i}": 4 for i in range(16)})
WIDE = Domain.of({"a": 20_000, "b": 20_000})


def test_residuals_wherever_they_fit_else_aim() -> None:
    assert choose(Workload.all_of(SMALL, 3)) == "residuals"
    assert choose(Workload.all_of(MIDDLE, 3)) == "residuals"  # 1.7·10⁷ cells
    assert choose(Workload.all_of(SMALL, 4)) == "aim"  # marginals of four columns
    assert choose(Workload.all_of(LARGE, 2), device="cpu") == "aim"
    for name in NAMES:
        assert choose(Workload.all_of(SMALL, 2), name) == name


BIG = Workload.all_of(Domain.of({f"c{i}": 8 for i in range(7)}), 3)  # 2²¹ cells


def test_a_quicker_method_where_time_is_short() -> None:
    """Residuals fit but take long; AIM does less and less, and at last MST is left."""
    needed = predicted_seconds("residuals", BIG)
    assert needed > 5
    assert choose(BIG, "auto", seconds=2 * needed) == "residuals"
    assert choose(BIG, "auto", seconds=needed / 2) == "aim"
    assert f"about {needed:,.0f} s, and 2.5 s are allowed" in reason(BIG, seconds=2.5)
    assert choose(BIG, "auto", seconds=0.01) == "mst"
    assert "aim would take" in reason(BIG, seconds=0.01)
    with pytest.raises(Invalid, match="s are allowed"):
        choose(BIG, "residuals", seconds=needed / 2)


@pytest.mark.parametrize(
    ("workload", "method", "says"),
    [
        (Workload.all_of(SMALL, 2), "best", "one of auto, residuals, aim, mst"),
        (Workload.all_of(SMALL, 4), "residuals", "use method='aim'"),
        (Workload.all_of(LARGE, 2), "residuals", "use method='aim' or 'mst'"),
        (Workload.all_of(WIDE, 1), "mst", "fewer bins or columns"),
    ],
    ids=str,
)
def test_a_method_that_does_not_fit_is_refused(workload: Workload, method: str, says: str) -> None:
    with pytest.raises(Invalid, match=says):
        choose(workload, method)


@pytest.mark.parametrize(("name", "kind"), [("residuals", Residuals), ("aim", AIM), ("mst", MST)])
def test_a_model_follows_from_what_was_measured(name: Name, kind: type) -> None:
    """The run's own model and one made from its measurements alone are the same."""
    method = method_of(name, MeasurementBudget.zcdp(1), Workload.all_of(SMALL, 2))
    assert isinstance(method, kind)
    result = method.run(table(SMALL, np.random.default_rng(2).integers(0, 2, (200, 4)).tolist()))
    assert result.method == name
    again = model_of(name, SMALL, result.measured)
    assert again.total == result.model.total
    for clique in ((0,), (0, 1), (1, 3)):
        np.testing.assert_allclose(again.marginal(clique), result.model.marginal(clique), atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_larger_budget_needs_fewer_records(name: Name) -> None:
    workload = Workload.all_of(SMALL, 2)
    needed = [records_needed(name, MeasurementBudget.zcdp(rho), workload, 1.0) for rho in ("0.01", "0.1", "1")]
    assert needed == sorted(needed, reverse=True)
    assert needed[0] == pytest.approx(10 * needed[2])  # noise falls with the root of ρ
    assert records_needed(name, MeasurementBudget.gdp("0.02"), workload, 1.0) == pytest.approx(needed[0])  # μ² = 2ρ
    assert records_needed(name, MeasurementBudget.zcdp("0.01"), workload, 3.0) == pytest.approx(3 * needed[0])
