"""What graph mechanisms hand to their noise, caught on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from algorithms.graphs.every import Pairs
from mechanisms.shake import Shake

from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.streams.sparse_vector import SparseVector


class Caught:
    """Noise that adds nothing and remembers what it was given, and whose it was."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.given: list[tuple[Any, Any]] = []
        caught = self

        def whole(self: Laplace, answer: Any, bits: Any) -> Any:
            caught.given.append((self, np.atleast_1d(np.asarray(answer))))
            return np.asarray(answer)

        def stream(self: SparseVector, answer: Any, bits: Any) -> Any:
            caught.given.append((self, list(answer)))
            return []

        patch.setattr(Laplace, "sample", whole)
        patch.setattr(SparseVector, "sample", stream)

    def of(self, mechanism: Any, pairs: Pairs) -> tuple[Any, Any]:
        mechanism.sample(pairs, Shake(0))
        return self.given.pop()
