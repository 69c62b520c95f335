"""Uniform whole numbers: each residue equally often, by counting all words of a small source."""

from __future__ import annotations

import numpy as np
import pytest
from scripted import Scripted, Seeded

from discreet.noise.uniform import uniform, uniforms


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7, 8])
def test_all_prefixes(count: int) -> None:
    """Every value of the top bits: accepted ones cover 0 … count − 1 once each."""
    width = (count - 1).bit_length()
    seen = []
    for prefix in range(2**width):
        accepted = uniform(count, Scripted(singles=[prefix << (64 - width)], rest=0)) if width else 0
        seen.append(accepted)
    kept = [s for p, s in enumerate(seen) if p < count or p == 0]
    assert sorted(kept) == list(range(count))


def test_rejection_at_the_edge() -> None:
    limit = 2**64 - 2**64 % 3 - 1
    assert uniforms(3, 2, Scripted([limit, limit + 1], rest=5)).tolist() == [limit % 3, 2]


@pytest.mark.parametrize("count", [1, 3, 10, 2**62])
def test_range_and_mean(count: int) -> None:
    found = uniforms(count, 10_000, Seeded(count))
    assert found.min() >= 0
    assert found.max() < count
    assert abs(np.mean(found / count) - (count - 1) / 2 / count) < 6 * 0.29 / 100


def test_numbers_wider_than_a_word() -> None:
    assert uniform(2**100, Scripted(singles=[2**63, 0])) == 2**99
