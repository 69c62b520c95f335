"""Tables for the tests of the SQL reader, and questions in one short line."""

from __future__ import annotations

from discreet.query.question import Question
from discreet.query.relation.expr import Call, Column, Expr, Literal
from discreet.query.relation.node import Join, Match, PerUnit, Relation, Scan, Select, Stack, Where
from discreet.query.statistics.average import Average
from discreet.query.statistics.correlation import Correlation
from discreet.query.statistics.count import Count
from discreet.query.statistics.count_distinct import CountDistinct
from discreet.query.statistics.count_units import CountUnits
from discreet.query.statistics.covar import Covar
from discreet.query.statistics.mode import Mode
from discreet.query.statistics.percentile import Percentile
from discreet.query.statistics.skewness import Skewness
from discreet.query.statistics.statistic import Statistic
from discreet.query.statistics.stddev import StandardDeviation
from discreet.query.statistics.sum import Sum
from discreet.query.statistics.variance import Variance
from discreet.tables.catalog import Catalog
from discreet.tables.column import ColumnMetadata as Declared
from discreet.tables.kind import Kind
from discreet.tables.table import Table
from discreet.tables.unit import EachRow, Link, Person

of = Declared.of
VISITS = Table(
    "visits",
    (
        of("person_id", Kind.INTEGER),
        of("site_id", Kind.INTEGER, bounds=(0, 9)),
        of("cost", Kind.REAL, bounds=(0, 500)),
        of("quantity", Kind.INTEGER, bounds=(1, 10), nullable=False),
        of("dept", Kind.TEXT, keys=("er", "icu", "lab")),
        of("day", Kind.DATE),
        of("seen", Kind.TIMESTAMP),
        of("urgent", Kind.BOOLEAN),
        of("open", Kind.REAL),
    ),
    Person("person_id"),
)
PERSONS = Table(
    "persons",
    (of("id", Kind.INTEGER), of("age", Kind.INTEGER, bounds=(0, 120)), of("sex", Kind.TEXT), of("name", Kind.TEXT)),
    Person("id"),
    one_row=True,
)
RX = Table("rx", (of("person_id", Kind.INTEGER), of("drug", Kind.TEXT), of("dose", Kind.REAL, bounds=(0, 10))), Person("person_id"))
SITES = Table("sites", (of("id", Kind.INTEGER, unique=True), of("region", Kind.TEXT), of("beds", Kind.INTEGER, bounds=(0, 900))))
REGIONS = Table("regions", (of("region", Kind.TEXT, unique=True), of("population", Kind.INTEGER, bounds=(1, 10**8))))
ORDERS = Table(
    "orders", (of("order_id", Kind.INTEGER), of("person_id", Kind.INTEGER), of("total", Kind.REAL, bounds=(0, 100))), Person("person_id")
)
ITEMS = Table(
    "items",
    (of("order_id", Kind.INTEGER), of("sku", Kind.TEXT), of("price", Kind.REAL, bounds=(0, 50))),
    Link("order_id", "orders", "order_id"),
)
PAYMENTS = Table(
    "payments", (of("order_id", Kind.INTEGER), of("amount", Kind.REAL, bounds=(0, 50))), Link("order_id", "orders", "order_id")
)
EVENTS = Table("events", (of("kind", Kind.TEXT), of("level", Kind.INTEGER, bounds=(0, 5))), EachRow())
MIXED = Table(
    "Mixed Case", (of("Id", Kind.INTEGER), of("a", Kind.INTEGER, bounds=(0, 5)), of("A", Kind.INTEGER, bounds=(0, 5))), Person("Id")
)

CATALOG = Catalog((VISITS, PERSONS, RX, SITES, REGIONS, ORDERS, ITEMS, PAYMENTS, EVENTS, MIXED))


def expression(expr: Expr) -> str:
    """An expression, shortly: f(a, 1)."""
    match expr:
        case Column(name):
            return name
        case Literal(value):
            return "NULL" if value is None else repr(value) if isinstance(value, str | bool) else str(value)
        case Call(function, arguments):
            return f"{function}({', '.join(map(expression, arguments))})"


def named(pairs: tuple[tuple[str, Expr], ...]) -> str:
    return ", ".join(name if expr == Column(name) else f"{name}={expression(expr)}" for name, expr in pairs)


def relation(node: Relation) -> str:
    """A relation, shortly: table[condition]{columns}."""
    match node:
        case Scan(table, links):
            return table.name + "".join(f"→{target.name}" for _, target in links)
        case Where(below, condition):
            return f"{relation(below)}[{expression(condition)}]"
        case Match(below, public, pairs, how, negated):
            listed = ", ".join(f"{expression(expr)}={column}" for expr, column in pairs)
            return f"{relation(below)}[{'not ' if negated else ''}{how} {relation(public)} on {listed}]"
        case Select(below, columns):
            return f"{relation(below)}{{{named(columns)}}}"
        case Join(left, right, on, kind):
            pairs = " ".join(f"{a}={b}" for a, b in on) or "unit"
            return f"({relation(left)} {'⋈' if kind == 'inner' else '⟕'} {relation(right)} on {pairs})"
        case Stack(inputs):
            return f"({' + '.join(map(relation, inputs))})"
        case PerUnit(below, units, keys, aggregates):
            found = ", ".join(f"{n}={w.function}({'' if w.expr is None else expression(w.expr)})" for n, w in aggregates)
            return f"{relation(below)}/({', '.join(units)}; {named(keys)}; {found})"


def statistic(asked: Statistic) -> str:
    """A statistic, shortly: its class, its arguments, and what its name fixed."""
    inside = [expression(expr) for expr in asked.exprs]
    inside += [str(asked.q)] if isinstance(asked, Percentile) else []
    inside += ["population"] if getattr(asked, "population", False) else []
    return f"{WORDS[type(asked)]}({', '.join(inside)})" if asked.exprs or not isinstance(asked, Count) else "count()"


WORDS = {
    Count: "count_of",
    CountUnits: "count_units",
    CountDistinct: "count_distinct",
    Sum: "sum",
    Average: "mean",
    Variance: "variance",
    StandardDeviation: "stddev",
    Percentile: "quantile",
    Mode: "mode",
    Correlation: "correlation",
    Covar: "covar",
    Skewness: "skewness",
}


def shown(question: Question) -> str:
    """A question in one line."""
    line = relation(question.relation)
    line += f" BY {named(question.keys)}" if question.keys else ""
    line += " ASK " + ", ".join(f"{name}={statistic(asked)}" for name, asked in question.statistics)
    plain = [*(name for name, _ in question.keys), *(name for name, _ in question.statistics)]
    if named(question.outputs) != ", ".join(plain):
        line += f" SHOW {named(question.outputs)}"
    for name, over in question.windows:
        inside = "" if over.argument is None else expression(over.argument)
        inside += f" by {', '.join(map(expression, over.partition))}" if over.partition else ""
        inside += " order " + ", ".join(expression(e) + (" desc" if down else "") for e, down in over.order) if over.order else ""
        line += f" OVER {name}={over.function}({inside.strip()})" + (f"{list(over.frame)}" if over.frame else "")
    line += "" if question.having is None else f" HAVING {expression(question.having)}"
    line += "" if not question.order else " ORDER " + ", ".join(expression(e) + (" desc" if down else "") for e, down in question.order)
    line += "" if question.limit is None else f" LIMIT {question.limit}"
    if question.contributions or question.epsilon is not None:
        bounds = question.contributions
        line += f" PRIVACY {question.epsilon} {question.delta} {bounds.rows} {bounds.groups} {bounds.per_group}"
    return line
