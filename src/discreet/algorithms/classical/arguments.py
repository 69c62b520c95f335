"""Arguments of the classical algorithms: parameters, matrices and histograms."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet import exact, parameter
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.mechanisms import answer as answers
from discreet.private import Private

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


# ── histograms ───────────────────────────────────────────────────────────────────────────────────────────────────────


def read_histogram(counted: Any, domain: int, top: int) -> Integers:
    """Read a histogram; every private value is valid, and only its length, which is public, can be wrong.

    Missing and negative entries are read as 0, reals are rounded down, and large counts are clamped so that no query overflows. Each of
    these maps is 1-Lipschitz in every count.
    """
    counts, single = answers.wholes(counted, "the histogram")
    if single or len(counts) != domain:
        raise Invalid(f"the histogram must have one count, a whole number, for each of the domain's {domain} values")
    return np.clip(counts, 0, answers.LIMIT // (domain * top))


def check_histogram(counted: Any, domain: int) -> None:
    """Report an invalid plain histogram."""
    answers.check_whole(counted, "the histogram")
    read_histogram(counted, domain, 1)
    if answers.wholes(counted)[0].min() < 0:
        raise Invalid("the counts of a histogram must not be negative")


def private_histogram(data: Private[Any] | Any, domain: int, top: int) -> Private[Integers]:
    """A histogram that a run uses through mechanisms only; an invalid plain one is reported first."""
    if not isinstance(data, Private):
        check_histogram(data, domain)
        data = Private(data)
    return data.map(lambda counted: read_histogram(counted, domain, top))


def whole_matrix(entries: Any, problem: str) -> Integers:
    """Read a public matrix of whole numbers, which cannot be written to afterwards; `problem` is the error for anything else."""
    matrix = np.asarray(entries)
    if matrix.ndim != 2 or not matrix.size or matrix.dtype.kind not in "biu":
        raise Invalid(problem)
    out = matrix.astype(np.int64)
    out.setflags(write=False)
    return out


# ── parameters ───────────────────────────────────────────────────────────────────────────────────────────────────────


def domain(value: int) -> int:
    """The number of values a record may have."""
    return exact.whole(value, "domain")


def top(value: int) -> int:
    """The denominator of a query's values."""
    return exact.whole(value, "top")


def rounds(value: int) -> int:
    """The number of rounds."""
    return exact.whole(value, "rounds")


def draws(value: int) -> int:
    """The number of queries drawn in a round."""
    return exact.whole(value, "draws")


def rows(value: int) -> int:
    """The number of rows of a small database."""
    return exact.whole(value, "rows")


def size(value: int) -> int:
    """The number of queries."""
    return exact.whole(value, "size")


def steps(value: int) -> int:
    """The largest number of steps."""
    return exact.whole(value, "steps")


def queries_expected(value: int) -> int:
    """The number of queries the accuracy statement covers."""
    return exact.whole(value, "queries_expected")


def margin(value: int) -> int:
    """The width of the zone beyond `near` in which an error is penalised increasingly."""
    return exact.whole(value, "margin")


def sensitivity(value: int) -> int:
    """The sensitivity of each answer."""
    return exact.whole(value, "sensitivity")


def sweeps(value: int) -> int:
    """How often past answers are replayed."""
    return exact.whole(value, "sweeps", least=0)


def near(value: int) -> int:
    """The largest error that counts as accurate."""
    return exact.whole(value, "near", least=0)


def records(value: int | None) -> int | None:
    """The public number of records, or None if it is private."""
    return None if value is None else exact.whole(value, "records")


def updates(value: int | None) -> int | None:
    """The largest number of rounds, if fewer than the theorem requires."""
    return None if value is None else exact.whole(value, "updates")


def epsilon(value: Number | None) -> Fraction | None:
    """ε, for pure privacy."""
    return None if value is None else exact.positive(value, "epsilon")


def delta(value: Number | None) -> Fraction | None:
    """δ beside ε; None or 0 for pure privacy."""
    return None if value is None else parameter.any_delta(value)


def rho(value: Number | None) -> Fraction | None:
    """ρ, for zCDP."""
    return None if value is None else exact.positive(value, "rho")


def accuracy(value: Number) -> Fraction:
    """The largest error of answers, as a share of n."""
    if not 0 < (read := exact.rational(value, "accuracy")) < 1:
        raise Invalid("accuracy must lie strictly between 0 and 1, such as 0.1")
    return read


def beta(value: Number) -> Fraction:
    """The probability that the accuracy statement fails."""
    if not 0 < (read := exact.rational(value, "beta")) < 1:
        raise Invalid("beta must lie strictly between 0 and 1, such as 0.05")
    return read
