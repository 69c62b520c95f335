"""Differential privacy with exact noise: mechanisms as values, losses as terms, and the error known before you spend.

>>> import discreet
>>> count = discreet.Laplace(epsilon=0.5, whole=True)  # one person moves a count by at most 1
>>> count.error(confidence=0.95)                     # known before anything is spent
6.0
>>> total = 10 * count.loss + discreet.Gaussian(rho=0.1).loss
>>> round(total.epsilon_at(1e-6), 2)                 # what all of it costs, by the best theorem that applies
6.48
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.errors import BudgetExceeded, EngineError, Error, Invalid, LedgerError, PolicyError, RandomnessFailed, Refused
from discreet.loss.filter import Filter
from discreet.loss.loss import Loss, parallel
from discreet.loss.notions import Approx, Gdp, Pure, Zcdp
from discreet.mechanisms.exponential import Exponential, IntervalExponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.noisy_max import NoisyMax, TopK
from discreet.mechanisms.partition_selection import PartitionSelection, ThresholdedCounts, WeightedGaussianSelection
from discreet.mechanisms.quantile import Quantile, Quantiles
from discreet.mechanisms.queries import averaging, counting, histogram, most_popular
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.mechanisms.truncated_geometric import TruncatedGeometric
from discreet.private import Private

if TYPE_CHECKING:
    from discreet.asking import Query
    from discreet.classical.bands import BLRThresholds
    from discreet.classical.blr import BLR
    from discreet.classical.boosting import Boosting
    from discreet.classical.linear import Queries
    from discreet.classical.median import MedianMechanism
    from discreet.classical.mwem import MWEM
    from discreet.classical.pmw import PMW
    from discreet.classical.projection import Projection
    from discreet.opening import connect
    from discreet.plan.plan import Plan
    from discreet.release import Release
    from discreet.session import Session
    from discreet.synthesize.synthetic import Synthetic
    from discreet.tables.unit import each_row

__version__ = "0.1.0"

# the road loads when it is first walked, so that mechanisms alone stay quick to import
_ROAD = {
    "connect": "discreet.opening",
    "each_row": "discreet.tables.unit",
    "Plan": "discreet.plan.plan",
    "Query": "discreet.asking",
    "Release": "discreet.release",
    "Session": "discreet.session",
    "Synthetic": "discreet.synthesize.synthetic",
    "BLR": "discreet.classical.blr",
    "BLRThresholds": "discreet.classical.bands",
    "Boosting": "discreet.classical.boosting",
    "MWEM": "discreet.classical.mwem",
    "MedianMechanism": "discreet.classical.median",
    "PMW": "discreet.classical.pmw",
    "Projection": "discreet.classical.projection",
    "Queries": "discreet.classical.linear",
}

__all__ = [
    "BLR",
    "MWEM",
    "PMW",
    "Approx",
    "BLRThresholds",
    "Boosting",
    "BudgetExceeded",
    "EngineError",
    "Error",
    "Exponential",
    "Filter",
    "Gaussian",
    "Gdp",
    "IntervalExponential",
    "Invalid",
    "Laplace",
    "LedgerError",
    "Loss",
    "Mechanism",
    "MedianMechanism",
    "NoisyMax",
    "PartitionSelection",
    "Plan",
    "PolicyError",
    "Private",
    "Projection",
    "Pure",
    "Quantile",
    "Quantiles",
    "Queries",
    "Query",
    "RandomizedResponse",
    "RandomnessFailed",
    "Refused",
    "Release",
    "Session",
    "SparseVector",
    "Synthetic",
    "ThresholdedCounts",
    "TopK",
    "TruncatedGeometric",
    "WeightedGaussianSelection",
    "Zcdp",
    "__version__",
    "averaging",
    "connect",
    "counting",
    "each_row",
    "histogram",
    "most_popular",
    "parallel",
]


def __getattr__(name: str) -> Any:
    if name in _ROAD:
        return getattr(import_module(_ROAD[name]), name)
    raise AttributeError(f"module 'discreet' has no attribute {name!r}")
