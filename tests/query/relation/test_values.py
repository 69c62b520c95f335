"""Functions of released numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from discreet.query.relation import values


@pytest.mark.parametrize(
    ("function", "arguments", "result"),
    [
        (values.quotient, (1, 0), None),
        (values.quotient, (1, 4), 0.25),
        (values.remainder, (-7, 3), -1),
        (values.remainder, (7, 0), None),
        (values.round_half_up, (2.5,), 3),
        (values.round_half_up, (-2.5,), -2),
        (values.round_half_up, (1.255, 1), 1.3),
        (values.safe_sqrt, (-1,), None),
        (values.safe_ln, (0,), None),
        (values.safe_exp, (701,), None),
        (values.null_safe(max), (1, None), None),
        (values.null_safe(max), (1, 2), 2),
    ],
)
def test_values(function: Callable[..., Any], arguments: tuple[Any, ...], result: Any) -> None:
    assert function(*arguments) == result
