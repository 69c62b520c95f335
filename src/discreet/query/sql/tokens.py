"""Parse text into one statement: size limits, comments dropped, BigQuery's privacy clause extracted first."""

from __future__ import annotations

from typing import Any, final

from attrs import field, frozen
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError, TokenError
from sqlglot.tokens import Token, TokenType  # type: ignore[attr-defined]  # as its own documentation imports them

from discreet.errors import Invalid, Refused
from discreet.hints import closest
from discreet.query.parameters import Values
from discreet.query.sql.bind import Bound, bind
from discreet.query.sql.refuse import BOUNDED
from discreet.tables.kind import is_storable

LONGEST = 100_000  # characters
DEEPEST = 60  # nested parentheses
DIALECTS = ("duckdb", "postgres", "bigquery", "snowflake", "spark", "databricks", "redshift", "trino", "tsql")
_BACKTICKS = ("bigquery", "spark", "databricks")  # dialects that quote names with backticks
_BOUNDABLE = {  # aggregates that may have named bounds, as dialects call them
    *("COUNT", "COUNTIF", "COUNT_IF", "APPROX_COUNT_DISTINCT", "SUM", "AVG", "MEAN", "MIN", "MAX", "MODE", "MEDIAN", "APPROX_QUANTILES"),
    *("VAR_POP", "VAR_SAMP", "VARIANCE", "STDDEV", "STDDEV_POP", "STDDEV_SAMP", "PERCENTILE_CONT", "PERCENTILE_DISC", "QUANTILE"),
    *("QUANTILE_CONT", "QUANTILE_DISC", "APPROX_QUANTILE", "APPROX_PERCENTILE"),
}
_FORMER = "ANON_"  # BigQuery's and ZetaSQL's earlier names
_FORMERLY = {"COUNT", "SUM", "AVG", "VAR_POP", "STDDEV_POP", "PERCENTILE_CONT", "QUANTILES"}
_FIRST = {TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.L_PAREN}
_OPEN = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSE = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}


@final
@frozen
class ParsedStatement:
    """A parsed statement, and the privacy clause that was cut out of its SELECT."""

    tree: exp.Expr
    options: dict[str, exp.Expr] | None = field(default=None)


def parse(text: str, dialect: str, parameters: Values | None = None, *, bound: bool = True) -> ParsedStatement:
    """Read one SELECT statement; parameters become literals of the parsed tree, unless it is read before they are known (`bound`)."""
    if dialect not in DIALECTS:
        raise Refused(_no_dialect(dialect))
    if not isinstance(text, str):
        raise Invalid('a question is text, such as "SELECT COUNT(*) FROM table"')
    if len(text) > LONGEST:
        raise Refused(f"a question has at most {LONGEST:,} characters: write a shorter one")
    if not is_storable(text):  # an engine would fail on it after payment
        raise Refused("this text holds a character that no database stores (NUL, or half of a surrogate pair): leave it out")
    reader = Dialect.get_or_raise(dialect)
    reader.NULL_ORDERING = "nulls_are_last"  # as results are sorted, so that NULLS in the tree was written by the user
    try:
        plain = _plain(reader.tokenize(text))
        given = bind(plain, parameters) if bound else Bound(plain, {})
        tokens, options = _without_clause(given.tokens)
        trees = reader.parser().parse(_marked(tokens), text)
    except (ParseError, TokenError) as error:
        raise Refused(_unread(error, text, dialect)) from None
    except (SqlglotError, ValueError, TypeError, AttributeError, KeyError, IndexError):
        raise Refused(f"this could not be read as {dialect} SQL: start from SELECT COUNT(*) FROM table") from None
    if len(trees) != 1 or trees[0] is None:
        raise Refused("a query is exactly one statement: send statements one by one, without ;")
    tree = given.fill(trees[0])
    tree.meta["dialect"] = dialect  # so that a refusal quotes the query as it was written
    return ParsedStatement(tree, None if options is None else {name: given.fill(one) for name, one in options.items()})


def _no_dialect(dialect: object) -> str:
    near = closest(dialect, DIALECTS, 0.75) if isinstance(dialect, str) else None
    return f'SQL is read in these dialects: {", ".join(DIALECTS)}; write dialect="{near or "bigquery"}", for example'


def _unread(error: SqlglotError, text: str, dialect: str) -> str:
    """A parse error in plain words: the messages of the parser's library name its own classes."""
    found = (getattr(error, "errors", None) or [{}])[0]
    said, line, near = str(found.get("description") or ""), found.get("line"), str(found.get("highlight") or "")[:40]
    where = f"line {line}, column {found.get('col')}: " if line else ""
    at = f' near "{near}"' if near.strip() and near.isprintable() else ""
    if "`" in text and dialect not in _BACKTICKS:
        return f'{where}this could not be read as {dialect} SQL{at}: for names in backticks use dialect="bigquery", or write them "so"'
    if isinstance(error, TokenError):
        return f"{where}this could not be read as {dialect} SQL: close the quote or the comment that is open at its end"
    if "number of provided arguments" in said:
        return f"{where}a function has more arguments than it takes{at}: leave some out, as in SUM(x)"
    problem = "something is missing" if "class" in said or "Required" in said else f"this could not be read as {dialect} SQL"
    quoted = "`union`" if dialect in _BACKTICKS else '"union"'
    hint = f"check the text near it, quote names that are words of SQL ({quoted}), or start from SELECT COUNT(*) FROM table"
    return f"{where}{problem}{at}: {hint}"


def _plain(tokens: list[Token]) -> list[Token]:
    """Tokens of one statement without comments, which the parser may read as hints."""
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens = tokens[:-1]
    if not tokens:
        raise Refused("the question is empty: write one such as SELECT COUNT(*) FROM table")
    if any(token.token_type is TokenType.SEMICOLON for token in tokens):
        raise Refused("a query is exactly one statement: send statements one by one, without ;")
    if tokens[0].token_type not in _FIRST:
        first = tokens[0].text.upper()[:40]
        first = first if first.isprintable() else "this character"
        raise Refused(f"{first}: only SELECT is supported; write SELECT … FROM …")
    depth = 0
    for token in tokens:
        token.comments = []
        depth += (token.token_type in _OPEN) - (token.token_type in _CLOSE)
        if depth > DEEPEST:
            raise Refused(f"line {token.line}, column {token.col}: more than {DEEPEST} nested parentheses: name the parts with WITH")
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
            "WITH DIFFERENTIAL_PRIVACY is allowed once, right after the outermost SELECT; subqueries are part of the same private "
            "question: remove it from them"
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
    raise Refused(f"line {tokens[opening].line}: a parenthesis is open: close it")


def _options(tokens: list[Token]) -> dict[str, exp.Expr]:
    """name = value, …; each once."""
    if not tokens:
        return {}
    plain = Dialect.get_or_raise("duckdb")  # in other dialects name = value may be an alias
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
    """Take named arguments out of aggregates, so that the parser does not count them: SUM(x, b => 1) becomes BOUNDED(SUM(x), b => 1)."""
    found: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.text.upper().startswith(BOUNDED):
            raise Refused(f"{token.text[:40]}: there is no such function; choose another name")
        opens = at + 1 < len(tokens) and tokens[at + 1].token_type is TokenType.L_PAREN
        _check_former(token, opens, tokens[at - 1] if at else None)
        closing = _closing(tokens, at + 1) if opens and token.text.upper() in _BOUNDABLE else at
        parts = _split(tokens[at + 2 : closing])
        if any(map(_is_named, parts)):
            found += _bounded(token, tokens[at + 1], parts, tokens[closing])
            at = closing + 1
        else:
            found.append(token)
            at += 1
    return found


def _check_former(token: Token, opens: bool, before: Token | None) -> None:
    name = token.text.upper()
    if opens and name.startswith(_FORMER) and name.removeprefix(_FORMER) in _FORMERLY:
        today = name.removeprefix(_FORMER) if name != "ANON_QUANTILES" else "PERCENTILE_CONT"
        word = "contribution_bounds_per_group" if today in ("COUNT", "SUM", "AVG") else "contribution_bounds_per_row"
        raise Refused(
            f"{name}: every aggregate is private; write {today}, and instead of CLAMPED BETWEEN a last argument {word} => (0, 10)"
        )
    if name == "ANONYMIZATION" and before is not None and before.token_type is TokenType.WITH:
        raise Refused(
            "WITH ANONYMIZATION is now called WITH DIFFERENTIAL_PRIVACY: write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1, "
            'delta = 1e-6) COUNT(*) …, and use dialect="bigquery" if it is written for BigQuery'
        )


def _split(tokens: list[Token]) -> list[list[Token]]:
    """Arguments, split at top-level commas."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.token_type in _OPEN) - (token.token_type in _CLOSE)
        if not depth and token.token_type is TokenType.COMMA:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _bounded(name: Token, opening: Token, arguments: list[list[Token]], closing: Token) -> list[Token]:
    comma = _like(name, TokenType.COMMA, ",")
    plain = [token for part in arguments if not _is_named(part) for token in (comma, *_marked(part))][1:]
    named = [token for part in arguments if _is_named(part) for token in (comma, *_marked(part))]
    return [_like(name, TokenType.VAR, BOUNDED), opening, name, opening, *plain, closing, *named, closing]


def _is_named(argument: list[Token]) -> bool:
    return len(argument) > 1 and argument[1].token_type is TokenType.FARROW


def _like(token: Token, kind: Any, text: str) -> Token:
    return Token(kind, text, token.line, token.col, token.start, token.end)
