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
    from discreet.adaptive.holdout import ReusableHoldout
    from discreet.adaptive.thresholdout import Thresholdout
    from discreet.adaptive.transfer import population_error
    from discreet.asking import Query
    from discreet.audit.membership import membership_bound, membership_inference, tracing_scores
    from discreet.classical.bands import BLRThresholds
    from discreet.classical.blr import BLR
    from discreet.classical.boosting import Boosting
    from discreet.classical.dnrrv import DNRRV
    from discreet.classical.linear import Queries
    from discreet.classical.median import MedianMechanism
    from discreet.classical.mwem import MWEM
    from discreet.classical.pmw import PMW
    from discreet.classical.projection import Projection
    from discreet.estimate.estimate import Estimate
    from discreet.graph_session import graph
    from discreet.graphs.degrees import DegreeHistogram, DegreeSequence
    from discreet.graphs.edges import EdgeCount
    from discreet.graphs.graph import Graph
    from discreet.graphs.triangles import TriangleCount
    from discreet.local.frequencies import LocalFrequencies
    from discreet.mechanisms.bootstrap import LittleBootstraps, parametric_bootstrap
    from discreet.mechanisms.covariance import Covariance
    from discreet.mechanisms.inverse_sensitivity import InverseSensitivity
    from discreet.mechanisms.mean import Mean
    from discreet.mechanisms.propose_test_release import ProposeTestRelease, StabilityTest, StableMode
    from discreet.mechanisms.robust import Robust
    from discreet.mechanisms.sample_and_aggregate import SampleAndAggregate
    from discreet.mechanisms.smooth_sensitivity import SmoothSensitivity
    from discreet.mechanisms.toeplitz import Toeplitz
    from discreet.mechanisms.tree import Tree
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
    "Covariance": "discreet.mechanisms.covariance",
    "Estimate": "discreet.estimate.estimate",
    "InverseSensitivity": "discreet.mechanisms.inverse_sensitivity",
    "LittleBootstraps": "discreet.mechanisms.bootstrap",
    "LocalFrequencies": "discreet.local.frequencies",
    "Mean": "discreet.mechanisms.mean",
    "ProposeTestRelease": "discreet.mechanisms.propose_test_release",
    "ReusableHoldout": "discreet.adaptive.holdout",
    "Robust": "discreet.mechanisms.robust",
    "SampleAndAggregate": "discreet.mechanisms.sample_and_aggregate",
    "SmoothSensitivity": "discreet.mechanisms.smooth_sensitivity",
    "StabilityTest": "discreet.mechanisms.propose_test_release",
    "StableMode": "discreet.mechanisms.propose_test_release",
    "Thresholdout": "discreet.adaptive.thresholdout",
    "Toeplitz": "discreet.mechanisms.toeplitz",
    "Tree": "discreet.mechanisms.tree",
    "parametric_bootstrap": "discreet.mechanisms.bootstrap",
    "population_error": "discreet.adaptive.transfer",
    "DegreeHistogram": "discreet.graphs.degrees",
    "DegreeSequence": "discreet.graphs.degrees",
    "EdgeCount": "discreet.graphs.edges",
    "Graph": "discreet.graphs.graph",
    "TriangleCount": "discreet.graphs.triangles",
    "graph": "discreet.graph_session",
    "BLR": "discreet.classical.blr",
    "BLRThresholds": "discreet.classical.bands",
    "Boosting": "discreet.classical.boosting",
    "DNRRV": "discreet.classical.dnrrv",
    "MWEM": "discreet.classical.mwem",
    "MedianMechanism": "discreet.classical.median",
    "PMW": "discreet.classical.pmw",
    "Projection": "discreet.classical.projection",
    "Queries": "discreet.classical.linear",
    "membership_bound": "discreet.audit.membership",
    "membership_inference": "discreet.audit.membership",
    "tracing_scores": "discreet.audit.membership",
}

__all__ = [
    "BLR",
    "DNRRV",
    "MWEM",
    "PMW",
    "Approx",
    "BLRThresholds",
    "Boosting",
    "BudgetExceeded",
    "Covariance",
    "DegreeHistogram",
    "DegreeSequence",
    "EdgeCount",
    "EngineError",
    "Error",
    "Estimate",
    "Exponential",
    "Filter",
    "Gaussian",
    "Gdp",
    "Graph",
    "IntervalExponential",
    "Invalid",
    "InverseSensitivity",
    "Laplace",
    "LedgerError",
    "LittleBootstraps",
    "LocalFrequencies",
    "Loss",
    "Mean",
    "Mechanism",
    "MedianMechanism",
    "NoisyMax",
    "PartitionSelection",
    "Plan",
    "PolicyError",
    "Private",
    "Projection",
    "ProposeTestRelease",
    "Pure",
    "Quantile",
    "Quantiles",
    "Queries",
    "Query",
    "RandomizedResponse",
    "RandomnessFailed",
    "Refused",
    "Release",
    "ReusableHoldout",
    "Robust",
    "SampleAndAggregate",
    "Session",
    "SmoothSensitivity",
    "SparseVector",
    "StabilityTest",
    "StableMode",
    "Synthetic",
    "ThresholdedCounts",
    "Thresholdout",
    "Toeplitz",
    "TopK",
    "Tree",
    "TriangleCount",
    "TruncatedGeometric",
    "WeightedGaussianSelection",
    "Zcdp",
    "__version__",
    "averaging",
    "connect",
    "counting",
    "each_row",
    "graph",
    "histogram",
    "membership_bound",
    "membership_inference",
    "most_popular",
    "parallel",
    "parametric_bootstrap",
    "population_error",
    "tracing_scores",
]


def __getattr__(name: str) -> Any:
    if name in _ROAD:
        return getattr(import_module(_ROAD[name]), name)
    raise AttributeError(f"module 'discreet' has no attribute {name!r}")
