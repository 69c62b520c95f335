"""Codes read back from a receipt."""

from __future__ import annotations

import datetime
from fractions import Fraction
from typing import Any

from discreet.errors import Invalid
from discreet.session.synthesize.codes import Binned, Coding, Listed
from discreet.tables.kind import Kind, Value


def coding_from(said: dict[str, Any]) -> Coding:
    """A column's codes, as `plan.canonical.plain` wrote them."""
    kind = Kind(said["kind"])
    if said["is"] == "Listed":
        return Listed(said["name"], kind, tuple(_value(value) for value in said["values"]), said["rest"], said["grain"])
    if said["is"] == "Binned":
        low, high = (Fraction(said[end]["value"]) for end in ("low", "high"))
        return Binned(said["name"], kind, low, high, said["bins"], said["missing"])
    raise Invalid("this receipt has columns of a kind that is not known here")


def _value(said: Any) -> Value:
    if not isinstance(said, dict):
        return said  # type: ignore[no-any-return]
    read = datetime.date if said["is"] == "date" else datetime.datetime
    return read.fromisoformat(said["value"])
