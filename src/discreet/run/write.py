"""The SQL of each step: rows with their keys and values, their weights, and totals as whole numbers.

Nothing here is ordered, sampled or summed in floats, so the totals are the same in any row order and on any engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from discreet.engines.dialect import Dialect
from discreet.errors import Refused
from discreet.plan.bounding import Bounding, Groups, Rows, Single, Votes
from discreet.plan.scaling import Scaled
from discreet.query.relation.expr import Expr, field_of
from discreet.query.relation.write import UNIT
from discreet.query.totals import Total
from discreet.run.source import Source, numbered_groups
from discreet.run.statement import Statement
from discreet.run.values import write_value

_GROUPS_OF = f"(SELECT {UNIT}, COUNT(*) AS m FROM __p GROUP BY {UNIT}) AS u"  # p: each unit once in each of its groups
MASKED = 62  # the most groups that fit the bits of a mask


def _group_by(names: Sequence[str]) -> str:
    return f" GROUP BY {', '.join(names)}" if names else ""


def _listed(*parts: Sequence[str]) -> str:
    return ", ".join(text for part in parts for text in part)


def write_totals(source: Source, totals: Sequence[tuple[Total, Scaled]], bounding: Bounding) -> Statement:
    """One row for each group that occurs: its keys, and its totals."""
    dialect, schema, keys = source.dialect, source.relation.schema, source.key_names
    names = [f"s{i}" for i in range(len(totals))]
    exprs = {expr: f"__e{i}" for i, expr in enumerate(dict.fromkeys(expr for total, _ in totals for expr in total.exprs))}
    values = [(name, write_value(total, exprs, schema, dialect)) for name, (total, _) in zip(names, totals, strict=True)]
    rows = source.rows([(name, expr) for expr, name in exprs.items()], values)
    few = source.cells is not None and 0 < len(source.cells) <= MASKED and bool(keys)
    match bounding:
        case Single():
            inside, shuffles, times = f"({rows}) AS r", 0, 1
        case Rows():
            inside, shuffles, times = _rows_weighted(rows, bounding, keys, [(name, f"r.{name} * ") for name in names], dialect), 2, 2
        case Groups() if few:
            inside, shuffles, times = _few_groups(source, rows, bounding, names), 4, 3
        case Groups():
            inside, shuffles, times = _pairs_weighted(rows, bounding, keys, names, dialect), 3, 1
        case _:
            assert_never(bounding)
    sums = []
    for (name, value), (total, scaled) in zip(values, totals, strict=True):
        summand = "1" if value == "1" and isinstance(bounding, Single) else name  # rows that have no weight are counted
        sums.append(f"{dialect.shifted(dialect.total(summand, total.most * bounding.heaviest), scaled.bits)} AS {name}")
    text = f"SELECT {_listed(source.transported(), sums)} FROM {inside}{_group_by(keys)}"
    return Statement.of(source, text, shuffles + 1, times)


def _row_weight(bounding: Rows, dialect: Dialect) -> str:
    """min(one, ⌊one·rows/n⌋)."""
    return f"CASE WHEN u.n <= {bounding.rows} THEN {bounding.one} ELSE {dialect.floor_divide(str(bounding.one * bounding.rows), 'u.n')} END"


def _rows_weighted(rows: str, bounding: Rows, kept: Sequence[str], weighed: Sequence[tuple[str, str]], dialect: Dialect) -> str:
    """Every row with its weight, from the number of its unit's rows; `weighed` columns begin with the factor of the weight.

    Two forms with the same integers: join rows with the counts of all units, or only of those beyond the limit, from sorted units.
    """
    if dialect.joins_all:
        weight = f"({_row_weight(bounding, dialect)})"
        word, units, few = "JOIN", f"SELECT {UNIT}, COUNT(*) AS n FROM __r GROUP BY {UNIT}", ""
    else:
        weight = f"COALESCE(u.w, {bounding.one})"
        each = dialect.floor_divide(str(bounding.one * bounding.rows), "COUNT(*)")
        beyond = f"GROUP BY {UNIT} HAVING COUNT(*) > {bounding.rows}"
        word, units = "LEFT JOIN", f"SELECT {UNIT}, {each} AS w FROM (SELECT {UNIT} FROM __r ORDER BY {UNIT}) AS o {beyond}"
        few = dialect.small
    shown = _listed([f"r.{name} AS {name}" for name in kept], [f"{times}{weight} AS {name}" for name, times in weighed])
    return f"(WITH __r AS {dialect.inline}({rows}) SELECT {few}{shown} FROM __r AS r {word} ({units}) AS u ON r.{UNIT} = u.{UNIT}) AS q"


def _pairs_weighted(rows: str, bounding: Groups, keys: Sequence[str], names: Sequence[str], dialect: Dialect) -> str:
    """Each unit's sums in each of its groups, weighted."""
    sums = [f"{dialect.whole(f'SUM({name})')} AS {name}" for name in names]
    pairs = f"SELECT {_listed([UNIT], keys, ['COUNT(*) AS c'], sums)} FROM ({rows}) AS r GROUP BY {_listed([UNIT], keys)}"
    weight = _pair_weight(bounding, "p.c", "u.m", dialect)
    shown = _listed([f"p.{key} AS {key}" for key in keys], [f"p.{name} * {weight} AS {name}" for name in names])
    return f"(WITH __p AS ({pairs}) SELECT {shown} FROM __p AS p JOIN {_GROUPS_OF} ON p.{UNIT} = u.{UNIT}) AS q"


def _few_groups(source: Source, rows: str, bounding: Groups, names: Sequence[str]) -> str:
    """The same for a few public groups, about twice as fast: a unit's groups are bits of a mask.

    A unit with n rows in m groups has at most n − m + 1 in any. If that is within per_group, its rows can be weighted as they are, from
    m alone; only the rows of other units are summed by group first. The weights are identical.
    """
    dialect, keys = source.dialect, source.key_names
    assert source.cells is not None
    masks = numbered_groups(source.cells, keys, source.key_kinds, "b", [2**i for i in range(len(source.cells))], dialect)
    same = " AND ".join(dialect.same(f"r.{key}", f"g.{key}", kind) for key, kind in zip(keys, source.key_kinds, strict=True))
    units = f"SELECT {UNIT}, COUNT(*) AS n, {dialect.bits_set('b')} AS m FROM ({source.rows()}) AS r JOIN {masks} ON {same} GROUP BY {UNIT}"
    columns = [f"r.{name} AS {name}" for name in keys]
    weight = _pair_weight(bounding, str(bounding.per_group), "m", dialect)
    light = (
        f"SELECT {_listed(columns, [f'r.{name} * u.w AS {name}' for name in names])} FROM ({rows}) AS r "
        f"JOIN (SELECT {UNIT}, {weight} AS w FROM __u WHERE n - m < {bounding.per_group}) AS u ON r.{UNIT} = u.{UNIT}"
    )
    sums = [f"{dialect.whole(f'SUM(r.{name})')} AS {name}" for name in names]
    pairs = (
        f"SELECT {_listed(columns, ['COUNT(*) AS c', 'MAX(u.m) AS m'], sums)} FROM ({rows}) AS r JOIN (SELECT {UNIT}, m FROM __u "
        f"WHERE n - m >= {bounding.per_group}) AS u ON r.{UNIT} = u.{UNIT} GROUP BY {_listed([f'r.{UNIT}'], [f'r.{key}' for key in keys])}"
    )
    weight = _pair_weight(bounding, "c", "m", dialect)
    heavy = f"SELECT {_listed(keys, [f'{name} * {weight} AS {name}' for name in names])} FROM ({pairs}) AS p"
    return f"(WITH __u AS {dialect.once}({units}) {light} UNION ALL {heavy}) AS q"


def _pair_weight(bounding: Groups, rows: str, groups: str, dialect: Dialect) -> str:
    """⌊one·(per_group/c)·(groups/m)⌋ in whole numbers; with a root, the root of the square of that."""
    c = f"CASE WHEN {rows} > {bounding.per_group} THEN {rows} ELSE {bounding.per_group} END"
    m = f"CASE WHEN {groups} > {bounding.limit} THEN {groups} ELSE {bounding.limit} END"
    if not bounding.euclidean:
        return dialect.floor_divide(str(bounding.one * bounding.per_group * bounding.limit), f"(({c}) * ({m}))")
    spread = dialect.isqrt(dialect.floor_divide(str(bounding.one**2 * bounding.limit), f"({m})"))
    return dialect.floor_divide(f"(({spread}) * {bounding.per_group})", f"({c})")


def write_weights(source: Source, expr: Expr, value: str, bounding: Bounding) -> Statement:
    """For each group and value, a text over the expression's column __e0: the weight of its rows; those with NULL are left out before."""
    dialect, keys = source.dialect, source.key_names
    rows = source.rows([("__e0", expr)], [("v", value)], "__e0 IS NOT NULL")
    weight = dialect.total("w", bounding.one)
    match bounding:
        case Single():
            inside, weight, shuffles, times = f"({rows}) AS r", "COUNT(*)", 0, 1
        case Rows():
            inside, shuffles, times = _rows_weighted(rows, bounding, [*keys, "v"], [("w", "")], dialect), 2, 2
        case Groups():
            inside, shuffles, times = _groups_weighted(rows, bounding, [*keys, "v"], keys, dialect), 4, 2
        case _:
            assert_never(bounding)
    shown = _listed(source.transported(), ["v", f"{dialect.shifted(weight, 0)} AS w"])
    return Statement.of(source, f"SELECT {shown} FROM {inside} GROUP BY {_listed(keys, ['v'])}", shuffles + 1, times)


def _groups_weighted(rows: str, bounding: Groups, columns: Sequence[str], keys: Sequence[str], dialect: Dialect) -> str:
    same = " AND ".join([f"r.{UNIT} = p.{UNIT}", *(f"r.{key} IS NOT DISTINCT FROM p.{key}" for key in keys)])
    pairs = f"SELECT {_listed([UNIT], keys, ['COUNT(*) AS c'])} FROM __r GROUP BY {_listed([UNIT], keys)}"
    shown = _listed([f"r.{name} AS {name}" for name in columns], [f"{_pair_weight(bounding, 'p.c', 'u.m', dialect)} AS w"])
    joined = f"__r AS r JOIN __p AS p ON {same} JOIN {_GROUPS_OF} ON p.{UNIT} = u.{UNIT}"
    return f"(WITH __r AS ({rows}), __p AS ({pairs}) SELECT {shown} FROM {joined}) AS q"


def write_votes(source: Source, expr: Expr, value: str, votes: Votes) -> Statement:
    """For each group and value, a text over the expression's column __e0: the votes of units, each once for each of its values."""
    dialect, keys = source.dialect, source.key_names
    rows = source.rows([("__e0", expr)], [("v", value)], "__e0 IS NOT NULL")
    ballots = f"SELECT {_listed([UNIT], keys, ['v'])} FROM ({rows}) AS r GROUP BY {_listed([UNIT], keys, ['v'])}"
    if not keys:
        return Statement.of(source, f"SELECT v, {dialect.shifted('COUNT(*)', 0)} AS w FROM ({ballots}) AS b GROUP BY v", 2)
    pairs = f"SELECT {_listed([UNIT], keys)} FROM __b GROUP BY {_listed([UNIT], keys)}"
    total = dialect.shifted(dialect.total(_group_weight(votes.limit, votes.one, dialect), votes.one), 0)
    text = (
        f"WITH __b AS ({ballots}), __p AS ({pairs}) SELECT {_listed(source.transported('b.'), [f'b.v AS v, {total} AS w'])} "
        f"FROM __b AS b JOIN {_GROUPS_OF} ON b.{UNIT} = u.{UNIT} GROUP BY {_listed([f'b.{key}' for key in keys], ['b.v'])}"
    )
    return Statement.of(source, text, 5)


def _group_weight(limit: int, one: int, dialect: Dialect) -> str:
    """min(one, ⌊one·groups/m⌋), for a unit in m groups."""
    return dialect.floor_divide(str(one * limit), f"(CASE WHEN u.m > {limit} THEN u.m ELSE {limit} END)")


def write_marginals(source: Source, cliques: Sequence[tuple[int, ...]], bounding: Bounding) -> Statement:
    """How many rows, weighted, each cell of several marginals has: a code for each key of the marginal, and −1 for the others.

    Keys are whole numbers from 0 and never NULL. All marginals are counted in one scan.
    """
    dialect, keys = source.dialect, source.key_names
    # a negative or missing code would look like a key outside the marginal, and its row would be counted in a second marginal
    sound = _listed([UNIT] if source.relation.has_id else [], [f"GREATEST(COALESCE({key}, 0), 0) AS {key}" for key in keys])
    rows = f"SELECT {sound} FROM ({source.rows()}) AS c"
    match bounding:
        case Single():
            inside, weight, shuffles, times = f"({rows}) AS r", "COUNT(*)", 0, 1
        case Rows():
            inside, shuffles, times = _rows_weighted(rows, bounding, keys, [("w", "")], dialect), 2, 2
            weight = dialect.total("w", bounding.one)
        case _:
            raise Refused("a synthetic table bounds a unit by its rows: contributions={'rows': …}")
    sets = ", ".join(f"({', '.join(keys[i] for i in clique)})" for clique in cliques)
    used = {i for clique in cliques for i in clique}
    codes = [f"{f'COALESCE({key}, -1)' if i in used else '-1'} AS {key}" for i, key in enumerate(keys)]
    shown = _listed(codes, [f"{dialect.shifted(weight, 0)} AS s0"])
    return Statement.of(source, f"SELECT {shown} FROM {inside} GROUP BY GROUPING SETS ({sets})", shuffles + 1, times)


def write_units(source: Source, when: Expr | None, bounding: Groups, bits: int) -> Statement:
    """How many units are in each group (with a row in which `when` is not NULL), each weighing groups/m."""
    keys, dialect = source.key_names, source.dialect
    rows = source.rows() if when is None else source.rows([("v", when)], [], "v IS NOT NULL")
    pairs = f"SELECT {_listed([UNIT], keys)} FROM ({rows}) AS r GROUP BY {_listed([UNIT], keys)}"
    if not keys:
        text = f"WITH __p AS ({pairs}) SELECT {dialect.shifted(f'COUNT(*) * {bounding.one}', 0)} AS s0 FROM __p"
        return Statement.of(source, text, 1)
    if bounding.euclidean:
        m = f"CASE WHEN u.m > {bounding.limit} THEN u.m ELSE {bounding.limit} END"
        weight = dialect.isqrt(dialect.floor_divide(str(bounding.one**2 * bounding.limit), f"({m})"))
    else:
        weight = _group_weight(bounding.limit, bounding.one, dialect)
    total = dialect.shifted(dialect.total(weight, bounding.one), bits)
    text = (
        f"WITH __p AS ({pairs}) SELECT {_listed(source.transported('p.'), [f'{total} AS s0'])} "
        f"FROM __p AS p JOIN {_GROUPS_OF} ON p.{UNIT} = u.{UNIT} GROUP BY {_listed([f'p.{key}' for key in keys])}"
    )
    return Statement.of(source, text, 4)


def write_capped(source: Source, value: Expr | None, most: int, salt: str, root: int | None = None) -> Statement:
    """Each unit's first `most` groups in a keyed order, then how many units (or with `value` different values) each group has.

    With `root`, each unit spreads ⌊root/√t⌋ over its t groups instead of 1.
    """
    keys, dialect, schema = source.key_names, source.dialect, source.relation.schema
    values = [] if value is None else ["v"]
    parts = [*keys, *values]
    rows = source.rows() if value is None else source.rows([("v", value)], [("v", "v")], "v IS NOT NULL")
    if not source.relation.has_id:  # each row is a unit, in one group
        weight = "COUNT(DISTINCT v)" if values else "COUNT(*)" if root is None else f"COUNT(*) * {root}"
        text = f"SELECT {_listed(source.transported(), [f'{dialect.shifted(weight, 0)} AS s0'])} FROM ({rows}) AS r{_group_by(keys)}"
        return Statement.of(source, text, 1)
    pairs = f"SELECT {_listed([UNIT], parts)} FROM ({rows}) AS r GROUP BY {_listed([UNIT], parts)}"
    kinds = [*source.key_kinds, *([] if value is None else [field_of(value, schema).kind])]
    ties = [f"{part} NULLS FIRST" for part in parts]  # engines differ in where they sort NULL
    order = _listed([dialect.hash_order([(UNIT, None), *zip(parts, kinds, strict=True)], salt)], ties)
    ranked = f"SELECT *, ROW_NUMBER() OVER (PARTITION BY {UNIT} ORDER BY {order}) AS n FROM ({pairs}) AS p"
    kept = f"SELECT * FROM ({ranked}) AS q WHERE n <= {most}"
    if root is not None:
        spread = dialect.isqrt(dialect.floor_divide(str(root**2), "m"))
        kept = f"SELECT *, COUNT(*) OVER (PARTITION BY {UNIT}) AS m FROM ({kept}) AS q"
        total = dialect.total(spread, root)
    else:
        total = "COUNT(DISTINCT v)" if values else "COUNT(*)"
    text = f"SELECT {_listed(source.transported(), [f'{dialect.shifted(total, 0)} AS s0'])} FROM ({kept}) AS k{_group_by(keys)}"
    return Statement.of(source, text, 3)


def write_per_unit(source: Source, aggregate: str, expr: Expr | None = None, value: str = "", pairs: bool = False) -> Statement:
    """How many units have each value, where each unit has one: an aggregate of its own rows (with `pairs`, of its c rows in each group).

    With an expression, x is a value over its column __e0.
    """
    rows = source.rows() if expr is None else source.rows([("__e0", expr)], [("x", value)])
    if not source.relation.has_id:  # a row's largest value is its value
        return Statement.of(source, f"SELECT x AS v, COUNT(*) AS w FROM ({rows}) AS r WHERE x IS NOT NULL GROUP BY x", 1)
    if pairs:
        rows = f"SELECT {UNIT}, COUNT(*) AS c FROM ({rows}) AS r GROUP BY {_listed([UNIT], source.key_names)}"
    text = f"SELECT v, COUNT(*) AS w FROM (SELECT {aggregate} AS v FROM ({rows}) AS r GROUP BY {UNIT}) AS q WHERE v IS NOT NULL GROUP BY v"
    return Statement.of(source, text, 3 if pairs else 2)
