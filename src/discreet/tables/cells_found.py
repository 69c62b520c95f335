"""Where values lie, from noisy counts of cells alone."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_TOGETHER = 3  # neighbouring cells that may be seen together
_LIKELY = 2.5  # standard deviations: neighbours of what was seen belong to it


def cells_found(
    counts: NDArray[np.float64], clear: float, sd: float, far: int | None = None, likely: float = _LIKELY
) -> tuple[int, int] | None:
    """The first and the last cell of the range in which values were found: None if nothing is clear of noise.

    Up to three neighbouring cells are seen if together they exceed `clear` (times √2 or √3), which noise alone does in one table of many
    thousands. From there the range is extended outwards over cells (at most `far` at a time) that together exceed `likely` standard
    deviations of their noise. Cells further out are taken to be empty; how many rows may lie there is part of the profile.
    """
    seen: set[int] = set()
    for many in range(1, min(_TOGETHER, len(counts)) + 1):  # cells that were seen do not lift their neighbours
        windows = np.flatnonzero(np.convolve(counts, np.ones(many), "valid") > clear * math.sqrt(many)).tolist()
        seen |= {i for first in windows if seen.isdisjoint(range(first, first + many)) for i in range(first, first + many)}
    if not seen:
        return None
    first, last = min(seen), max(seen)
    return first - _extension(counts[:first][::-1], likely * sd, far), last + _extension(counts[last + 1 :], likely * sd, far)


def _extension(outwards: NDArray[np.float64], least: float, far: int | None) -> int:
    """How many cells, from the inside out, belong to the range: each, or several together, exceed a least count (times √ their number)."""
    taken = 0
    while taken < len(outwards):
        sums = np.cumsum(outwards[taken : None if far is None else taken + far])
        beyond = np.flatnonzero(sums > least * np.sqrt(np.arange(1, len(sums) + 1)))
        if not len(beyond):
            break
        taken += int(beyond[0]) + 1
    return taken
