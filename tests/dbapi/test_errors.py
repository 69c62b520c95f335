"""Every error of ours has its place among those of PEP 249."""

from __future__ import annotations

import pytest

from discreet import errors
from discreet.dbapi import errors as theirs
from discreet.dbapi.errors import translated

PLACES = {
    "BudgetExceeded": theirs.OperationalError,
    "EngineError": theirs.OperationalError,
    "Error": theirs.InternalError,
    "Invalid": theirs.ProgrammingError,
    "LedgerError": theirs.OperationalError,
    "NotEnoughData": theirs.DataError,
    "PolicyError": theirs.OperationalError,
    "RandomnessFailed": theirs.OperationalError,
    "Refused": theirs.ProgrammingError,
    "Unreachable": theirs.OperationalError,
    "WrongType": theirs.ProgrammingError,
}


def test_every_error_is_placed() -> None:
    assert set(PLACES) == set(errors.__all__)


@pytest.mark.parametrize("name", errors.__all__)
def test_places(name: str) -> None:
    ours = getattr(errors, name)("say what to do")
    ours.add_note("and more")
    with pytest.raises(PLACES[name], match="say what to do") as found, translated():
        raise ours
    assert type(found.value) is PLACES[name]
    assert found.value.__cause__ is ours
    assert found.value.__notes__ == ["and more"]


def test_other_errors_are_not_touched() -> None:
    with pytest.raises(ZeroDivisionError), translated():
        1 / 0  # noqa: B018
