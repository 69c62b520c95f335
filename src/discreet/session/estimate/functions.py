"""Any function of the units' rows: it is computed on blocks of units, and the answers of the blocks are aggregated."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from discreet import exact
from discreet.engines.dialect import Dialect
from discreet.errors import Invalid, Refused
from discreet.exact import Number
from discreet.extras import missing
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.robust.bootstrap import LittleBootstraps
from discreet.mechanisms.robust.sample_and_aggregate import Aggregate, SampleAndAggregate, block_count
from discreet.mechanisms.sensitivity import is_replacement
from discreet.noise.bits import SystemBits
from discreet.query.canonical import plain
from discreet.query.fluent import QueryBuilder
from discreet.session.estimate.blocks import Part, in_blocks, source_of, write_rows
from discreet.session.estimate.plan import EstimatePlan
from discreet.tables.catalog import Catalog
from discreet.tables.kind import Kind

Frame: TypeAlias = Literal["numpy", "pandas", "polars"]
LONGEST = 200  # characters of a title
_RANKS = 60  # blocks for ε = 1: a value beyond all of them weighs e^(−15) of one in the middle


def function_plan(
    ask: QueryBuilder[Any],
    catalog: Catalog,
    dialect: Dialect,
    price: tuple[Fraction, Fraction],
    function: Callable[[Any], Any],
    *,
    bounds: tuple[Number, Number] | None = None,
    blocks: int | None = None,
    aggregate: Aggregate = "median",
    uncertainty: bool = False,
    columns: Sequence[str] | None = None,
    frame: Frame = "numpy",
    name: str | None = None,
) -> EstimatePlan:
    """Any function of the rows of a block of units, aggregated over blocks."""
    epsilon, delta = price
    relation = ask.relation
    names = _columns(ask, columns)
    source = source_of(relation, names, dialect)
    kinds = source.key_kinds
    if name is not None and not isinstance(name, str):
        raise Invalid("name must be text: the estimate is stored under it")
    lower, upper = (None, None) if bounds is None else _ends(bounds)
    usual = math.ceil((4 if uncertainty else 1) * _RANKS / epsilon)  # a standard error has a quarter of ε
    count = block_count(blocks) if blocks is not None else max(20, usual)
    # a unit that is replaced by another leaves one block and enters one; rows that are thrown by coins keep their place
    blocks_per_unit = 2 if is_replacement(catalog.adjacency) and relation.has_id else 1
    estimator = partial(_estimated, function, _framed(frame, dict(zip(names, kinds, strict=True))))
    mechanism: Mechanism[Any]
    if uncertainty:
        if aggregate != "median" or lower is None or upper is None:
            raise Invalid("uncertainty=True needs aggregate='median' and bounds=(lower, upper) for the estimates")
        mechanism = LittleBootstraps(
            epsilon=epsilon, estimator=estimator, blocks=count, lower=lower, upper=upper, blocks_per_unit=blocks_per_unit
        )
    else:
        if aggregate == "stable" and not delta:
            raise Refused("aggregate='stable' needs a delta above 0: connect with delta=1e-6, or pass delta=")
        mass = delta if aggregate == "stable" else Fraction(0)
        mechanism = SampleAndAggregate(
            epsilon=epsilon,
            delta=mass,
            estimator=estimator,
            blocks=count,
            aggregate=aggregate,
            lower=lower,
            upper=upper,
            blocks_per_unit=blocks_per_unit,
        )
    statement = write_rows(source, catalog.digest)
    title = name or getattr(function, "__name__", "function").strip("<>")
    asked = {
        "is": "Estimate",
        "relation": plain(relation),
        "columns": list(names),
        "name": name
        if name is not None
        else f"not named {SystemBits().word():016x}",  # a function has no canonical form, so only a name makes two requests equal
        "blocks": count,
        "aggregate": aggregate,
        "uncertainty": uncertainty,
        "bounds": [None if end is None else str(end) for end in (lower, upper)],
    }
    how = f"{'median' if aggregate == 'median' else aggregate} of {count} blocks of units, each estimated by itself"
    return EstimatePlan(
        f"{title} of {ask.said[0]}"[:LONGEST],
        how,
        mechanism,
        statement,
        lambda found: in_blocks(found, names, kinds, count),
        epsilon,
        delta if aggregate == "stable" else Fraction(0),
        catalog,
        asked,
        ("the function runs in this process and sees the rows of one block at a time",),
    )


def _columns(ask: QueryBuilder[Any], columns: Sequence[str] | None) -> list[str]:
    """The columns that the function sees: those that are named, or all but the one that names the unit."""
    schema = ask.relation.schema
    if columns is not None and (not isinstance(columns, list | tuple) or not all(isinstance(name, str) for name in columns)):
        raise Invalid("columns must be a list of names, such as ['age', 'cost']")
    chosen = [name for name, field in schema.items() if not field.unit] if columns is None else list(dict.fromkeys(columns))
    if not chosen:
        raise Invalid("the function gets no column: name at least one in columns=[…]")
    if unknown := [name for name in chosen if name not in schema]:
        raise Invalid(
            f"there is no column {unknown[0][:80]}; there are {', '.join(name for name, field in schema.items() if not field.unit)}"
        )
    if any(schema[name].unit for name in chosen):
        raise Refused("a function cannot get the column that names the protected unit: leave it out, rows of a unit stay together")
    return chosen


def _ends(bounds: Any) -> tuple[Fraction, Fraction]:
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise Invalid("bounds must be a pair (lower, upper) between which the estimates lie")
    low, high = (exact.rational(end, "a bound") for end in bounds)
    if not low < high:
        raise Invalid("the lower bound must be below the upper one")
    return low, high


def _framed(frame: Frame, kinds: dict[str, Kind | None]) -> Any:
    """What the function gets: a dict of arrays, or a data frame whose types follow from the columns' kinds."""
    if frame == "numpy":
        return dict
    try:
        if frame == "pandas":
            from pandas import DataFrame

            return DataFrame
        if frame == "polars":
            import polars

            types = {Kind.BOOLEAN: polars.Boolean(), Kind.TEXT: polars.String()}
            typed = {name: types[kind] for name, kind in kinds.items() if kind in types}
            return lambda columns: polars.DataFrame(
                {name: column.tolist() if name in typed else column for name, column in columns.items()}, schema_overrides=typed
            )
    except ImportError:
        raise missing(frame) from None
    raise Invalid("frame must be numpy, pandas or polars")


def _estimated(function: Callable[[Any], Any], framed: Any, part: Part | list[Any]) -> Any:
    """The function's answer for a block, as a plain value that can be kept."""
    if not isinstance(part, Part):
        return None
    told = function(framed({name: column.copy() for name, column in part.columns.items()}))
    if isinstance(told, np.generic):
        told = told.item()
    if isinstance(told, int) and told.bit_length() > LONGEST:
        return math.inf if told > 0 else -math.inf
    return told if told is None or isinstance(told, bool | int | float | str | np.ndarray) else float(told)
