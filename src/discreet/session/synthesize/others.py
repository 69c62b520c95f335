"""Rows of which a synthetic table does not know the value: those without a value of their own in its list, and numbers beyond its bins.

How many there are is said from what was released: the model for the first, the histogram of a profile for the second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.algorithms.marginals.model import Model
from discreet.session.shape import is_amount, require, text
from discreet.session.synthesize.codes import Listed
from discreet.session.synthesize.domains import Coding
from discreet.session.synthesize.edges import Cut
from discreet.tables.kind import Kind

WORTH_SAYING = 0.01  # of the rows
_SHOWN = 8


def has_others(coding: Coding) -> bool:
    """Whether values other than NULL share one code, and come out as missing with it."""
    return isinstance(coding, Listed) and coding.rest and coding.kind is not Kind.BOOLEAN and coding.grain is None


def shares_of_others(codings: Sequence[Coding], model: Model) -> dict[str, float]:
    """The share of rows whose value has no code of its own, by the model, for each column in which that is possible."""
    found = {}
    for place, coding in enumerate(codings):
        if has_others(coding):
            cells = model.marginal((place,))
            found[coding.name] = float(cells[-1]) / max(float(cells.sum()), 1e-300)
    return found


def about_others(shares: Mapping[str, float]) -> list[str]:
    """Say which columns have many values without a code."""
    listed = [f"about {share:.1%} of {name}" for name, share in shares.items() if share >= WORTH_SAYING]
    return [f"NULL and values that were neither declared nor found come out as missing: {_few(listed)}"] if listed else []


def about_clipped(codings: Sequence[Coding], beyond: Mapping[str, float]) -> list[str]:
    """Say of which numbers many may lie beyond the bins; such numbers are counted in the nearest bin."""
    ends = {one.name: one.ends for one in codings if isinstance(one, Cut)}
    listed = [f"up to {share:.1%} of {name} ({ends[name]})" for name, share in beyond.items() if name in ends and share >= WORTH_SAYING]
    return [f"numbers beyond the range that was found are clipped to it: {_few(listed)}"] if listed else []


def beyond_from(said: object) -> dict[str, float]:
    """Read back which share of each column may lie beyond its bins."""
    require(isinstance(said, dict))
    assert isinstance(said, dict)
    require(all(is_amount(share) for share in said.values()))
    return {text(name): float(share) for name, share in said.items()}


def _few(parts: Sequence[str]) -> str:
    return ", ".join(parts[:_SHOWN]) + (f" and {len(parts) - _SHOWN} more columns" if len(parts) > _SHOWN else "")
