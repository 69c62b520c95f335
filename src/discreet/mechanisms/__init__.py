"""Mechanisms: randomised algorithms as values, each with its theorem, its privacy loss and its accuracy."""

from typing import TYPE_CHECKING

from discreet.exports import exports

if TYPE_CHECKING:
    from discreet.mechanisms.covariance import Covariance as Covariance
    from discreet.mechanisms.exponential import Exponential as Exponential
    from discreet.mechanisms.exponential import IntervalExponential as IntervalExponential
    from discreet.mechanisms.gaussian import Gaussian as Gaussian
    from discreet.mechanisms.joint_quantiles import JointQuantiles as JointQuantiles
    from discreet.mechanisms.laplace import Laplace as Laplace
    from discreet.mechanisms.mean import Mean as Mean
    from discreet.mechanisms.mechanism import Mechanism as Mechanism
    from discreet.mechanisms.noisy_max import NoisyMax as NoisyMax
    from discreet.mechanisms.noisy_max import NoisyMaxGap as NoisyMaxGap
    from discreet.mechanisms.noisy_max import TopK as TopK
    from discreet.mechanisms.partition_selection import PartitionSelection as PartitionSelection
    from discreet.mechanisms.partition_selection import ThresholdedCounts as ThresholdedCounts
    from discreet.mechanisms.partition_selection import WeightedGaussianSelection as WeightedGaussianSelection
    from discreet.mechanisms.quantile import Quantile as Quantile
    from discreet.mechanisms.quantile import Quantiles as Quantiles
    from discreet.mechanisms.queries import averaging as averaging
    from discreet.mechanisms.queries import counting as counting
    from discreet.mechanisms.queries import histogram as histogram
    from discreet.mechanisms.queries import most_popular as most_popular
    from discreet.mechanisms.randomized_response import RandomizedResponse as RandomizedResponse
    from discreet.mechanisms.robust.bootstrap import LittleBootstraps as LittleBootstraps
    from discreet.mechanisms.robust.bootstrap import parametric_bootstrap as parametric_bootstrap
    from discreet.mechanisms.robust.inverse_sensitivity import InverseSensitivity as InverseSensitivity
    from discreet.mechanisms.robust.order_statistics import Robust as Robust
    from discreet.mechanisms.robust.propose_test_release import ProposeTestRelease as ProposeTestRelease
    from discreet.mechanisms.robust.propose_test_release import StabilityTest as StabilityTest
    from discreet.mechanisms.robust.propose_test_release import StableMode as StableMode
    from discreet.mechanisms.robust.sample_and_aggregate import SampleAndAggregate as SampleAndAggregate
    from discreet.mechanisms.robust.smooth_sensitivity import SmoothSensitivity as SmoothSensitivity
    from discreet.mechanisms.staircase import Staircase as Staircase
    from discreet.mechanisms.streams.sparse_vector import SparseVector as SparseVector
    from discreet.mechanisms.streams.toeplitz import Toeplitz as Toeplitz
    from discreet.mechanisms.streams.tree import Tree as Tree
    from discreet.mechanisms.truncated_geometric import TruncatedGeometric as TruncatedGeometric

__getattr__, __dir__, __all__ = exports(__name__, __file__)
