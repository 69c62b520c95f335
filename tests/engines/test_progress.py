"""Progress is reported while a block runs, from another thread that ends with the block."""

from __future__ import annotations

import threading
import time

import pytest

from discreet.engines import progress
from discreet.engines.progress import reporting


def test_known_fractions_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_EVERY", 0.001)
    told: list[float] = []
    fractions = iter([None, 0.25, None, 0.5])
    before = threading.active_count()
    with reporting(told.append, lambda: next(fractions, 1.0)):
        until = time.monotonic() + 30
        while 1.0 not in told and time.monotonic() < until:
            time.sleep(0.001)
    assert told[:3] == [0.25, 0.5, 1.0]
    count = len(told)
    time.sleep(0.02)
    assert len(told) == count
    assert threading.active_count() == before


def test_without_a_listener_nothing_is_measured() -> None:
    def measured() -> float:
        raise AssertionError("nobody wants to know")

    with reporting(None, measured):
        time.sleep(0.01)


def test_an_error_of_the_block_ends_the_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_EVERY", 0.001)
    before = threading.active_count()
    with pytest.raises(KeyError), reporting(lambda _: None, lambda: 0.5):
        raise KeyError
    assert threading.active_count() == before
