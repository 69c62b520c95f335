"""Algorithms built from mechanisms: query release, graphs, local reports, adaptive data analysis, marginal-based models."""

from typing import TYPE_CHECKING

from discreet.exports import exports

if TYPE_CHECKING:
    from discreet.algorithms.adaptive.holdout import ReusableHoldout as ReusableHoldout
    from discreet.algorithms.adaptive.thresholdout import Thresholdout as Thresholdout
    from discreet.algorithms.adaptive.transfer import population_error as population_error
    from discreet.algorithms.classical.bands import BLRThresholds as BLRThresholds
    from discreet.algorithms.classical.blr import BLR as BLR
    from discreet.algorithms.classical.boosting import Boosting as Boosting
    from discreet.algorithms.classical.dnrrv import DNRRV as DNRRV
    from discreet.algorithms.classical.linear import Queries as Queries
    from discreet.algorithms.classical.median import MedianMechanism as MedianMechanism
    from discreet.algorithms.classical.mwem import MWEM as MWEM
    from discreet.algorithms.classical.pmw import PMW as PMW
    from discreet.algorithms.classical.projection import Projection as Projection
    from discreet.algorithms.graphs.degrees import DegreeHistogram as DegreeHistogram
    from discreet.algorithms.graphs.degrees import DegreeSequence as DegreeSequence
    from discreet.algorithms.graphs.edges import EdgeCount as EdgeCount
    from discreet.algorithms.graphs.graph import Graph as Graph
    from discreet.algorithms.graphs.triangles import TriangleCount as TriangleCount
    from discreet.algorithms.local.frequencies import LocalFrequencies as LocalFrequencies

__getattr__, __dir__, __all__ = exports(__name__, __file__)
