"""A policy line by line, each with what it means; addresses of databases are masked."""

from __future__ import annotations

import re
from typing import final

from attrs import frozen

_ADDRESS = re.compile(r"""(["'])(postgres(?:ql)?://).*?\1""")  # of a database: user, password and host may stand anywhere in it
_KEY = re.compile(r"\s*#?\s*([A-Za-z_]+)\s*=")
_SECTION = re.compile(r"\s*\[([^\]]+)\]")
MEANINGS = {
    "version": "The version of the data. Change it whenever the data changes: answers to one version are never mixed with another's.",
    "adjacency": "What is hidden: that somebody is in the data at all (add/remove), or what their rows say (replace-one).",
    "engine": "Where the tables are, if their sources do not say so.",
    "epsilon": "The most that all answers together may tell about one of those who are protected; smaller is more private.",
    "delta": "The probability with which that promise may fail; well below one in the number of people.",
    "path": "Where every payment is recorded.",
    "witness": "A second place that remembers how far the ledger was, so that nobody can turn it back.",
    "source": "Where the rows are. Analysts never see this.",
    "delimiter": "What separates the values of this file.",
    "unit": "Who is protected: everything with the same value here belongs to one of them.",
    "link": "How rows of this table lead to who is protected in another one.",
    "public": "These rows are about nobody: they are used as they are, without noise.",
    "one_row_per_unit": "Whether nobody can ever have two rows; then less noise is needed. Wrong here means less privacy than promised.",
    "size": "The number of those who are protected, which is public then.",
    "contributions": "The most rows or groups of one person that count. Lower is less noise, and cuts off whoever has more.",
    "type": "How values are read.",
    "bounds": "Values are clipped to these. Take them from what is generally known, never from the data.",
    "keys": "The groups that everybody may know of, so that they are shown even if they are empty. Never take them from the data.",
    "nullable": "Whether values may be missing.",
    "unique": "Whether no two rows have the same value, so that joins do not multiply rows.",
    "every": "How often this analyst's budget begins anew.",
}
_SECTIONS = {
    "budget": "What may be learnt about one of those who are protected, by all answers together.",
    "ledger": "Where spending is recorded.",
}


@final
@frozen
class PolicyLine:
    """One line, whether it still waits for a decision, and what it means."""

    text: str
    meaning: str
    check: bool


def policy_lines(text: str) -> list[PolicyLine]:
    """Every line of a policy.

    >>> [(line.text, line.check) for line in policy_lines('epsilon = 1   # CHECK: how much')]
    [('epsilon = 1   # CHECK: how much', True)]
    >>> policy_lines('source = "postgresql://me:pass@host/db"')[0].text
    'source = "postgresql://•••"'
    """
    return [PolicyLine(_ADDRESS.sub(r"\1\2•••\1", line), _meaning(line), "CHECK:" in line) for line in text.splitlines()]


def _meaning(line: str) -> str:
    if (section := _SECTION.match(line)) is not None:
        return _section(section.group(1))
    if (key := _KEY.match(line)) is None:
        return ""
    found = MEANINGS.get(key.group(1), "")
    return f"Not decided here: {found[0].lower()}{found[1:]}" if found and line.lstrip().startswith("#") else found


def _section(path: str) -> str:
    parts = path.split(".")
    if len(parts) >= 4 and parts[2] == "columns":
        return f"The column {'.'.join(parts[3:])}."
    if len(parts) == 2 and parts[0] == "tables":
        return f"The table {parts[1]}."
    if parts[:2] == ["budget", "analysts"]:
        return "What one analyst may spend of it."
    return _SECTIONS.get(parts[0], "")
