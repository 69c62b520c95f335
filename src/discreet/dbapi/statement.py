"""What a text asks of a connection: a question, its plan, or one of a few statements that tools send and that read no data."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias, final

from attrs import frozen

Verb: TypeAlias = Literal["ask", "explain", "set", "show", "probe", "nothing"]
_BEFORE = re.compile(r"(?:\s|--[^\n]*|/\*.*?\*/)*", re.DOTALL)  # what may stand before a statement
_SET = re.compile(r"SET\s+(?:SESSION\s+|LOCAL\s+)?discreet\.(\w+)\s*(?:=|\bTO\b)\s*'?([^';]*?)'?\s*;?\s*", re.IGNORECASE)
_RESET = re.compile(r"RESET\s+discreet\.(\w+)\s*;?\s*", re.IGNORECASE)
_SHOW = re.compile(r"SHOW\s+discreet\.(\w+)\s*;?\s*", re.IGNORECASE)
_EXPLAIN = re.compile(r"EXPLAIN\s(.*)", re.IGNORECASE | re.DOTALL)
_PROBE = re.compile(r"SELECT\s+1\s*;?\s*", re.IGNORECASE)
_NOTHING = re.compile(r"(?:BEGIN|COMMIT|ROLLBACK|START)(?:\s+(?:TRANSACTION|WORK))?\s*;?\s*", re.IGNORECASE)


@final
@frozen
class Statement:
    """One statement: what is to be done, with the text of a question or the name and value of a setting."""

    verb: Verb
    text: str = ""
    value: str | None = None

    @classmethod
    def read(cls, text: str) -> Statement:
        """Recognise SET, SHOW, EXPLAIN and the like; all else is taken for a question, which may still be refused when it is asked.

        >>> Statement.read("SET discreet.epsilon = 0.1")
        Statement(verb='set', text='epsilon', value='0.1')
        >>> Statement.read("EXPLAIN SELECT COUNT(*) FROM visits").verb
        'explain'
        """
        before = _BEFORE.match(text)
        assert before is not None, "it may be empty"
        said = text[before.end() :]
        if found := _SET.fullmatch(said):
            value = found[2].strip()
            return cls("set", found[1].lower(), None if value.lower() == "default" else value)
        if found := _RESET.fullmatch(said):
            return cls("set", found[1].lower())
        if found := _SHOW.fullmatch(said):
            return cls("show", found[1].lower())
        if found := _EXPLAIN.fullmatch(said):
            return cls("explain", before[0] + found[1])  # comments may state the price
        if _PROBE.fullmatch(said):
            return cls("probe")
        return cls("nothing") if _NOTHING.fullmatch(said) else cls("ask", text)
