"""Uniform whole numbers, by rejection."""

from __future__ import annotations

import numpy as np

from discreet.noise.bits import Bits
from discreet.noise.refine import Integers


def uniform(count: int, bits: Bits) -> int:
    """Draw one of 0 … count − 1, of any size, each with the same probability."""
    width = (count - 1).bit_length()
    while True:
        value, have = 0, 0
        while have < width:
            value, have = value << 64 | bits.word(), have + 64
        value >>= have - width
        if value < count:
            return value


def uniforms(count: int, size: int, bits: Bits) -> Integers:
    """Draw an array of them; count ≤ 2⁶²."""
    limit = np.uint64(2**64 - 2**64 % count - 1)  # words above it would favour the small numbers
    words = bits.words(size)
    while len(high := np.flatnonzero(words > limit)):
        words[high] = bits.words(len(high))
    return (words % np.uint64(count)).astype(np.int64)
