"""Column names must exist, be texts, and differ without regard to case."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.engines.names import check_column_names
from discreet.errors import EngineError


def test_names_are_returned_unchanged() -> None:
    assert check_column_names("t", ("a", "B b", "ß")) == ("a", "B b", "ß")


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ((), "a table needs a column"),
        (("a", ""), "non-empty text"),
        (("a", 7), "non-empty text"),
        ((None,), "non-empty text"),
        (("a", "A"), "differ in more than upper and lower case"),
        (("straße", "STRASSE"), "differ in more than upper and lower case"),
    ],
)
def test_names_that_are_refused(columns: tuple[Any, ...], why: str) -> None:
    with pytest.raises(EngineError, match=rf"^t: .*{why}.*: rename the columns$"):
        check_column_names("t", columns)
