"""Functions of released numbers, for post-processing: NULL where they are undefined."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any


def null_safe(function: Callable[..., Any]) -> Callable[..., Any]:
    """NULL if any argument is."""
    return lambda *arguments: None if any(a is None for a in arguments) else function(*arguments)


def quotient(a: float, b: float) -> float | None:
    return a / b if b else None


def remainder(a: int, b: int) -> int | None:
    return int(math.fmod(a, b)) if b else None


def floor(value: float) -> int:
    return math.floor(value)


def ceil(value: float) -> int:
    return math.ceil(value)


def round_half_up(value: float, digits: int = 0) -> float:
    factor = 10 ** int(digits)
    found: int = math.floor(value * factor + 0.5)
    return found if factor == 1 else found / factor


def safe_sqrt(value: float) -> float | None:
    return math.sqrt(value) if value >= 0 else None


def safe_ln(value: float) -> float | None:
    return math.log(value) if value > 0 else None


def safe_exp(value: float) -> float | None:
    return math.exp(value) if value < 700 else None
