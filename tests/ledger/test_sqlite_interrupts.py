"""An interrupt at any moment leaves the ledger usable, for this process and for others."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from discreet.ledger import sqlite
from discreet.ledger.ledger import open_ledger
from discreet.ledger.terms import Terms
from discreet.loss.leaves import Pure

TERMS = Terms(10**6, 0, "id")


def test_an_interrupt_at_any_line_of_a_transaction_releases_the_lock(place: Path) -> None:
    ledger, other = open_ledger(place / "a", TERMS), open_ledger(place / "a")
    wanted = seen = 0

    def interrupt(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal seen
        if frame.f_code.co_filename != sqlite.__file__:
            return interrupt if event == "call" else None
        if event == "line":
            seen += 1
            if seen == wanted + 1:
                raise KeyboardInterrupt
        return interrupt

    while True:
        seen, before = 0, sys.gettrace()
        sys.settrace(interrupt)
        try:
            ledger.spend(Pure(1), question=f"{wanted}")
            done = True
        except KeyboardInterrupt:
            done = False
        finally:
            sys.settrace(before)
        other.spend(Pure(1), question=f"other {wanted}")  # would wait for half a minute, and fail
        ledger.spend(Pure(1), question=f"again {wanted}")
        if done:
            break
        wanted += 1
    assert wanted > 40
    assert ledger.verify().spends >= 2 * wanted


def test_an_interrupt_when_a_transaction_has_just_begun_rolls_it_back(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger, other = open_ledger(place / "a", TERMS), open_ledger(place / "a")
    state = sqlite.SqliteStorage.state

    def interrupted(self: sqlite.SqliteStorage) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sqlite.SqliteStorage, "state", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ledger.spend(Pure(1), question="q")
    assert sqlite.SqliteStorage.state is state
    other.spend(Pure(1), question="q")
    assert ledger.spent.epsilon == 1
