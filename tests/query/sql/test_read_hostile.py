"""Nothing that is not understood gets through, and whoever asked is told what and what else."""

from __future__ import annotations

import contextlib
import random
import re
import time

import pytest
from query.sql.accepted import ACCEPTED
from query.sql.clinic import CATALOG, shown
from query.sql.hostile import HOSTILE, HOSTILE_IN
from sqlglot import exp

from discreet.errors import Refused
from discreet.query.question import Question
from discreet.query.sql import read as reader
from discreet.query.sql import tokens
from discreet.query.sql.read import read


def test_there_are_many() -> None:
    assert len(set(HOSTILE)) == len(HOSTILE) >= 400


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:60]))
def test_refused(text: str) -> None:
    start = time.perf_counter()
    with pytest.raises(Refused) as caught:
        read(text, CATALOG)
    assert time.perf_counter() - start < 5
    message = str(caught.value)
    assert 20 < len(message) < 700
    assert names_a_piece(text, message), message
    assert suggests(message), message


@pytest.mark.parametrize(("dialect", "text"), HOSTILE_IN)
def test_refused_in_its_own_dialect(dialect: str, text: str) -> None:
    with pytest.raises(Refused):
        read(text, CATALOG, dialect)


@pytest.mark.parametrize("dialect", ["postgres", "bigquery", "snowflake", "spark", "databricks", "redshift", "trino", "tsql"])
def test_refused_in_every_dialect(dialect: str) -> None:
    for text in HOSTILE:
        if text not in MEANT_ELSEWHERE.get(dialect, ()):
            with pytest.raises(Refused):
                pytest.fail(f"{dialect} reads {text} as {shown(read(text, CATALOG, dialect))}")


# where a backslash inside quotes is no character of its own
_ESCAPED = ("SELECT COUNT(*) FROM visits WHERE dept LIKE 'a\\%'",)
# where the name of a project and a dataset may stand before a table's
_QUALIFIED = ("SELECT COUNT(*) FROM main.visits", "SELECT COUNT(*) FROM memory.main.visits")
MEANT_ELSEWHERE = {"bigquery": (*_ESCAPED, *_QUALIFIED), "snowflake": _ESCAPED, "redshift": _ESCAPED}


def names_a_piece(text: str, message: str) -> bool:
    """Some word of the question is repeated, or the trouble is with the text as a whole."""
    whole = "nested too deeply|exactly one statement|is empty|could not be read|at most 100,000|parenthesis|printable|clocks|character"
    if re.search(f"{whole}|line 1, column", message):
        return True
    return bool(set(re.findall(r"\w+|[?*]", text.lower())) & set(re.findall(r"\w+|[?*]", message.split(": ")[0].lower())))


def suggests(message: str) -> bool:
    hints = "write|use|name|add|declare|leave|group by|ask|there are|send|start from|move|give|choose|join|count|clip|keep|close|prepare"
    hints += (
        "|order|swap|aggregate|known are|did you mean|takes|put|compare|split|nothing is cast|as in|is written|needs|cannot stack|only be"
    )
    hints += "|make|apply|no hour|not cast"
    return re.search(hints, message) is not None


def test_no_piece_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the parser may set on a node beyond what was written is refused, or is one of the few flags that change nothing here."""
    harmless = {
        ("Div", "typed"),  # of whole numbers it is refused, see test_read
        ("Div", "safe"),
        ("Cast", "safe"),
        ("DataType", "nested"),
        ("TimestampTrunc", "input_type_preserved"),
        ("Length", "binary"),
        ("Coalesce", "is_nvl"),
        ("Coalesce", "is_null"),
        ("CTE", "materialized"),
        ("DateDiff", "big_int"),
        ("DateDiff", "date_part_boundary"),
    }
    read_for_real = {
        ("Identifier", "quoted"),
        ("Literal", "is_string"),
        ("Boolean", "this"),
        ("Ordered", "desc"),
        ("Ordered", "nulls_first"),
        ("Like", "negate"),
        ("ILike", "negate"),
        ("Is", "negate"),
        ("Monthname", "abbreviated"),
    }
    passed, seen, tried = set(), set(), 0
    for text, _ in ACCEPTED:
        for at, node in enumerate(tokens.parse(text, "duckdb").tree.walk()):
            kind, place = type(node).__name__, (type(node.parent).__name__, node.arg_key)
            for name in node.arg_types:
                if node.args.get(name) or (kind, name) in harmless | read_for_real or (kind, name, place) in seen:
                    continue
                seen.add((kind, name, place))
                statement = tokens.parse(text, "duckdb")
                list(statement.tree.walk())[at].set(name, exp.Literal.string("x") if tried % 2 else True)
                monkeypatch.setattr(reader, "parse", lambda text, dialect, found=statement: found)
                tried += 1
                try:
                    read(text, CATALOG)
                    passed.add((kind, name))
                except Refused:
                    pass
    assert tried > 800
    assert passed == set()


def test_mangled_text_is_refused_or_read() -> None:
    """Tokens swapped, dropped and mixed at random: never any other error."""
    coin = random.Random(7)
    pool = [text for text, _ in ACCEPTED] + [text for text in HOSTILE if len(text) < 300]
    words = [re.findall(r"\w+|\W", text) for text in pool if text]
    for _ in range(1500):
        mangled = list(coin.choice(words))
        other = coin.choice(words)
        for _ in range(coin.randint(1, 4)):
            at = coin.randrange(len(mangled) + 1)
            match coin.randrange(3):
                case 0:
                    mangled[at : at + coin.randint(1, 3)] = []
                case 1:
                    mangled.insert(at, coin.choice(other))
                case _:
                    start = coin.randrange(len(other))
                    mangled[at:at] = other[start : start + 5]
        with contextlib.suppress(Refused):
            assert isinstance(read("".join(mangled), CATALOG, coin.choice(tokens.DIALECTS)), Question)


def test_only_known_dialects() -> None:
    with pytest.raises(Refused, match="duckdb"):
        read("SELECT COUNT(*) FROM visits", CATALOG, "mysql")
