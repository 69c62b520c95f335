"""From text to one parsed statement: size limits, comments dropped, BigQuery's privacy clause cut out beforehand."""

from __future__ import annotations

import itertools
from typing import Any, final

from attrs import field, frozen
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError, TokenError
from sqlglot.tokens import Token, TokenType  # type: ignore[attr-defined]  # as its own documentation imports them

from discreet.errors import Refused
from discreet.sql.refuse import BOUNDED

LONGEST = 100_000  # characters
DEEPEST = 60  # nested parentheses
DIALECTS = ("duckdb", "postgres", "bigquery", "snowflake", "spark", "databricks", "redshift", "trino", "tsql")
_FIRST = {TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.L_PAREN}
_OPEN = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSE = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}


@final
@frozen
class Statement:
    """A parsed statement, and the privacy clause that was cut out of its SELECT."""

    tree: exp.Expr
    options: dict[str, exp.Expr] | None = field(default=None)


def parse(text: str, dialect: str) -> Statement:
    """Read one SELECT statement."""
    if dialect not in DIALECTS:
        raise Refused(f"SQL is read in these dialects: {', '.join(DIALECTS)}")
    if not isinstance(text, str) or len(text) > LONGEST:
        raise Refused(f"a question is a text of at most {LONGEST:,} characters: write it shorter")
    reader = Dialect.get_or_raise(dialect)
    try:
        tokens = _plain(reader.tokenize(text))
        tokens, options = _without_clause(tokens)
        trees = reader.parser().parse(_marked(tokens), text)
    except (ParseError, TokenError) as error:
        raise Refused(_unread(error)) from None
    except (SqlglotError, ValueError, TypeError, AttributeError, KeyError, IndexError):
        raise Refused("this is not SQL that can be read: start from SELECT COUNT(*) FROM table") from None
    if len(trees) != 1 or trees[0] is None:
        raise Refused("exactly one statement is answered at a time: send them one by one, without ;")
    trees[0].meta["dialect"] = dialect  # so that a refusal spells a piece as it was written
    return Statement(trees[0], options)


def _unread(error: SqlglotError) -> str:
    found = getattr(error, "errors", None) or [{}]
    line, column = found[0].get("line"), found[0].get("col")
    where = f"line {line}, column {column}: " if line else ""
    said = str(found[0].get("description") or "this is not SQL that can be read").rstrip(".")
    said = "something is missing" if "class" in said else said
    return f"{where}{said}: check the spelling near here, or start from SELECT COUNT(*) FROM table"


def _plain(tokens: list[Token]) -> list[Token]:
    """Tokens of one statement without comments, which the parser would take hints from."""
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens = tokens[:-1]
    if not tokens:
        raise Refused("the question is empty: write one such as SELECT COUNT(*) FROM table")
    if any(token.token_type is TokenType.SEMICOLON for token in tokens):
        raise Refused("exactly one statement is answered at a time: send them one by one, without ;")
    if tokens[0].token_type not in _FIRST:
        first = tokens[0].text.upper()[:40]
        first = first if first.isprintable() else "this character"
        raise Refused(f"{first}: only SELECT is answered, nothing is changed or configured; write SELECT … FROM …")
    depth = 0
    for token in tokens:
        token.comments = []
        depth += (token.token_type in _OPEN) - (token.token_type in _CLOSE)
        if depth > DEEPEST:
            raise Refused(
                f"line {token.line}, column {token.col}: more than {DEEPEST} parentheses inside each other: use WITH to name the parts"
            )
    return tokens


def _without_clause(tokens: list[Token]) -> tuple[list[Token], dict[str, exp.Expr] | None]:
    """Cut WITH DIFFERENTIAL_PRIVACY OPTIONS(…) out of the one SELECT that may have it, the outermost."""
    at = [
        i for i, token in enumerate(tokens) if token.text.upper() == "DIFFERENTIAL_PRIVACY" and tokens[i - 1].token_type is TokenType.WITH
    ]
    if not at:
        return tokens, None
    start = at[0] - 1
    depth = sum((t.token_type in _OPEN) - (t.token_type in _CLOSE) for t in tokens[:start])
    if len(at) > 1 or depth or start < 1 or tokens[start - 1].token_type is not TokenType.SELECT:
        raise Refused(
            "WITH DIFFERENTIAL_PRIVACY stands once, right after the outermost SELECT: leave it out of subqueries, "
            "which are part of the same private question"
        )
    opening = at[0] + 2
    if opening >= len(tokens) or tokens[at[0] + 1].text.upper() != "OPTIONS" or tokens[opening].token_type is not TokenType.L_PAREN:
        raise Refused("WITH DIFFERENTIAL_PRIVACY needs its options: write OPTIONS(epsilon = 1, delta = 1e-6, privacy_unit_column = id)")
    closing = _closing(tokens, opening)
    return tokens[:start] + tokens[closing + 1 :], _options(tokens[opening + 1 : closing])


def _closing(tokens: list[Token], opening: int) -> int:
    depth = 0
    for i in range(opening, len(tokens)):
        depth += (tokens[i].token_type in _OPEN) - (tokens[i].token_type in _CLOSE)
        if not depth:
            return i
    raise Refused(f"line {tokens[opening].line}: a parenthesis is not closed: close it")


def _options(tokens: list[Token]) -> dict[str, exp.Expr]:
    """name = value, …; each once."""
    if not tokens:
        return {}
    plain = Dialect.get_or_raise("duckdb")  # elsewhere name = value might be a name given
    [tree] = plain.parser().parse([_like(tokens[0], TokenType.SELECT, "SELECT"), *tokens], "")
    options: dict[str, exp.Expr] = {}
    for part in tree.expressions if isinstance(tree, exp.Select) else []:
        if not isinstance(part, exp.EQ) or not isinstance(part.this, exp.Column) or part.this.table:
            raise Refused("OPTIONS are written name = value, as in OPTIONS(epsilon = 1, delta = 1e-6)")
        name = part.this.name.lower()
        if name in options:
            raise Refused(f"the option {name} is given twice: keep one")
        options[name] = part.expression
    if tree is None or not options or any(name != "expressions" and value for name, value in tree.args.items()):
        raise Refused("OPTIONS are written name = value, as in OPTIONS(epsilon = 1, delta = 1e-6)")
    return options


def _marked(tokens: list[Token]) -> list[Token]:
    """Spell aggregates with named arguments as functions the parser does not know, so that it does not count their arguments."""
    found = list(tokens)
    for i, (name, opening) in enumerate(itertools.pairwise(tokens)):
        if name.text.upper().startswith(BOUNDED):
            raise Refused(f"{name.text[:40]}: there is no such function; choose another name")
        if name.text.upper() in ("COUNT", "SUM", "AVG") and opening.token_type is TokenType.L_PAREN and _has_named(tokens, i + 1):
            found[i] = _like(name, TokenType.VAR, BOUNDED + name.text.upper())
    return found


def _has_named(tokens: list[Token], opening: int) -> bool:
    depth = 0
    for token in tokens[opening : _closing(tokens, opening)]:
        depth += (token.token_type in _OPEN) - (token.token_type in _CLOSE)
        if depth == 1 and token.token_type is TokenType.FARROW:
            return True
    return False


def _like(token: Token, kind: Any, text: str) -> Token:
    return Token(kind, text, token.line, token.col, token.start, token.end)
