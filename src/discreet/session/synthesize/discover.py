"""Which columns a synthetic table has, and as which codes: from what is declared, and for a part of the price from what is not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Any, final

from attrs import evolve, field, frozen

from discreet.errors import Invalid, Refused
from discreet.query.relation.field import Field
from discreet.query.relation.node import Relation
from discreet.session.synthesize.domains import Domains
from discreet.tables.kind import Kind

BINS = 32  # of a number, unless it is said
LEAST, SHARE = Fraction(1, 10), Fraction(1, 3)  # of ε for what is found: so much at least, and so much if nothing is declared


@final
@frozen
class Undeclared:
    """What is not declared: columns whose values or bounds must be found, and whether the number of a unit's rows must."""

    values: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    rows: bool = False

    def __bool__(self) -> bool:
        return bool(self.values or self.bounds or self.rows)

    @property
    def columns(self) -> frozenset[str]:
        """The columns of which something must be found."""
        return frozenset((*self.values, *self.bounds))

    def share(self, columns: int) -> Fraction:
        """The share of ε for them: a third where no column is declared, less where some are, a tenth at least."""
        return max(LEAST, SHARE * (len(self.values) + len(self.bounds)) / columns)


@final
@frozen
class Columns:
    """The columns that are synthesised, and what is left out, with the reason."""

    names: tuple[str, ...]
    schema: dict[str, Field] = field(repr=False)
    left_out: tuple[tuple[str, str], ...] = ()
    present: frozenset[str] = frozenset()  # declared without NULL
    other: frozenset[str] = frozenset()  # with a code for NULL and for all values that are not declared
    profiled: frozenset[str] = frozenset()  # with codes that come from domains beside the declarations

    def found(self, missing: Undeclared, found: Domains) -> Columns:
        """Without the columns of which discovery found nothing."""
        lost = [name for name in (*missing.values, *missing.bounds) if not found.knows(name)]
        if len(lost) == len(self.names):
            raise Refused(
                "there is not enough data to find values or bounds of any column at this price: declare keys or bounds, or use more ε. "
                "Only what was not declared was paid for."
            )
        names = tuple(name for name in self.names if name not in lost)
        why = {name: _MOMENTS if self.schema[name].kind is Kind.TIMESTAMP else _NOTHING for name in lost}
        return evolve(self, names=names, left_out=(*self.left_out, *why.items()))

    @property
    def restricted(self) -> list[str]:
        """Columns with declared values and no code for others: rows with another value are left out."""
        kept = self.other | self.profiled
        return [name for name in self.names if self.schema[name].keys is not None and name not in kept]


def columns_of(
    relation: Relation, asked: Sequence[str] | None, present: Collection[str] = (), other: bool | Sequence[str] = False,
    known: Domains | None = None, links: Collection[str] = (),
) -> Columns:  # fmt: skip
    """All columns but those that name units or moments, or those asked for; `present` are declared without NULL.

    `other` asks for a code for NULL and for all values that are not declared, in the columns it names or in all. `known` are domains that
    need no declaration, `links` columns that lead to rows of other tables.
    """
    schema = relation.schema
    if asked is not None and (isinstance(asked, str) or not isinstance(asked, Sequence) or not all(isinstance(one, str) for one in asked)):
        raise Invalid("columns must be a list of names, as in columns=['dept', 'age']")
    names, left_out = [], []
    for name in schema if asked is None else asked:
        if name not in schema:
            raise Invalid(f"there is no column {name!r:.80}; there are {', '.join(schema)}")
        reason = _LINK if name in links else "" if known and known.knows(name) else _reason(schema[name])
        if reason and asked is not None:
            raise Refused(f"{name} cannot be synthesised: {reason}")
        if reason:
            left_out.append((name, reason))
        else:
            names.append(name)
    if not names:
        raise Refused("no column of this table can be synthesised: declare keys or bounds for some")
    if len(set(names)) != len(names):
        raise Invalid("a column is listed twice: list each column once")
    known_names = frozenset(name for name in names if known is not None and known.knows(name))
    return Columns(tuple(names), dict(schema), tuple(left_out), frozenset(present), _with_other(names, other), known_names)


def _with_other(names: Sequence[str], asked: Any) -> frozenset[str]:
    if isinstance(asked, bool):
        return frozenset(names if asked else ())
    if isinstance(asked, str) or not isinstance(asked, Sequence) or not set(asked) <= set(names):
        raise Invalid("other must be True, False or a list of columns that are synthesised")
    return frozenset(asked)


_NOTHING = "discovery found no values or bounds at this price: declare its keys or bounds"
_LINK = "it links rows to another table, and synthetic rows belong to no others: join the tables first, db.table(...).join(...)"
_MOMENTS = "timestamps need bins: give edges={...: [first, ..., last]}, or compute a date or a part of it"


def _reason(column: Field) -> str:
    if column.unit:
        return "it identifies the protected unit"
    if column.kind is Kind.TIMESTAMP:
        return _MOMENTS
    if column.kind is Kind.DATE and not _bounded(column):
        return "it holds dates without bounds: declare bounds={...}, or give edges={...}"
    if column.kind is None:
        return "it is always NULL"
    return ""


def _bounded(column: Field) -> bool:
    return column.range is not None and column.range.known


def undeclared(columns: Columns, one_row: bool, rows: int | None, known: Domains) -> Undeclared:
    """What must be found before codes are known."""
    values, bounds = [], []
    for name in columns.names:
        column = columns.schema[name]
        if column.keys is not None or known.knows(name) or column.kind in (Kind.BOOLEAN, Kind.DATE):
            continue
        if column.kind is Kind.TEXT:
            values.append(name)
        elif not _bounded(column):
            bounds.append(name)
    return Undeclared(tuple(values), tuple(bounds), not one_row and rows is None and known.rows is None)
