"""Format generated SQL for reading: a line for each clause, an indentation step for each subquery."""

from __future__ import annotations

import re

_STEP = "  "
_PIECES = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"        # literals and names, whatever they contain
    | \((?=SELECT\b|WITH\b) | [()]
    | \b(?:FROM|WHERE|GROUP\ BY|ORDER\ BY|UNION\ ALL|JOIN)\b
    | [^'"()A-Z]+ | [A-Z]\w* | .""",
    re.X | re.S,
)
_CLAUSES = {"FROM", "WHERE", "GROUP BY", "UNION ALL", "JOIN"}


def laid_out(sql: str) -> str:
    """The same text, with other whitespace outside of quotes.

    >>> print(laid_out("SELECT k, SUM(n) AS s FROM (SELECT k, 1 AS n FROM t WHERE x = ' FROM (SELECT') AS r GROUP BY k"))
    SELECT k, SUM(n) AS s
    FROM (
      SELECT k, 1 AS n
      FROM t
      WHERE x = ' FROM (SELECT') AS r
    GROUP BY k
    """
    inside: list[bool] = []  # for each open bracket, whether it holds a subquery
    out: list[str] = []
    for piece in _PIECES.finditer(sql):
        text = piece.group()
        if text == "(":
            nested = sql.startswith(("SELECT", "WITH"), piece.end())
            inside.append(nested)
            out.append("(\n" + _STEP * sum(inside) if nested else "(")
        elif text == ")":
            if inside:
                inside.pop()
            out.append(")")
        elif text in _CLAUSES and (not inside or inside[-1]):
            out.append("\n" + _STEP * sum(inside) + text)
        else:
            out.append(text)
    return re.sub(r" +\n", "\n", "".join(out))
