"""Where values lie, by noisy counts: what is clear of noise, and what is likely beside it."""

from __future__ import annotations

import numpy as np

from discreet.tables.cells_found import cells_found

CLEAR = 5.0


def test_nothing_is_found_in_noise() -> None:
    assert cells_found(np.array([1.0, -1.0, 2.0, 2.4]), CLEAR, 1.0) is None


def test_what_is_likely_beside_what_is_clear_belongs_to_it() -> None:
    counts = np.array([0.0, 2.8, 40.0, 9.0, 1.0, 0.0, 2.0, 2.0, 2.0, 2.0])
    assert cells_found(counts, CLEAR, 1.0) == (1, 8)
    assert cells_found(counts, CLEAR, 1.0, likely=3.0) == (2, 8)  # five cells together: 7 > 3·√5
    assert cells_found(counts, CLEAR, 1.0, likely=4.0) == (2, 3)


def test_octaves_are_added_one_at_a_time() -> None:
    assert cells_found(np.array([40.0, 2.0, 2.0, 2.0, 2.0]), CLEAR, 1.0, far=1) == (0, 0)
    assert cells_found(np.array([40.0, 2.0, 2.0, 2.0, 2.0]), CLEAR, 1.0) == (0, 4)
