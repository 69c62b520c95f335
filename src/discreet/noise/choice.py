"""Exact selection: the k largest scores plus exponential, Gumbel or Laplace noise, decided by refining.

Candidate i has the value  v = rate·(sᵢ − max s) + ln wᵢ + Zᵢ  with Z = E = −ln U (exponential), −ln E (Gumbel) or ±E (Laplace). Real
noise has no ties, so the release is the order of the ideal values.

The slack. A word with a = w >> 1 ≥ 2²⁴ gives E within 2⁻²⁴ + 2⁻⁵³ + 2⁻⁵⁰E < 2⁻²³·⁹ (the unseen bits, conversion, logarithm; E ≤ 44).
For Gumbel noise let also E ≥ 2⁻²⁸; then E is *relatively* within 2⁻²⁴·⁴: near 0, where U is near 1, E's error is at most 2⁻⁵³ + 2⁻⁶²
against E ≥ 2⁻²⁸, and for larger E it is 2⁻⁶³/U ≤ 2⁻²⁴ against E ≥ 1 where U is small; and the second logarithm of a number between
2⁻²⁸ and 44 adds 2⁻⁴⁵. Differences of scores are exact for integers (modulo 2⁶⁴) up to one rounding, correctly rounded for floats;
times the rounded rate this is relative 3·2⁻⁵³ of the gap to the best score, 2⁻⁵⁰ with room. ln w, of a positive 64-bit weight, is
within 2⁻⁴⁴. So each float value is within 2⁻²² + 2⁻⁵⁰·rate·gap of the truth, or the word is *doubtful* (of probability below 2⁻²⁷).
For one winner the second term does not matter: only candidates within 2000 of the best can win. The k-th best may have a large gap. A
candidate is a contender if its word is doubtful, or if by these bounds its value may be among the k largest; no other candidate is among
the k best. If there is more than one contender, they are ordered in ball arithmetic.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet import exact
from discreet.exact import Ball
from discreet.noise import refine
from discreet.noise.bits import Bits, Words
from discreet.noise.refine import BLOCK, Floats, Integers

Noise = Literal["exponential", "gumbel", "laplace"]
Scores = NDArray[np.int64] | NDArray[np.float64] | NDArray[np.object_]  # whole, float, or exact fractions
Cells = dict[int, tuple[int, int]]  # the bits of a candidate's uniform that were drawn, as a number, and how many

_SLACK = 2.0**-21
_FAINT = np.uint64(1 << 25)  # words below this have fewer than 24 significant bits of U
_NEAR_ONE = 2.0**-28
_FURTHEST = Fraction(10**300)  # larger gaps of fractions are clamped to this in the float path


def best(
    scores: Scores, rate: Fraction, noise: Noise, bits: Bits, *, count: int = 1, weights: NDArray[np.int64] | None = None
) -> list[int]:
    """The positions of the `count` largest noisy values, best first.

    Weights are non-negative integers, at least one of them positive; a weight of 0 excludes the candidate.
    """
    return _best(scores, rate, noise, bits, bits.words(len(scores)), count, weights)[0]


def best_with_gap(scores: Scores, rate: Fraction, noise: Noise, bits: Bits, step: Fraction) -> tuple[int, int]:
    """The position of the largest noisy score of two or more, and ⌊(its lead over the second largest)/step⌋, at most 2⁶²."""
    words = bits.words(len(scores))
    (first, second), known = _best(scores, rate, noise, bits, words, 2, None)
    one, other = (Fraction(scores[i] if scores.dtype == object else scores[i].item()) for i in (first, second))
    lead = rate * (one - other)

    def steps(u: Ball, v: Ball) -> int | None:
        ahead = _value(u, lead, noise, int(words[first]) & 1, 1) - _value(v, Fraction(0), noise, int(words[second]) & 1, 1)
        size = ahead / exact.ball(rate * step)
        return 2**62 if size >= 2**62 else exact.floor(size)

    return first, max(0, refine.resolve(steps, [known[first], known[second]], bits))


def _best(
    scores: Scores, rate: Fraction, noise: Noise, bits: Bits, words: Words, count: int, weights: NDArray[np.int64] | None
) -> tuple[list[int], Cells]:
    """The positions of the largest, and what was drawn for them where their order was decided in ball arithmetic."""
    size = len(scores)
    values: Floats = np.empty(size)
    doubtful: list[int] = []
    living = scores if weights is None else scores[weights > 0]
    top = living.max()
    halve = scores.dtype == np.float64 and not np.isfinite(float(top) - float(living.min()))
    error: Floats | float = _SLACK if count == 1 else np.empty(size)
    factor = float(rate) * (2.0 if halve else 1.0)
    for start in range(0, size, BLOCK):
        block, word = values[start : start + BLOCK], words[start : start + BLOCK]
        doubtful += _noise(word, noise, block, start)
        with np.errstate(over="ignore"):
            behind = factor * _behind(top, scores[start : start + BLOCK], halve)
            block -= behind
        if isinstance(error, np.ndarray):
            error[start : start + BLOCK] = behind * 2.0**-50 + _SLACK
    if weights is not None:
        values += np.log(np.maximum(weights, 1))
        values[weights == 0] = -np.inf
    alive = [i for i in doubtful if weights is None or weights[i] > 0]
    sure = values.copy() if alive else values
    sure[alive] = -np.inf
    with np.errstate(invalid="ignore"):  # −∞ with an infinite error gives NaN, which excludes nobody
        bar = (sure - error).max() if count == 1 else np.partition(sure - error, size - count)[size - count]
        near = ~(sure + error < bar)
    contenders = sorted({*np.flatnonzero(near if weights is None else near & (weights > 0)).tolist(), *alive})
    if len(contenders) == 1:
        return contenders, {}
    return _order(contenders, words, scores, rate, noise, weights, count, bits)


def _noise(words: Words, noise: Noise, out: Floats, start: int) -> list[int]:
    """Write the float noise; return the positions of the doubtful words."""
    refine.log_uniform(words, out)
    np.negative(out, out=out)
    doubtful = (np.flatnonzero(words < _FAINT) + start).tolist() if words.min() < _FAINT else []
    if noise == "gumbel":
        if out.min() < _NEAR_ONE:
            doubtful += (np.flatnonzero(out < _NEAR_ONE) + start).tolist()
        with np.errstate(divide="ignore"):
            np.log(out, out=out)
        np.negative(out, out=out)
    elif noise == "laplace":
        bits = out.view(np.uint64)
        np.bitwise_xor(bits, words << np.uint64(63), out=bits)
    return doubtful


def _behind(top: Any, scores: Scores, halve: bool) -> Floats:
    """The gap of each score to the largest; halved where the difference would overflow."""
    if scores.dtype == object:
        return np.array([float(min(max(top - s, Fraction(0)), _FURTHEST)) for s in scores.tolist()])
    if scores.dtype == np.int64:
        with np.errstate(over="ignore"):
            return np.asarray(top.astype(np.uint64) - scores.astype(np.uint64), np.float64)
    return np.asarray(top / 2 - scores / 2 if halve else top - scores, np.float64)


def _order(
    contenders: list[int],
    words: Words,
    scores: Scores,
    rate: Fraction,
    noise: Noise,
    weights: Integers | None,
    count: int,
    bits: Bits,
) -> tuple[list[int], Cells]:
    """The first `count` contenders by exact value, and their cells."""
    exactly = {i: Fraction(scores[i] if scores.dtype == object else scores[i].item()) for i in contenders}
    top = max(exactly.values())
    lead = {i: rate * (score - top) for i, score in exactly.items()}
    known = {i: (int(words[i]) >> 1, 63) for i in contenders}
    while True:
        with exact.precision(known[contenders[0]][1] + 128):
            values = {
                i: _value(exact.cell(*known[i]), lead[i], noise, int(words[i]) & 1, 1 if weights is None else int(weights[i]))
                for i in contenders
            }
            if all(value.is_finite() for value in values.values()):  # a cell that touches 0 or 1 does not bound the noise yet
                ranking = sorted(contenders, key=lambda i: exact.lower(values[i]), reverse=True)
                chosen = ranking[:count]
                if all(values[a] > values[b] for place, a in enumerate(chosen) for b in ranking[place + 1 :]):
                    return chosen, known
        known = {i: (index << 64 | bits.word(), size + 64) for i, (index, size) in known.items()}


def _value(u: Ball, lead: Fraction, noise: Noise, sign: int, weight: int) -> Ball:
    e = -u.log()
    z = -e.log() if noise == "gumbel" else -e if noise == "laplace" and sign else e
    return z + exact.ball(lead) + exact.ball(weight).log()
