"""Differential privacy with exact noise: mechanisms as values, losses as terms, and the error known before you spend.

>>> import discreet
>>> count = discreet.Laplace(epsilon=0.5, whole=True)  # one person changes a count by at most 1
>>> count.error(confidence=0.95)                     # known before anything is spent
6.0
>>> total = 10 * count.loss + discreet.Gaussian(rho=0.1).loss
>>> round(total.epsilon_at(1e-6), 2)                 # what all of it costs, by the best theorem that applies
6.48
"""

from typing import TYPE_CHECKING, Any

from discreet.exports import exports

if TYPE_CHECKING:
    from discreet import algorithms as algorithms
    from discreet import attacks as attacks
    from discreet import dbapi as dbapi
    from discreet import errors as errors
    from discreet import loss as loss
    from discreet import mechanisms as mechanisms
    from discreet.algorithms.adaptive.thresholdout import Thresholdout as Thresholdout
    from discreet.errors import BudgetExceeded as BudgetExceeded
    from discreet.errors import Error as Error
    from discreet.errors import Invalid as Invalid
    from discreet.errors import PolicyError as PolicyError
    from discreet.errors import Refused as Refused
    from discreet.loss.filter import Filter as Filter
    from discreet.loss.loss import Loss as Loss
    from discreet.loss.notions import Approx as Approx
    from discreet.loss.notions import Gdp as Gdp
    from discreet.loss.notions import Pure as Pure
    from discreet.loss.notions import Zcdp as Zcdp
    from discreet.mechanisms.exponential import Exponential as Exponential
    from discreet.mechanisms.gaussian import Gaussian as Gaussian
    from discreet.mechanisms.laplace import Laplace as Laplace
    from discreet.mechanisms.mechanism import Mechanism as Mechanism
    from discreet.mechanisms.noisy_max import NoisyMax as NoisyMax
    from discreet.mechanisms.quantile import Quantile as Quantile
    from discreet.mechanisms.randomized_response import RandomizedResponse as RandomizedResponse
    from discreet.mechanisms.robust.propose_test_release import ProposeTestRelease as ProposeTestRelease
    from discreet.mechanisms.robust.sample_and_aggregate import SampleAndAggregate as SampleAndAggregate
    from discreet.mechanisms.robust.smooth_sensitivity import SmoothSensitivity as SmoothSensitivity
    from discreet.mechanisms.streams.sparse_vector import SparseVector as SparseVector
    from discreet.mechanisms.streams.tree import Tree as Tree
    from discreet.private import Private as Private
    from discreet.session.connect import connect as connect
    from discreet.session.estimate.estimate import Estimate as Estimate
    from discreet.session.graphs.graph import graph as graph
    from discreet.session.plan import Plan as Plan
    from discreet.session.query import Query as Query
    from discreet.session.release import Release as Release
    from discreet.session.session import Session as Session
    from discreet.session.synthesize.synthetic import Synthetic as Synthetic
    from discreet.tables.unit import each_row as each_row

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = exports(__name__, __file__)


def load_ipython_extension(shell: Any) -> None:
    """Add the cell magic `%%dp` to a notebook; IPython calls this at `%load_ext discreet`."""
    from discreet.notebook import load

    load(shell)
