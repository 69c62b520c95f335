"""Canonical plain form of questions and plans; its digest identifies a question."""

from __future__ import annotations

import datetime
import hashlib
import json
from enum import Enum
from fractions import Fraction
from typing import Any

import attrs

from discreet.tables.table import Table


def plain(value: Any) -> Any:
    """Frozen nodes as JSON: a node is its kind and its fields, a fraction is text."""
    if isinstance(value, Table):
        # the declared policy has its own digest; only bounds may differ from it (see plan/bias.py)
        return {"is": "Table", "name": value.name, "bounds": [plain(column.bounds) for column in value.columns]}
    if attrs.has(type(value)):
        read = ((a, getattr(value, a.name)) for a in attrs.fields(type(value)) if a.eq)
        # a field that came later is left out where it is empty, so that older questions keep their digests
        fields = {a.name: plain(found) for a, found in read if found or "omitted if empty" not in a.metadata}
        return {"is": type(value).__name__} | fields
    match value:
        case Enum():
            return value.value
        case tuple() | list():
            return [plain(item) for item in value]
        case Fraction():
            return {"is": "number", "value": str(value)}
        case None | bool() | int() | str():
            return value
        case datetime.date():  # and timestamps
            return {"is": type(value).__name__, "value": value.isoformat()}
    raise TypeError(type(value).__name__)


def question_digest(value: Any) -> str:
    """The SHA-256 of a value's plain form."""
    return fingerprint(plain(value))


def fingerprint(value: Any) -> str:
    """The SHA-256 of a plain value, such as a question read back from a receipt."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
