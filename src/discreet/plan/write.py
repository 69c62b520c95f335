"""The SQL of each step: rows with their keys and values, their weights, and totals as whole numbers.

Nothing here is ordered, sampled or summed in floats, so the totals are the same in any order and on any engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never, final

from attrs import frozen

from discreet.engines.dialect import Dialect
from discreet.plan.bound import Bounding, Groups, Rows, Single
from discreet.plan.stat import Scaled, Stat
from discreet.relation.expr import Expr, field_of
from discreet.relation.node import Named, Relation
from discreet.relation.write import UNIT, write_expr, write_relation
from discreet.tables.kind import Kind, Value

_GROUPS_OF = f"(SELECT {UNIT}, COUNT(*) AS m FROM __p GROUP BY {UNIT}) AS u"  # p: each unit once in each of its groups
MASKED = 62  # so many groups fit the bits of a mask
KeyValues = tuple[tuple[Value | None, ...], ...]  # the public groups, each a tuple with one value for each key


@final
@frozen
class Source:
    """The rows of a question: its relation and keys, kept to the public groups where these are known.

    With `other` no row is left out: the one key is then a group's place among the public ones, or the place after them all, so that rows of
    other groups are together before anything is bounded or rounded.
    """

    relation: Relation
    keys: Named
    groups: KeyValues | None
    dialect: Dialect
    other: bool = False

    @property
    def key_names(self) -> list[str]:
        return ["k0"] if self.other else [f"k{i}" for i in range(len(self.keys))]

    @property
    def cells(self) -> KeyValues | None:
        """The groups as rows have them."""
        return tuple((i,) for i in range(len(self.groups or ()) + 1)) if self.other else self.groups

    def rows(self, values: Sequence[tuple[str, str]], condition: str | None = None) -> str:
        """SELECT unit, keys, values; `values` are pairs of name and text over the relation's columns."""
        schema, dialect = self.relation.schema, self.dialect
        keys = [write_expr(expr, schema, dialect) for _, expr in self.keys]
        inside = f"({write_relation(self.relation, dialect)}) AS t"
        if self.other:
            keys, inside = self._places(keys, inside)
        shown = [UNIT] if self.relation.has_id else []
        shown += [f"{key} AS {name}" for name, key in zip(self.key_names, keys, strict=True)]
        shown += [f"{text} AS {name}" for name, text in values]
        kept = [*self._within_groups(), *([condition] if condition else [])]
        where = f" WHERE {' AND '.join(kept)}" if kept else ""
        return f"SELECT {', '.join(shown)} FROM {inside}{where}"

    def _places(self, keys: list[str], inside: str) -> tuple[list[str], str]:
        count = len(self.groups or ())
        if not self.groups:
            return ["0"], inside
        names = [f"__k{i}" for i in range(len(keys))]
        same = " AND ".join(f"{key} IS NOT DISTINCT FROM g.{name}" for key, name in zip(keys, names, strict=True))
        return [
            f"COALESCE(g.__place, {count})"
        ], f"{inside} LEFT JOIN {_values(self.groups, names, '__place', range(count), self.dialect)} ON {same}"

    def _within_groups(self) -> list[str]:
        """Keep each key to its public values, so that rows outside do not use up a unit's contribution."""
        if self.groups is None or self.other or self.relation.one_row:
            return []  # with one row for each unit nothing is used up: rows outside are left out when they are counted
        kept = []
        for place, (_, expr) in enumerate(self.keys):
            text = write_expr(expr, self.relation.schema, self.dialect)
            seen = dict.fromkeys(group[place] for group in self.groups)
            listed = ", ".join(self.dialect.literal(value) for value in seen if value is not None)
            tests = ([f"{text} IN ({listed})"] if listed else []) + ([f"{text} IS NULL"] if None in seen else [])
            kept.append(f"({' OR '.join(tests)})" if tests else "FALSE")  # no group was found
        return kept

    def transported(self, prefix: str = "") -> list[str]:
        """The keys as they leave the engine: dates and times as text, for not every engine's calendar fits ours."""
        if self.other:
            return [f"{prefix}k0 AS k0"]
        shown = []
        for name, (_, expr) in zip(self.key_names, self.keys, strict=True):
            kind = field_of(expr, self.relation.schema).kind
            text = f"{prefix}{name}"
            shown.append(
                f"CAST({text} AS {self.dialect.type_name(Kind.TEXT)}) AS {name}"
                if kind in (Kind.DATE, Kind.TIMESTAMP)
                else f"{text} AS {name}"
            )
        return shown


def _values(groups: KeyValues, names: Sequence[str], extra: str, numbers: Sequence[int], dialect: Dialect) -> str:
    """The groups as a table g, each with a number of its own."""
    listed = ", ".join(f"({_listed([dialect.literal(key) for key in group], [str(n)])})" for group, n in zip(groups, numbers, strict=True))
    return f"(VALUES {listed}) AS g({_listed(names, [extra])})"


def _group_by(names: Sequence[str]) -> str:
    return f" GROUP BY {', '.join(names)}" if names else ""


def _listed(*parts: Sequence[str]) -> str:
    return ", ".join(text for part in parts for text in part)


def write_totals(source: Source, stats: Sequence[tuple[Stat, Scaled]], bounding: Bounding) -> str:
    """One row for each group that occurs: its keys, and each stat's total."""
    dialect, schema, keys = source.dialect, source.relation.schema, source.key_names
    names = [f"s{i}" for i in range(len(stats))]
    rows = source.rows([(name, stat.write(schema, dialect)) for name, (stat, _) in zip(names, stats, strict=True)])
    shifts = [scaled.bits for _, scaled in stats]

    def totals(texts: Sequence[str]) -> list[str]:
        return [f"{dialect.shifted(f'SUM({text})', bits)} AS {name}" for text, bits, name in zip(texts, shifts, names, strict=True)]

    match bounding:
        case Single():
            return f"SELECT {_listed(source.transported(), totals(names))} FROM ({rows}) AS r{_group_by(keys)}"
        case Rows():
            weighted = _rows_weighted(rows, bounding, [*keys, *names], dialect)
            return f"SELECT {_listed(source.transported(), totals([f'{name} * w' for name in names]))} FROM {weighted}{_group_by(keys)}"
        case Groups():
            few = source.cells is not None and 0 < len(source.cells) <= MASKED and bool(keys)
            weighted = _few_groups(source, rows, bounding, names) if few else _pairs_weighted(rows, bounding, keys, names, dialect)
            return f"SELECT {_listed(source.transported(), totals(names))} FROM {weighted}{_group_by(keys)}"
        case _:
            assert_never(bounding)


def _rows_weighted(rows: str, bounding: Rows, columns: Sequence[str], dialect: Dialect) -> str:
    weight = (
        f"CASE WHEN u.n <= {bounding.rows} THEN {bounding.one} ELSE {dialect.floor_divide(str(bounding.one * bounding.rows), 'u.n')} END"
    )
    shown = _listed([f"r.{name} AS {name}" for name in columns], [f"{weight} AS w"])
    units = f"(SELECT {UNIT}, COUNT(*) AS n FROM __r GROUP BY {UNIT}) AS u"
    return f"(WITH __r AS {dialect.inline}({rows}) SELECT {shown} FROM __r AS r JOIN {units} ON r.{UNIT} = u.{UNIT}) AS q"


def _pairs_weighted(rows: str, bounding: Groups, keys: Sequence[str], names: Sequence[str], dialect: Dialect) -> str:
    """Each unit's sums in each of its groups, weighted."""
    sums = [f"CAST(SUM({name}) AS BIGINT) AS {name}" for name in names]
    pairs = f"SELECT {_listed([UNIT], keys, ['COUNT(*) AS c'], sums)} FROM ({rows}) AS r GROUP BY {_listed([UNIT], keys)}"
    weight = _pair_weight(bounding, "p.c", "u.m", dialect)
    shown = _listed([f"p.{key} AS {key}" for key in keys], [f"p.{name} * {weight} AS {name}" for name in names])
    return f"(WITH __p AS ({pairs}) SELECT {shown} FROM __p AS p JOIN {_GROUPS_OF} ON p.{UNIT} = u.{UNIT}) AS q"


def _few_groups(source: Source, rows: str, bounding: Groups, names: Sequence[str]) -> str:
    """The same for a few public groups, about twice as fast: a unit's groups are bits of a mask.

    A unit with n rows in m groups has at most n − m + 1 in any. If that is within per_group, its rows can be weighted as they are, by what
    m says alone; only the others' rows are summed by group first. The weights are the same to the last bit.
    """
    dialect, keys = source.dialect, source.key_names
    assert source.cells is not None
    masks = _values(source.cells, keys, "b", [2**i for i in range(len(source.cells))], dialect)
    same = " AND ".join(f"r.{key} IS NOT DISTINCT FROM g.{key}" for key in keys)
    units = (
        f"SELECT {UNIT}, COUNT(*) AS n, {dialect.bits_set('b')} AS m FROM ({source.rows([])}) AS r JOIN {masks} ON {same} GROUP BY {UNIT}"
    )
    columns = [f"r.{name} AS {name}" for name in keys]
    weight = _pair_weight(bounding, str(bounding.per_group), "m", dialect)
    light = (
        f"SELECT {_listed(columns, [f'r.{name} * u.w AS {name}' for name in names])} FROM ({rows}) AS r "
        f"JOIN (SELECT {UNIT}, {weight} AS w FROM __u WHERE n - m < {bounding.per_group}) AS u ON r.{UNIT} = u.{UNIT}"
    )
    sums = [f"CAST(SUM(r.{name}) AS BIGINT) AS {name}" for name in names]
    pairs = (
        f"SELECT {_listed(columns, ['COUNT(*) AS c', 'MAX(u.m) AS m'], sums)} FROM ({rows}) AS r JOIN (SELECT {UNIT}, m FROM __u "
        f"WHERE n - m >= {bounding.per_group}) AS u ON r.{UNIT} = u.{UNIT} GROUP BY {_listed([f'r.{UNIT}'], [f'r.{key}' for key in keys])}"
    )
    weight = _pair_weight(bounding, "c", "m", dialect)
    heavy = f"SELECT {_listed(keys, [f'{name} * {weight} AS {name}' for name in names])} FROM ({pairs}) AS p"
    return f"(WITH __u AS MATERIALIZED ({units}) {light} UNION ALL {heavy}) AS q"


def _pair_weight(bounding: Groups, rows: str, groups: str, dialect: Dialect) -> str:
    """⌊one·(per_group/c)·(groups/m)⌋ in whole numbers; with a root, the root of the square of that."""
    c = f"CASE WHEN {rows} > {bounding.per_group} THEN {rows} ELSE {bounding.per_group} END"
    m = f"CASE WHEN {groups} > {bounding.limit} THEN {groups} ELSE {bounding.limit} END"
    if not bounding.euclidean:
        return dialect.floor_divide(str(bounding.one * bounding.per_group * bounding.limit), f"(({c}) * ({m}))")
    spread = dialect.isqrt(dialect.floor_divide(str(bounding.one**2 * bounding.limit), f"({m})"))
    return dialect.floor_divide(f"(({spread}) * {bounding.per_group})", f"({c})")


def write_weights(source: Source, value: str, bounding: Bounding, condition: str) -> str:
    """For each group and value: the weight of its rows; rows on which the condition fails are left out before they are bounded."""
    dialect, keys = source.dialect, source.key_names
    rows = source.rows([("v", value)], condition)
    match bounding:
        case Single():
            inside, weight = f"({rows}) AS r", "COUNT(*)"
        case Rows():
            inside, weight = _rows_weighted(rows, bounding, [*keys, "v"], dialect), "SUM(w)"
        case Groups():
            inside, weight = _groups_weighted(rows, bounding, [*keys, "v"], keys, dialect), "SUM(w)"
        case _:
            assert_never(bounding)
    return (
        f"SELECT {_listed(source.transported(), ['v', f'{dialect.shifted(weight, 0)} AS w'])} FROM {inside} GROUP BY {_listed(keys, ['v'])}"
    )


def _groups_weighted(rows: str, bounding: Groups, columns: Sequence[str], keys: Sequence[str], dialect: Dialect) -> str:
    same = " AND ".join([f"r.{UNIT} = p.{UNIT}", *(f"r.{key} IS NOT DISTINCT FROM p.{key}" for key in keys)])
    pairs = f"SELECT {_listed([UNIT], keys, ['COUNT(*) AS c'])} FROM __r GROUP BY {_listed([UNIT], keys)}"
    shown = _listed([f"r.{name} AS {name}" for name in columns], [f"{_pair_weight(bounding, 'p.c', 'u.m', dialect)} AS w"])
    joined = f"__r AS r JOIN __p AS p ON {same} JOIN {_GROUPS_OF} ON p.{UNIT} = u.{UNIT}"
    return f"(WITH __r AS ({rows}), __p AS ({pairs}) SELECT {shown} FROM {joined}) AS q"


def write_units(source: Source, bounding: Groups, bits: int) -> str:
    """How many units are in each group, each weighing groups/m."""
    keys, dialect = source.key_names, source.dialect
    pairs = f"SELECT {_listed([UNIT], keys)} FROM ({source.rows([])}) AS r GROUP BY {_listed([UNIT], keys)}"
    if not keys:
        return f"WITH __p AS ({pairs}) SELECT {dialect.shifted(f'COUNT(*) * {bounding.one}', 0)} AS s0 FROM __p"
    m = f"CASE WHEN u.m > {bounding.limit} THEN u.m ELSE {bounding.limit} END"
    if bounding.euclidean:
        weight = dialect.isqrt(dialect.floor_divide(str(bounding.one**2 * bounding.limit), f"({m})"))
    else:
        weight = dialect.floor_divide(str(bounding.one * bounding.limit), f"({m})")
    total = dialect.shifted(f"SUM({weight})", bits)
    return (
        f"WITH __p AS ({pairs}) SELECT {_listed(source.transported('p.'), [f'{total} AS s0'])} "
        f"FROM __p AS p JOIN {_GROUPS_OF} ON p.{UNIT} = u.{UNIT} GROUP BY {_listed([f'p.{key}' for key in keys])}"
    )


def write_capped(source: Source, value: Expr | None, most: int, salt: str, root: int | None = None) -> str:
    """Each unit's first `most` groups in a keyed order, then how many units (or with `value` different values) each group has.

    With `root`, each unit spreads ⌊root/√t⌋ over its t groups instead of 1.
    """
    keys, dialect, schema = source.key_names, source.dialect, source.relation.schema
    values = [("v", write_expr(value, schema, dialect))] if value is not None else []
    condition = None if value is None else f"{write_expr(value, schema, dialect)} IS NOT NULL"
    parts = [*keys, *(name for name, _ in values)]
    rows = source.rows(values, condition)
    if not source.relation.has_id:  # each row is a unit, in one group
        weight = "COUNT(DISTINCT v)" if values else "COUNT(*)" if root is None else f"COUNT(*) * {root}"
        return f"SELECT {_listed(source.transported(), [f'{dialect.shifted(weight, 0)} AS s0'])} FROM ({rows}) AS r{_group_by(keys)}"
    pairs = f"SELECT {_listed([UNIT], parts)} FROM ({rows}) AS r GROUP BY {_listed([UNIT], parts)}"
    order = _listed([dialect.hash_order([UNIT, *parts], salt)], parts)
    ranked = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY {UNIT} ORDER BY {order}) AS n FROM ({pairs}) AS p"
    kept = f"SELECT * FROM ({ranked}) AS q WHERE n <= {most}"
    if root is not None:
        spread = dialect.isqrt(dialect.floor_divide(str(root**2), "m"))
        kept = f"SELECT *, COUNT(*) OVER (PARTITION BY {UNIT}) AS m FROM ({kept}) AS q"
        total = f"SUM({spread})"
    else:
        total = "COUNT(DISTINCT v)" if values else "COUNT(*)"
    return f"SELECT {_listed(source.transported(), [f'{dialect.shifted(total, 0)} AS s0'])} FROM ({kept}) AS k{_group_by(keys)}"


def write_per_unit(source: Source, values: Sequence[tuple[str, str]], aggregate: str, pairs: bool = False) -> str:
    """How many units have each value, where each unit has one: an aggregate of its own rows (with `pairs`, of its c rows in each group)."""
    rows = source.rows(values)
    if not source.relation.has_id:
        return _each_row(rows, values)  # a row's largest value is its value
    if pairs:
        rows = f"SELECT {UNIT}, COUNT(*) AS c FROM ({rows}) AS r GROUP BY {_listed([UNIT], source.key_names)}"
    return f"SELECT v, COUNT(*) AS w FROM (SELECT {aggregate} AS v FROM ({rows}) AS r GROUP BY {UNIT}) AS q WHERE v IS NOT NULL GROUP BY v"


def _each_row(rows: str, values: Sequence[tuple[str, str]]) -> str:
    name = values[0][0]
    return f"SELECT {name} AS v, COUNT(*) AS w FROM ({rows}) AS r WHERE {name} IS NOT NULL GROUP BY {name}"
