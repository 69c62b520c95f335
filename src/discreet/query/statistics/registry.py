"""The registry of statistics. A new statistic is listed here, and nowhere else."""

from __future__ import annotations

from typing import TypeAlias

from discreet.errors import Invalid
from discreet.query.statistics.average import Average
from discreet.query.statistics.correlation import Correlation
from discreet.query.statistics.count import Count
from discreet.query.statistics.count_distinct import CountDistinct
from discreet.query.statistics.count_if import CountIf
from discreet.query.statistics.count_units import CountUnits
from discreet.query.statistics.covar import Covar
from discreet.query.statistics.kurtosis import Kurtosis
from discreet.query.statistics.mode import Mode
from discreet.query.statistics.percentile import Percentile
from discreet.query.statistics.regression_intercept import RegressionIntercept
from discreet.query.statistics.regression_r2 import RegressionR2
from discreet.query.statistics.regression_slope import RegressionSlope
from discreet.query.statistics.skewness import Skewness
from discreet.query.statistics.spelling import Spelling
from discreet.query.statistics.statistic import Argument, Statistic
from discreet.query.statistics.stddev import StandardDeviation
from discreet.query.statistics.sum import Sum
from discreet.query.statistics.variance import Variance

Entry: TypeAlias = type[Statistic] | type[Spelling]
_by_spelling: dict[str, Entry] = {}
_by_method: dict[str, tuple[Entry, str]] = {}


def register(entry: Entry) -> None:
    """Register a statistic under its SQL and Python names, which must be new."""
    known = set(_by_spelling) | set(_by_method)
    taken = known & (set(entry.spellings) | set(entry.methods))
    if taken:
        raise Invalid(f"{', '.join(sorted(taken))} is the name of another statistic: choose other names")
    _by_spelling.update(dict.fromkeys(entry.spellings, entry))
    _by_method.update({method: (entry, spelling) for method, spelling in entry.methods.items()})


def unregister(entry: Entry) -> None:
    """Remove a statistic; tests that register one use it."""
    for spelling in entry.spellings:
        _by_spelling.pop(spelling, None)
    for method in entry.methods:
        _by_method.pop(method, None)


def by_spelling(name: str) -> Entry | None:
    """The statistic with this SQL name, in upper case."""
    return _by_spelling.get(name)


def by_method(name: str) -> tuple[Entry, str] | None:
    """The statistic with this Python name, and its SQL name."""
    return _by_method.get(name)


def places(entry: Entry, spelling: str) -> tuple[Argument, ...]:
    """The arguments that SQL writes under this name: those that the name does not fix itself."""
    if issubclass(entry, Spelling):
        return entry.arguments
    names = entry.field_names()
    return tuple(argument for name, argument in zip(names, entry.arguments, strict=False) if name not in entry.spellings[spelling])


def methods() -> tuple[str, ...]:
    """All names in Python."""
    return tuple(_by_method)


def registered() -> tuple[Entry, ...]:
    """All entries, each once."""
    return tuple(dict.fromkeys(_by_spelling.values()))


register(Average)
register(Correlation)
register(Count)
register(CountDistinct)
register(CountIf)
register(CountUnits)
register(Covar)
register(Kurtosis)
register(Mode)
register(Percentile)
register(RegressionIntercept)
register(RegressionR2)
register(RegressionSlope)
register(Skewness)
register(StandardDeviation)
register(Sum)
register(Variance)
