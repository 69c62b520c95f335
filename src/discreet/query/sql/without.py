"""Write a question anew without some of its statistics, as SQL to copy."""

from __future__ import annotations

from collections.abc import Collection

from sqlglot import exp

from discreet.errors import Error
from discreet.query.question import Question
from discreet.query.relation.expr import columns_of
from discreet.query.sql.read import read
from discreet.query.sql.refuse import closed
from discreet.query.sql.tokens import parse
from discreet.tables.catalog import Catalog


def without(text: str, question: Question, dropped: Collection[str], catalog: Catalog) -> str | None:
    """The text of a question without the outputs that use these statistics; None if nothing is left, or more than outputs would change.

    What is written is read again, and must be the same question but for these statistics: positions as in ORDER BY 2 may have moved.
    """
    kept = [place for place, (_, expr) in enumerate(question.outputs) if not columns_of(expr) & set(dropped)]
    names = {name for name, _ in question.statistics}
    if question.windows or not any(columns_of(question.outputs[place][1]) & names for place in kept):
        return None
    try:
        written = closed(lambda: _written(text, kept, len(question.outputs)))
        again = None if written is None else read(written, catalog)
    except Error:
        return None
    if again is None or again.outputs != tuple(question.outputs[place] for place in kept):
        return None
    parts = [(one.relation, one.keys, one.having, one.order, one.limit) for one in (question, again)]
    left = [(name, statistic) for name, statistic in question.statistics if name not in dropped]
    return written if parts[0] == parts[1] and list(again.statistics) == left else None


def _written(text: str, kept: list[int], outputs: int) -> str | None:
    statement = parse(text, "duckdb")
    tree = statement.tree
    if not isinstance(tree, exp.Select) or statement.options is not None or len(tree.expressions) != outputs:
        return None
    found = tree.copy()
    found.set("expressions", [found.expressions[place] for place in kept])
    return str(found.sql("duckdb"))
