"""Answers from the model of a synthetic table, each with its standard error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from discreet.algorithms.marginals.certainty import measured_marginal, standard_error
from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.model import Model
from discreet.errors import Invalid
from discreet.session.synthesize.codes import Binned
from discreet.session.synthesize.domains import Coding
from discreet.session.synthesize.edges import Cut
from discreet.session.synthesize.others import WORTH_SAYING, has_others

Floats = NDArray[np.float64]


@final
@frozen
class ModelAnswer:
    """An answer from the model, and its standard error; None if not all of it was measured, so that it rests on the model alone.

    The error is that of the noise together with how far the model is from what was measured: noise alone would say nothing of the pull that
    a fit gives large cells. benchmarks/synthetic_errors.py measures how often twice the error covers the truth. `about` says of which rows
    or values it is, where that is less than what was asked: the error says nothing of the others.
    """

    value: float
    error: float | None
    about: str = ""

    @property
    def measured(self) -> bool:
        """Whether all of it was measured."""
        return self.error is not None

    def __str__(self) -> str:
        off = " (by the model: not measured)" if self.error is None else f" ± {self.error:.3g}"
        return f"{self.value:.6g}{off}" + (f" ({self.about})" if self.about else "")


@final
@frozen(eq=False)
class Answers:
    """A model with the codes of its columns and what was measured for it."""

    codings: Sequence[Coding]
    model: Model
    measured: Sequence[NoisyMeasurement]
    residuals: bool  # whether residuals were measured, or marginals
    beyond: Mapping[str, float] = field(factory=dict)  # the share of rows that may lie beyond a column's bins

    @property
    def domain(self) -> Domain:
        """The columns and how many codes each has."""
        return self.model.domain

    def answer(self, where: Mapping[str, Any] | None = None, mean: str | None = None) -> ModelAnswer:
        """How many records meet a condition, or the mean of a number over them."""
        if where is not None and not isinstance(where, Mapping):
            raise Invalid('conditions are a dict, such as {"dept": "er", "age": (30, 39)}')
        conditions = dict(where or {})
        names = [*conditions, *([mean] if mean is not None else [])]
        clique = self.domain.clique(names)
        inside = np.ones(self.domain.shape(clique))
        for name, wanted in conditions.items():
            inside *= self._along(clique, name, self._indicator(name, wanted))
        cells = self.model.marginal(clique)
        count = float((cells * inside).sum())
        if mean is None:
            return self._estimate(count, clique, inside)
        values = self._along(clique, mean, self._middles(mean))
        known = inside * self._along(clique, mean, np.isfinite(self._middles(mean)).astype(np.float64))
        weight = float((cells * known).sum())
        if weight <= 0:
            return ModelAnswer(float("nan"), None)
        value = float((cells * known * np.nan_to_num(values)).sum()) / weight
        found = self._estimate(value, clique, known * (np.nan_to_num(values) - value) / weight)
        about = self._about(mean, weight / max(count, weight))
        blurred = None if found.error is None else float(np.hypot(found.error, self._blur(mean)))
        return evolve(found, error=blurred, about=about)

    def marginal(self, *columns: str) -> list[dict[str, Any]]:
        """How many records each combination of some columns has, with standard errors; None where not all was measured."""
        clique = self.domain.clique(columns)
        cells = self.model.marginal(clique)
        unit = np.zeros(cells.shape)
        unit.flat[0] = 1.0
        noise = standard_error(self.domain, self.measured, self.residuals, clique, unit)
        errors = None if noise is None else np.hypot(noise, cells - self._unfitted(clique))
        codings = [self.codings[i] for i in clique]
        count, off = (word + "_" * (word in columns) for word in ("count", "error"))
        return [
            {
                **{c.name: c.label(code) for c, code in zip(codings, place, strict=True)},
                count: float(value),
                off: None if errors is None else float(errors[place]),
            }
            for place, value in np.ndenumerate(cells)
        ]

    def _coding(self, name: str) -> Coding:
        return self.codings[self.domain.clique([name])[0]]

    def _indicator(self, name: str, wanted: Any) -> Floats:
        coding = self._coding(name)
        found = np.zeros(coding.size)
        found[coding.codes(wanted)] = 1.0
        return found

    def _middles(self, name: str) -> Floats:
        coding = self._coding(name)
        if isinstance(coding, Cut):
            middles = coding.middles
        elif isinstance(coding, Binned):
            half = 0 if coding.whole_numbers else coding.width / 2
            middles = [float(coding.low + code * coding.width + half) for code in range(coding.bins)]
        else:
            if not all(value is None or isinstance(value, int) for value in coding.values):
                raise Invalid(f"the mean needs a numeric column, and {name} is not one: name another")
            middles = [np.nan if value is None else float(value) for value in coding.values]  # type: ignore[arg-type]
        return np.array(middles + [np.nan] * (coding.size - len(middles)))

    def _about(self, name: str, known: float) -> str:
        """Of which rows and values a mean is, where some have another value than the column's codes say."""
        coding, share = self._coding(name), self.beyond.get(name, 0.0)
        if has_others(coding) and 1 - known >= WORTH_SAYING:
            return f"over the {known:.1%} of rows whose value is known"
        if isinstance(coding, Cut) and share >= WORTH_SAYING:
            return f"of values clipped to {coding.ends}: up to {share:.1%} of all values of {name} may lie beyond"
        return ""

    def _blur(self, name: str) -> float:
        """How far off the middle of a bin its values are: the standard deviation of what is spread evenly over it."""
        coding = self._coding(name)
        if isinstance(coding, Cut):
            shares = self.model.marginal(self.domain.clique([name]))[: coding.bins]
            return float(np.sqrt((shares * np.square(coding.spread)).sum() / max(float(shares.sum()), 1.0)))
        return float(coding.width) / 12**0.5 if isinstance(coding, Binned) and not coding.whole_numbers else 0.0

    def _along(self, clique: Clique, name: str, values: Floats) -> Floats:
        place = self.domain.clique([name])[0]
        return values.reshape([-1 if i == place else 1 for i in clique])

    def _estimate(self, value: float, clique: Clique, weights: Floats) -> ModelAnswer:
        """The value with its error; the weights sum to what the value counts."""
        noise = standard_error(self.domain, self.measured, self.residuals, clique, weights)
        apart = 0.0 if noise is None else float((weights * (self.model.marginal(clique) - self._unfitted(clique))).sum())
        return ModelAnswer(value, None if noise is None else float(np.hypot(noise, apart)))

    def _unfitted(self, clique: Clique) -> Floats:
        return measured_marginal(self.domain, self.measured, self.residuals, clique)
