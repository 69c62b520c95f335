"""What the classical algorithms are given: parameters read by name, and histograms read totally."""

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
    """Read a histogram totally: only its length, which is public, can be wrong.

    What is missing or negative counts as 0, reals are rounded down, and no count is so large that a query over it could overflow. Each
    of these maps moves a count by no more than it moved.
    """
    counts, single = answers.wholes(counted, "the histogram")
    if single or len(counts) != domain:
        raise Invalid(f"the histogram must have one whole number for each of the domain's {domain} values")
    return np.clip(counts, 0, answers.LIMIT // (domain * top))


def check_histogram(counted: Any, domain: int) -> None:
    """Report a slip in a plain histogram."""
    answers.check_whole(counted, "the histogram")
    read_histogram(counted, domain, 1)
    if answers.wholes(counted)[0].min() < 0:
        raise Invalid("a histogram has no negative counts")


def private_histogram(data: Private[Any] | Any, domain: int, top: int) -> Private[Integers]:
    """A histogram for a run that meets it only through mechanisms; a slip in a plain one is reported first."""
    if not isinstance(data, Private):
        check_histogram(data, domain)
        data = Private(data)
    return data.map(lambda counted: read_histogram(counted, domain, top))


# ── parameters ───────────────────────────────────────────────────────────────────────────────────────────────────────


def domain(value: int) -> int:
    """How many values a record may have."""
    return exact.whole(value, "domain")


def top(value: int) -> int:
    """What a query's values are divided by."""
    return exact.whole(value, "top")


def rounds(value: int) -> int:
    """How many rounds."""
    return exact.whole(value, "rounds")


def draws(value: int) -> int:
    """How many queries are drawn in a round."""
    return exact.whole(value, "draws")


def rows(value: int) -> int:
    """How many rows a small database has."""
    return exact.whole(value, "rows")


def size(value: int) -> int:
    """How many queries."""
    return exact.whole(value, "size")


def steps(value: int) -> int:
    """How many steps at most."""
    return exact.whole(value, "steps")


def queries_expected(value: int) -> int:
    """How many queries are to be accurate."""
    return exact.whole(value, "queries_expected")


def margin(value: int) -> int:
    """How far beyond near is wholly bad."""
    return exact.whole(value, "margin")


def sensitivity(value: int) -> int:
    """By how much an answer moves."""
    return exact.whole(value, "sensitivity")


def sweeps(value: int) -> int:
    """How often past answers are replayed."""
    return exact.whole(value, "sweeps", least=0)


def near(value: int) -> int:
    """How far off is good."""
    return exact.whole(value, "near", least=0)


def records(value: int | None) -> int | None:
    """The public number of records, if it is."""
    return None if value is None else exact.whole(value, "records")


def updates(value: int | None) -> int | None:
    """How many rounds at most, if fewer than the theorem asks for."""
    return None if value is None else exact.whole(value, "updates")


def epsilon(value: Number | None) -> Fraction | None:
    """ε, for pure privacy."""
    return None if value is None else exact.positive(value, "epsilon")


def delta(value: Number | None) -> Fraction | None:
    """δ beside ε; none or 0 for pure privacy."""
    return None if value is None else parameter.any_delta(value)


def rho(value: Number | None) -> Fraction | None:
    """ρ, for zCDP."""
    return None if value is None else exact.positive(value, "rho")


def accuracy(value: Number) -> Fraction:
    """How far off answers may be, as a part of n."""
    if not 0 < (read := exact.rational(value, "accuracy")) < 1:
        raise Invalid("accuracy must lie strictly between 0 and 1")
    return read


def beta(value: Number) -> Fraction:
    """With what chance they may be further off."""
    if not 0 < (read := exact.rational(value, "beta")) < 1:
        raise Invalid("beta must lie strictly between 0 and 1")
    return read
