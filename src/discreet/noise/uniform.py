"""Uniform integers, by rejection."""

from __future__ import annotations

import numpy as np

from discreet.noise.bits import Bits
from discreet.noise.refine import Integers


def uniform(count: int, bits: Bits) -> int:
    """Draw one of 0 … count − 1 with equal probability; `count` is unbounded."""
    width = (count - 1).bit_length()
    while True:
        value, have = 0, 0
        while have < width:
            value, have = value << 64 | bits.word(), have + 64
        value >>= have - width
        if value < count:
            return value


def uniforms(count: int, size: int, bits: Bits) -> Integers:
    """Draw an array of uniform integers; count ≤ 2⁶²."""
    limit = np.uint64(2**64 - 2**64 % count - 1)  # larger words would bias towards small numbers
    words = bits.words(size)
    while len(high := np.flatnonzero(words > limit)):
        words[high] = bits.words(len(high))
    return (words % np.uint64(count)).astype(np.int64)
