"""Messages in the words of the console."""

from __future__ import annotations

import pytest

from discreet.server.pages.plain import plain


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("epsilon must be positive", "ε must be positive: type a number above 0, such as 0.1"),
        ("delta must be below 1", "δ must be below 1"),
        ("it needs a delta above 0: connect with delta=1e-6, or pass delta=", "it needs a δ above 0: ask the owner for a budget with a δ"),
        ("noise hides every answer: give a larger epsilon", "noise hides every answer: give a larger ε"),
        ("SELECT epsilon, delta FROM t: there is no table t", "SELECT epsilon, delta FROM t: there is no table t"),
        ("write OPTIONS(epsilon = 1, delta = 1e-6)", "write OPTIONS(epsilon = 1, delta = 1e-6)"),
    ],
)
def test_arguments_are_told_as_fields(message: str, told: str) -> None:
    assert plain(message) == told
