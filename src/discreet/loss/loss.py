"""The algebra of privacy losses: a loss is a term that records what was done; each theorem gives its ε and δ from that term."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import combinations
from typing import Literal, TypeAlias, final

import numpy as np
from attrs import field, frozen

from discreet import exact
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.loss import convert
from discreet.loss.certify import float_up_or_infinite
from discreet.loss.law import Floats, Laws, LossLaw, NormalLaw, pure_law, symmetric
from discreet.loss.routes import epsilons, least_delta

Adjacency: TypeAlias = Literal["add/remove", "replace-one"]
ZERO = Fraction(0)


class Loss(ABC):
    """The privacy loss of one unit from everything that was released.

    A loss has a value under each notion of privacy: `delta`, the probability that the input is revealed; and for the remaining
    mechanism the least pure `epsilon`, zCDP `rho` and Gaussian `mu_squared` (None is ∞), a Rényi curve, and dominating loss laws.
    """

    __slots__ = ()

    @property
    def delta(self) -> Fraction:
        """The probability that the input is revealed."""
        return ZERO

    @property
    @abstractmethod
    def epsilon(self) -> Fraction | None:
        """The least ε of pure privacy that is proven for the remaining mechanism; None is ∞."""

    @property
    def basic(self) -> tuple[Fraction | None, Fraction]:
        """An (ε, δ) for basic composition; δ is `delta`, unless the whole was calibrated to another pair (see promise.py)."""
        return self.epsilon, self.delta

    charged = property(lambda self: self.basic)  # the (ε, δ) that a budget adds: less for steps of an interactive run (see promise.py)

    @property
    @abstractmethod
    def rho(self) -> Fraction | None:
        """The least ρ of zCDP that is proven for the remaining mechanism; None is ∞."""

    @property
    @abstractmethod
    def mu_squared(self) -> Fraction | None:
        """The least μ² of Gaussian differential privacy that is proven for the remaining mechanism; None is ∞."""

    @property
    @abstractmethod
    def laws(self) -> Laws | None:
        """Laws, with multiplicities, whose independent sum dominates the privacy loss of the remaining mechanism; None if none is known."""

    def renyi(self, orders: Floats) -> Floats:
        """Upper bounds on the Rényi divergences of these orders above 1, for the remaining mechanism."""
        linear = orders * (math.inf if self.rho is None else float_up_or_infinite(self.rho)) * (1 + 2e-16)
        return np.minimum(linear, math.inf if self.epsilon is None else float_up_or_infinite(self.epsilon))

    def group(self, k: int) -> Loss:
        """The loss when k units change together."""
        k = exact.whole(k, "k", least=0)
        return self if k == 1 else Group(k, self) if k else NOTHING

    @property
    def closed(self) -> bool:
        """Whether `group` follows from this loss alone; then it also holds where each unit is in one of several parts with this loss."""
        return True

    def covers(self, loss: Loss) -> bool:
        """Decide whether this loss, as a budget, admits another."""
        raise Invalid("this loss cannot serve as a budget: give Pure, Approx, Zcdp or Gdp")

    def below(self, other: Loss) -> bool:
        """Decide whether the other is the same mechanism with at least this loss."""
        return self == other

    def _terms(self) -> Iterator[tuple[Loss, int]]:
        yield self, 1

    def __add__(self, other: Loss) -> Loss:
        """Compose: both use the same units, the second possibly chosen after seeing the first."""
        return compose((self, other)) if isinstance(other, Loss) else NotImplemented

    def __radd__(self, other: int) -> Loss:
        """Support sum(), which starts with 0."""
        return self if other == 0 else NotImplemented

    def __mul__(self, k: int) -> Loss:
        """Compose k times."""
        k = exact.whole(k, "the number of repetitions", least=0)
        return _sum_of(Counter({term: times * k for term, times in self._terms()}))

    __rmul__ = __mul__

    def __or__(self, other: Loss) -> Loss:
        """Compose in parallel: each unit is in at most one of the two."""
        return parallel(self, other) if isinstance(other, Loss) else NotImplemented

    def routes(self, delta: Number) -> dict[str, float]:
        """The ε at δ by each theorem; ∞ where it does not apply. Each is an upper bound, so the least is too."""
        steps = [(term.epsilon, k) for term, k in self._terms()]
        return epsilons(self, steps, exact.non_negative(delta, "delta"))

    def epsilon_at(self, delta: Number) -> float:
        """The least ε at δ that any theorem proves; an upper bound.

        >>> from discreet.loss.leaves import Pure
        >>> (10 * Pure(0.1)).epsilon_at(0)
        1.0
        """
        return min(self.routes(delta).values())

    def delta_at(self, epsilon: Number) -> float:
        """The least δ at ε that any theorem proves; an upper bound."""
        return least_delta(self, exact.non_negative(epsilon, "epsilon"))

    def within(self, ceiling: Loss) -> bool:
        """Decide whether this loss is within a budget, which is a loss used as a ceiling."""
        return ceiling.covers(self)


def compose(losses: Iterable[Loss]) -> Loss:
    """Add losses: like sum(), and much faster for many."""
    counts: Counter[Loss] = Counter()
    for loss in losses:
        counts.update(dict(loss._terms()))
    return _sum_of(counts)


def _sum_of(counts: Counter[Loss]) -> Loss:
    terms = tuple(sorted(((term, k) for term, k in counts.items() if k), key=repr))
    return terms[0][0] if len(terms) == 1 and terms[0][1] == 1 else LossSum(terms)


def _known(values: Iterable[Fraction | None]) -> list[Fraction] | None:
    listed = list(values)
    known = [value for value in listed if value is not None]
    return known if len(known) == len(listed) else None


def _total(values: Iterable[tuple[Fraction | None, int]]) -> Fraction | None:
    known = _known(None if value is None else k * value for value, k in values)
    return None if known is None else sum(known, ZERO)


@final
@frozen(repr=False)
class LossSum(Loss):
    """Compose losses, each some number of times; the order does not matter.

    Theorem (Dwork et al. 2006; Bun & Steinke 2016; Mironov 2017; Dong, Roth & Su 2022; Zhu, Dong & Wang 2022).
        Under adaptive composition ε, δ, ρ, μ² and Rényi divergences of each order add up, and laws that dominate each step compose
        to the law of their independent sum, provided the parameters of every step are fixed in advance (else: see filter.py).
        For k units each step costs what it costs k units, as every unit goes through every step. Where a unit is in any p of many
        parts this is no theorem, and `p * loss` is no loss for groups: use `SomeParts`.

    >>> from discreet.loss.leaves import LaplaceLoss, Pure
    >>> Pure(1) + LaplaceLoss(1) == LaplaceLoss(1) + Pure(1)
    True
    """

    terms: tuple[tuple[Loss, int], ...]

    def __repr__(self) -> str:
        return " + ".join(repr(term) if k == 1 else f"{k} * {term!r}" for term, k in self.terms) or "NOTHING"

    def _terms(self) -> Iterator[tuple[Loss, int]]:
        return iter(self.terms)

    @property
    def delta(self) -> Fraction:
        return min(Fraction(1), sum((k * term.delta for term, k in self.terms), ZERO))

    epsilon = property(lambda self: _total((term.epsilon, k) for term, k in self.terms))
    rho = property(lambda self: _total((term.rho, k) for term, k in self.terms))
    mu_squared = property(lambda self: _total((term.mu_squared, k) for term, k in self.terms))
    closed = property(lambda self: all(term.closed for term, _ in self.terms))

    @property
    def basic(self) -> tuple[Fraction | None, Fraction]:
        mass = sum((k * term.basic[1] for term, k in self.terms), ZERO)
        return _total((term.basic[0], k) for term, k in self.terms), min(Fraction(1), mass)

    @property
    def laws(self) -> Laws | None:
        found = [(term.laws, k) for term, k in self.terms]
        known = tuple((law, k * times) for laws, k in found if laws is not None for law, times in laws)
        return None if any(laws is None for laws, _ in found) else known

    def renyi(self, orders: Floats) -> Floats:
        total = np.zeros(len(orders))
        for term, k in self.terms:
            total += k * term.renyi(orders)
        return total * (1 + (len(self.terms) + 2) * 2.3e-16)

    def group(self, k: int) -> Loss:
        k = exact.whole(k, "k", least=0)
        return compose(times * term.group(k) for term, times in self.terms)


NOTHING: Loss = LossSum(())  # the loss of doing nothing


def parallel(*losses: Loss, adjacency: Adjacency = "add/remove") -> Loss:
    """The loss of releases from disjoint sets of units: a unit is in one of them, and if it is replaced it may change two.

    >>> from discreet.loss.leaves import Pure
    >>> parallel(Pure(1), Pure(2)).epsilon_at(0), parallel(Pure(1), Pure(2), adjacency="replace-one").epsilon_at(0)
    (2.0, 3.0)
    """
    touched = {"add/remove": 1, "replace-one": 2}.get(adjacency)
    if touched is None:
        raise Invalid('adjacency must be "add/remove" or "replace-one"')
    parts: list[Loss] = []
    for loss in losses:  # (a | b) | c is the same as a | (b | c)
        parts += loss.parts if isinstance(loss, Alternatives) and loss.touched == touched == 1 else (loss,)
    distinct = Counter(parts)
    kept = sorted((part for part, k in distinct.items() for _ in range(min(k, touched))), key=repr)
    if len(kept) == 1 and len(parts) > 1 and not kept[0].closed:
        kept *= 2  # the loss of a group assumes one mechanism here, so two equal parts stay two
    return NOTHING if not kept else kept[0] if len(kept) == 1 else Alternatives(tuple(kept), touched)


def _largest(values: Iterable[Fraction | None], touched: int) -> Fraction | None:
    known = _known(values)
    return None if known is None else sum(sorted(known)[-touched:], ZERO)


@final
@frozen(repr=False)
class Alternatives(Loss):
    """The loss of releases from disjoint sets of units, where one unit affects one part, or two if it is replaced.

    Theorem (McSherry 2009, parallel composition).
        If parts of the data are disjoint by unit, then under add/remove the loss is at most the largest of the parts' losses, under every
        notion at once. Under replace-one a unit may leave one part and enter another: the largest sum of two.

    Assumes. Under replace-one each part's loss holds for a unit that is added, removed or changed within the part.

    Proof of the laws. The maximum of several privacy profiles has no closed law here. If one part dominates all (the same mechanism with
        the largest parameter) its law is used; else every part is μ-GDP for the largest μ, and the Gaussian law is used. Choosing the
        worst combination after composing would be wrong: later parts may be formed after earlier answers were seen.
        Several units may be in several parts, so their loss follows by group privacy from the loss of the whole (`Group`).
    """

    parts: tuple[Loss, ...]
    touched: int = field(default=1)

    def __repr__(self) -> str:
        inside = ", ".join(map(repr, self.parts))
        return f"parallel({inside})" if self.touched == 1 else f'parallel({inside}, adjacency="replace-one")'

    def _worst(self, measure: Callable[[Loss], float]) -> float:
        """Without further composition, the choice of parts is fixed before any answer, so the worst choice bounds them all."""
        if len(self.parts) > 16 or (self.touched > 1 and any(symmetric(part.laws or ()) != (part.laws or ()) for part in self.parts)):
            return math.inf  # too many choices, or a unit that enters one part and leaves another: see `laws`
        return max(measure(compose(choice)) for choice in combinations(self.parts, min(self.touched, len(self.parts))))

    @property
    def delta(self) -> Fraction:
        return min(Fraction(1), _largest((part.delta for part in self.parts), self.touched) or ZERO)

    epsilon = property(lambda self: _largest((part.epsilon for part in self.parts), self.touched))
    rho = property(lambda self: _largest((part.rho for part in self.parts), self.touched))
    mu_squared = property(lambda self: _largest((part.mu_squared for part in self.parts), self.touched))

    @property
    def laws(self) -> Laws | None:
        left = list(self.parts)
        found: list[tuple[LossLaw, int]] = []
        for _ in range(min(self.touched, len(self.parts))):
            top = next((part for part in left if all(other.below(part) for other in left)), None)
            if top is None or top.laws is None:
                return None if self.mu_squared is None else ((NormalLaw(self.mu_squared), 1),)
            left.remove(top)
            found += top.laws if self.touched == 1 else symmetric(top.laws)
        return tuple(found)

    def renyi(self, orders: Floats) -> Floats:
        curves = np.sort(np.array([part.renyi(orders) for part in self.parts]), axis=0)
        return np.asarray(curves[-self.touched :].sum(axis=0) * (1 + 4e-16))

    def epsilon_at(self, delta: Number) -> float:
        return min(Loss.epsilon_at(self, delta), self._worst(lambda choice: choice.epsilon_at(delta)))

    def delta_at(self, epsilon: Number) -> float:
        return min(Loss.delta_at(self, epsilon), self._worst(lambda choice: choice.delta_at(epsilon)))


def _lesser(*bounds: Fraction | None) -> Fraction | None:
    return min((bound for bound in bounds if bound is not None), default=None)


@final
@frozen
class Group(Loss):
    """The loss of k units together, where no tighter form is known.

    Theorem (Dwork & Roth 2014, theorem 2.2; Vadhan 2017; Bun & Steinke 2016, proposition 27; Dong, Roth & Su 2022, theorem 2.14).
        For groups of k, ε becomes kε, (ε, δ) becomes (kε, δ(e^{kε} − 1)/(e^ε − 1)), ρ becomes k²ρ and μ becomes kμ.
        The last two are used only where nothing is revealed. Bounds that follow from kε hold too, so ρ and μ are the lesser of both.
    """

    k: int
    part: Loss

    @property
    def delta(self) -> Fraction:
        if self.part.delta == 0 or self.part.epsilon is None:
            return Fraction(self.part.delta > 0)
        return convert.group_delta(self.part.epsilon, self.part.delta, self.k)

    @property
    def epsilon(self) -> Fraction | None:
        return None if self.part.epsilon is None else self.k * self.part.epsilon

    @property
    def rho(self) -> Fraction | None:
        from_units = None if self.part.delta or self.part.rho is None else self.k**2 * self.part.rho
        return _lesser(from_units, None if self.epsilon is None else convert.pure_to_zcdp(self.epsilon))

    @property
    def mu_squared(self) -> Fraction | None:
        from_units = None if self.part.delta or self.part.mu_squared is None else self.k**2 * self.part.mu_squared
        return _lesser(from_units, None if self.epsilon is None else convert.pure_to_gdp(self.epsilon))

    @property
    def laws(self) -> Laws | None:
        if self.epsilon is not None:
            return ((pure_law(self.epsilon), 1),)
        return None if self.mu_squared is None else ((NormalLaw(self.mu_squared), 1),)

    def group(self, k: int) -> Loss:
        k = exact.whole(k, "k", least=0)
        return Group(k * self.k, self.part) if k else NOTHING
