"""The hypothesis: one model of the whole table, fitted to everything released, from which every estimate is computed."""

from __future__ import annotations

from functools import lru_cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from discreet.algorithms.marginals.arrays import NumpyArrays
from discreet.algorithms.marginals.dense import DenseResiduals
from discreet.algorithms.marginals.domain import Clique
from discreet.algorithms.marginals.fit import fit
from discreet.algorithms.marginals.junction_tree import tree_cells
from discreet.algorithms.marginals.knowledge import BITS, Knowledge
from discreet.algorithms.marginals.linear_query import LinearQuery
from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.model import DENSE_GUESS, POWER, DenseModel, Model, TreeModel, fit_tree

Floats = NDArray[np.float64]
_DENSE = 2**17  # the largest domain that is held as one array
_TREE, _TRIED = 2**17, 32  # the largest junction tree, and how many marginals may exceed it before the search stops
_STEPS, _CLOSE = 60, 0.05
_GROWN = 2  # refit when the number of purchases has grown by this factor


@final
class Hypothesis:
    """A model of the table, refitted as knowledge grows. It uses released numbers only, so it costs nothing."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._model: Model | None = None
        self._fitted = 0
        self._potentials: dict[Clique, Floats] = {}
        self._marginal = lru_cache(8192)(self._summed)

    def is_trained(self, clique: Clique) -> bool:
        """Whether every column has been measured at least alone; otherwise the model is only a prior."""
        return () in self._knowledge.known and all((i,) in self._knowledge.known for i in clique)

    def estimate(self, query: LinearQuery) -> float:
        """A query's value in the model, in records."""
        if self._model is None or self._knowledge.purchases > _GROWN * self._fitted:
            self._refit()
        return float(np.dot(query.weights, self._marginal(query.clique))) / query.top

    @property
    def model(self) -> Model:
        """The model, fitted to everything known."""
        if self._model is None or self._knowledge.purchases > self._fitted:
            self._refit()
        assert self._model is not None
        return self._model

    def _summed(self, clique: Clique) -> Floats:
        assert self._model is not None
        return self._model.marginal(clique).ravel()

    def _refit(self) -> None:
        domain = self._knowledge.domain
        self._model = self._dense() if domain.size <= _DENSE else self._tree()
        self._fitted = self._knowledge.purchases
        self._marginal.cache_clear()

    def _dense(self) -> DenseModel:
        """A model over the whole domain, started from the previous fit."""
        knowledge = self._knowledge
        domain, total = knowledge.domain, knowledge.total
        known = {clique: one for clique, one in knowledge.known.items() if clique}
        logs = [np.log(self._alone(i)) for i in domain.columns]
        features = DenseResiduals(domain, list(known), BITS, logs, NumpyArrays(domain.size))
        zeros = np.zeros(features.size)
        potentials = zeros
        if known:
            start = [self._potentials.get(clique, np.zeros(one.values.size)) for clique, one in known.items()]
            deviations = [np.full(one.values.size, one.precision**-0.5) for one in known.values()]
            rho = sum(one.precision for one in known.values()) / 2
            guess = DENSE_GUESS * min(rho, 10.0) ** POWER
            values = np.concatenate([one.values for one in known.values()])
            potentials = fit(features, zeros, values, np.concatenate(deviations), total, guess, np.concatenate(start), _STEPS, _CLOSE)
        ends = np.cumsum([one.values.size for one in known.values()])[:-1]
        self._potentials = dict(zip(known, np.split(potentials, ends), strict=True)) if known else {}
        return DenseModel(domain, total, *features.of(potentials))

    def _alone(self, column: int) -> Floats:
        """A column's own distribution; every code keeps a positive probability."""
        found = self._knowledge.marginal((column,))
        if found is None:
            return np.full(self._knowledge.domain.sizes[column], 1 / self._knowledge.domain.sizes[column])
        values = np.maximum(found[0], max(found[1] / 4, 1e-6))
        return np.asarray(values / values.sum())

    def _tree(self) -> TreeModel:
        """A model of as many known marginals as a junction tree can hold: single columns first, then the most precise."""
        domain, found, refused = self._knowledge.domain, list[NoisyMeasurement](), 0
        for clique in sorted(self._knowledge.known, key=lambda one: (len(one) > 1, -self._knowledge.known[one].precision, one)):
            marginal = self._knowledge.marginal(clique) if clique else None
            if marginal is None:
                continue
            if tree_cells(domain, [*(one.clique for one in found), clique]) <= _TREE:
                found.append(NoisyMeasurement(clique, *marginal))
            elif (refused := refused + 1) == _TRIED:
                break
        if not found:
            found = [NoisyMeasurement((), np.array([self._knowledge.total]), 1.0)]
        return fit_tree(domain, found, self._model if isinstance(self._model, TreeModel) else None)
