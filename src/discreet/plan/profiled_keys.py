"""Keys whose values a profile found: which they are, and what a reader should know about the values that it did not find."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attrs import evolve

from discreet.plan.key_values import OTHER, KeyValues, values_of
from discreet.query.question import Question
from discreet.query.relation.expr import Column, Expr, field_of
from discreet.query.relation.origin import private_tables
from discreet.query.relation.other_tables import with_tables
from discreet.tables.profile import ColumnProfile, TableProfile
from discreet.tables.table import Table

_HALF_WIDTH = 2.12  # standard deviations of a 95 % interval of Laplace noise; of normal noise, and of sums, it is 1.96 or a little more


def keys_found(question: Question) -> tuple[str, ...]:
    """The keys whose public values would not be known, or would be others, without what profiles found."""
    if not any(table.keys_found for table in private_tables(question.relation)):
        return ()
    with_them, without = question.schema, with_tables(question.relation, _without_found_keys).schema
    return tuple(name for name, expr in question.keys if field_of(expr, with_them).public_keys != field_of(expr, without).public_keys)


def counting_others(question: Question) -> Question:
    """The question with a cell for all other values, if it has grouping sets over keys that a profile found: totals count every row."""
    return evolve(question, other=True) if question.sets and not question.other and keys_found(question) else question


def _without_found_keys(table: Table) -> Table:
    return evolve(table, columns=tuple(evolve(one, keys=None) if one.name in table.keys_found else one for one in table.columns))


def in_others(question: Question, searched: Sequence[str] = ()) -> list[str]:
    """Note for which keys of grouping sets values that are not found are counted as others; some are searched, profiles found the rest."""
    if not question.sets or question.statistics_by_set:
        return []
    found = keys_found(question)
    names = ", ".join(name for name, _ in question.keys if name in searched or name in found)
    if not names:
        return []
    said = [f"values of {names} are not declared: those that are not found are together in rows marked {OTHER}, and totals count them"]
    for name, expr in question.keys:
        known = _profiled(question, expr) if name in found else None
        if known is not None and known[1].least >= 1:
            said.append(f"values of {name} with much fewer than {known[1].least:,.0f} units are mostly in {OTHER}")
    return said


def left_out(question: Question, groups: KeyValues | None) -> list[str]:
    """Note where rows are left out: those without a key, and those whose value a profile did not find."""
    missing: list[str] = []
    if question.other or groups is None:
        return missing
    found = keys_found(question)
    for place, (name, expr) in enumerate(question.keys):
        if name in found:
            known = _profiled(question, expr)
            missing.append(f"values of {name} that the profile did not find are left out{_how_many(*known) if known else ''}")
        elif field_of(expr, question.schema).nullable and None not in values_of(groups, place):
            missing.append(f"rows without {name} (NULL) are left out: its public values do not include NULL")
    return missing


def _how_many(profile: TableProfile, column: ColumnProfile) -> str:
    """How many rows have no value that was found, as far as the profile's noise tells; it counts units, so each must have one row."""
    if not column.values or profile.limit is not None:
        return ""
    about = profile.rows - sum(one.count for one in column.values)
    error = _HALF_WIDTH * math.sqrt(profile.sd**2 + len(column.values) * column.sd**2)
    if about <= error:  # noise alone may be as much
        most = math.ceil(max(about, 0) + error)
        return f" (no more than about {most:,} {'row' if most == 1 else 'rows'})"
    return f" (between {about - error:,.0f} and {about + error:,.0f} rows)"


def _profiled(question: Question, expr: Expr) -> tuple[TableProfile, ColumnProfile] | None:
    """The profile that found the values of a key which is a column, and what it knows about that column."""
    if not isinstance(expr, Column):
        return None
    for table in private_tables(question.relation):
        known = None if table.profile is None or expr.name not in table.keys_found else table.profile.column(expr.name)
        if table.profile is not None and known is not None and known.keys == field_of(expr, question.schema).keys:
            return table.profile, known
    return None
