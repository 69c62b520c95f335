"""The types of columns that nobody declared: each row's text is sorted by what it parses as, and noisy counts of these decide.

No type is guessed from values themselves: what is read here is one histogram of seven cells for each column, released with noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from attrs import evolve

from discreet.query.relation.expr import Call, Column, Expr, Literal, call
from discreet.query.relation.node import Scan
from discreet.session.profile.cells import Counts
from discreet.tables.column import ColumnMetadata
from discreet.tables.kind import Kind
from discreet.tables.type_found import TypeFound

MISSING, WHOLE, NUMBER, DAY, MOMENT, PADDED, OTHER = range(7)
CODES = 7
_PARSED = (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TIMESTAMP)
_CELLS: tuple[tuple[Kind, tuple[int, ...], tuple[int, ...]], ...] = (  # of each kind: what parses, and what must not be there
    (Kind.INTEGER, (WHOLE,), (NUMBER, PADDED)),
    (Kind.REAL, (WHOLE, NUMBER), (PADDED,)),
    (Kind.DATE, (DAY,), (MOMENT,)),
    (Kind.TIMESTAMP, (DAY, MOMENT), ()),
)
_VALUES = (WHOLE, NUMBER, DAY, MOMENT, PADDED, OTHER)
_MOST_OTHERS = 0.05  # the share of values that may not parse, beside what noise may have added
_LIKELY, _THERE, _CLEAR = 2.0, 3.0, 4.5  # standard deviations of noise: of the others, of what must not be there, of a majority


# ── what each row is counted as ──────────────────────────────────────────────────────────────────────────────────────


def with_parsed(scan: Scan, names: Sequence[str]) -> tuple[Scan, dict[str, Expr]]:
    """The table with these texts parsed as each kind, in further columns, and the code of each text."""
    apart = "_" * (2 + max(len(column.name) for column in scan.table.columns))  # longer than every name
    further: list[ColumnMetadata] = []
    codes: dict[str, Expr] = {}
    for place, name in enumerate(names):
        read = {kind: f"{apart}{kind.value}{place}" for kind in _PARSED}
        further += [ColumnMetadata(column, kind, parsed_from=name) for kind, column in read.items()]
        codes[name] = _code(Column(name), *(Column(read[kind]) for kind in _PARSED))
    return evolve(scan, table=evolve(scan.table, columns=(*scan.table.columns, *further))), codes


def _code(text: Column, whole: Column, number: Column, day: Column, moment: Column) -> Expr:
    """What a text parses as; never NULL. A fraction parses as a whole number too, rounded, so the two are compared."""
    cases: Sequence[tuple[Expr, int]] = (
        (call("is_null", text), MISSING),
        (call("and", _present(number), _padded(call("trim", text))), PADDED),
        (call("equal", call("to_real", whole), number), WHOLE),
        (_present(number), NUMBER),
        (call("equal", call("to_timestamp", day), moment), DAY),
        (_present(moment), MOMENT),
    )
    parts: list[Expr] = [part for test, code in cases for part in (test, Literal(code))]
    return call("case", *parts, Literal(OTHER))


def _present(column: Column) -> Call:
    return call("not", call("is_null", column))


def _padded(text: Expr) -> Call:
    """Whether a number begins with 0 and another digit, as 007 does and 0.7 does not."""
    plain = call("and", call("starts_with", text, Literal("0")), _digit(text, 2))
    signed = call("and", call("or", *(call("starts_with", text, Literal(sign)) for sign in ("-0", "+0"))), _digit(text, 3))
    return call("or", plain, signed)


def _digit(text: Expr, place: int) -> Call:
    return call("in", call("substring", text, Literal(place), Literal(1)), *map(Literal, "0123456789"))


# ── what released counts say ─────────────────────────────────────────────────────────────────────────────────────────


def kind_found(found: Counts) -> tuple[Kind, TypeFound]:
    """The kind that nearly all values parse as, beyond doubt by noise; else text.

    Values parse where at most 5 % are others, apart from noise, and the majority is clear of it. A column with clearly some fractions is
    not of whole numbers, one with times of day not of dates, and one with leading zeros, as codes have, not of numbers.
    """
    counts, sd = found.counts, found.sd
    padded = counts[PADDED] > _THERE * sd
    for kind, inside, never in _CELLS:
        values, others = _split(found, inside)
        enough = values - max(others, 0.0) > _CLEAR * sd * math.sqrt(len(_VALUES))
        few = others <= _MOST_OTHERS * (values + others) + _LIKELY * sd * math.sqrt(len(_VALUES) - len(inside))
        if enough and few and all(counts[code] <= _THERE * sd for code in never):
            return kind, _type_found(found, kind, inside, padded)
    kind, inside, _ = max((one for one in _CELLS if len(one[1]) > 1), key=lambda one: _split(found, one[1])[0])
    return Kind.TEXT, _type_found(found, kind, inside, padded)


def _split(found: Counts, inside: Sequence[int]) -> tuple[float, float]:
    """The number of values that parse, and of all others."""
    return sum(found.counts[code] for code in inside), sum(found.counts[code] for code in _VALUES if code not in inside)


def _type_found(found: Counts, kind: Kind, inside: Sequence[int], padded: bool) -> TypeFound:
    values, others = _split(found, inside)
    total = max(values + others, 1.0)
    share = min(max(values / total, 0.0), 1.0)
    spread = math.sqrt((1 - share) ** 2 * len(inside) + share**2 * (len(_VALUES) - len(inside)))
    return TypeFound(kind, share, min(1.96 * found.sd * spread / total, 1.0), padded)
