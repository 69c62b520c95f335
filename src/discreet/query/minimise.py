"""What the noise of a question with grouping sets is chosen for: the least total variance, or the least largest one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, final

from attrs import field, frozen

from discreet import exact
from discreet.errors import Invalid
from discreet.hints import closest

_LEAST, _MOST = Fraction(1, 10**9), Fraction(10**9)
_FEW = 32  # sets that a message lists
_EXAMPLE = 'minimise="worst", or minimise={"": 10, "sex, race": 2} for weights of grouping sets'


@final
@frozen
class Minimise:
    """A choice of the analyst: the largest variance of any set's cells ("worst"), or the total with a weight for each set."""

    goal: Literal["total", "worst"]
    weights: tuple[Fraction, ...] = field(default=(), metadata={"omitted if empty": True})  # of each grouping set, in their order


def read_minimise(said: Any, keys: Sequence[str], sets: Sequence[tuple[int, ...]]) -> Minimise | None:
    """Read "total", "worst", or the weights of sets named by their keys; None is the usual goal, the total variance of all cells.

    >>> sets = ((0, 1), (0,), ())
    >>> read_minimise("total", ["sex", "race"], sets), read_minimise({"": 1}, ["sex", "race"], sets)
    (None, None)
    >>> [str(weight) for weight in read_minimise({"": 10, "race, sex": 0.5}, ["sex", "race"], sets).weights]
    ['1/2', '1', '10']
    """
    if not sets:
        raise Invalid("minimise needs grouping sets: write GROUP BY CUBE (a, b), ROLLUP or GROUPING SETS, or leave minimise out")
    if isinstance(said, Mapping):
        return _weighted(said, [", ".join(keys[place] for place in places) for places in sets])
    if said not in ("total", "worst"):
        raise Invalid(f'minimise is "total" or "worst", or weights of grouping sets, as in {_EXAMPLE}')
    return None if said == "total" else Minimise("worst")


def _weighted(said: Mapping[Any, Any], names: Sequence[str]) -> Minimise | None:
    known = {_plain(name): place for place, name in enumerate(names)}
    weights = dict[int, Fraction]()
    for name, weight in said.items():
        place = known.get(_plain(name)) if isinstance(name, str) else None
        if place is None:
            near, shown = closest(str(name), filter(None, names)), ", ".join(map(repr, names[:_FEW])) + (", …" if len(names) > _FEW else "")
            meant = "" if near is None else f"did you mean {near!r}? "
            raise Invalid(f"minimise: there is no grouping set {str(name)[:80]!r}; {meant}there are {shown}: '' is the grand total")
        if place in weights:
            raise Invalid(f"minimise: the grouping set {names[place]!r} is named twice: leave one of its weights out")
        weights[place] = exact.positive(weight, f"the weight of {names[place]!r} in minimise")
        if not _LEAST <= weights[place] <= _MOST:
            raise Invalid(f"the weight of {names[place]!r} in minimise must lie between 1e-9 and 1e9")
    each = tuple(weights.get(place, Fraction(1)) for place in range(len(names)))
    return Minimise("total", each) if len(set(each)) > 1 else None


def _plain(name: str) -> tuple[str, ...]:
    """A set's keys in any order, whatever the case of their letters and the blanks between them."""
    return tuple(sorted(key.strip().casefold() for key in name.split(",")))
