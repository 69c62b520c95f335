"""Before paying: whether an engine could run a statement. And Ctrl-C inside it, which stays Ctrl-C."""

from __future__ import annotations

import contextlib
import copy
import pickle
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest
from engines.contract.asked import EngineOf, rows

from discreet.engines.engine import Engine, is_interrupt
from discreet.errors import EngineError, Invalid
from discreet.tables.kind import Kind

NUMBERS = {"t": {"a": (Kind.INTEGER, list(range(1000)))}}
# none of them can end before it is interrupted
LONG = {
    "duckdb": "SELECT COUNT(*) AS n FROM (SELECT i % 1000 AS k, SUM(i) AS s FROM range(1000000000000) AS r(i) GROUP BY k)",
    "postgres": "SELECT COUNT(*) AS n FROM t AS x, t AS y, t AS z, t AS w WHERE x.a * y.a + z.a * w.a = 7",
    "spark": "SELECT COUNT(*) AS n FROM range(1000000000000) WHERE id % 7 = 3",
}


@contextlib.contextmanager
def ctrl_c(after: float) -> Iterator[None]:
    """What a terminal sends, a while after the block began."""

    def send(*_: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    before, ignored = signal.signal(signal.SIGALRM, send), signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if ignored:  # as in a process that a script started in the background: a statement would never be interrupted
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, after)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)


def test_an_engine_that_was_opened_is_ready(engine_of: EngineOf) -> None:
    engine_of(NUMBERS).ready()


def test_an_engine_that_was_closed_is_not_ready(engine_of: EngineOf) -> None:
    engine = engine_of(NUMBERS)
    engine.close()
    with pytest.raises(EngineError, match=r"connect again\. Nothing was charged$"):
        engine.ready()


@pytest.mark.parametrize("streamed", [False, True])
def test_ctrl_c_stays_what_it_is(engine_of: EngineOf, streamed: bool) -> None:
    """It became an EngineError with the advice to check files. The engine can be used afterwards."""
    engine = engine_of(NUMBERS)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), ctrl_c(1.5):
        list(engine.stream(LONG[engine.name])) if streamed else engine.run(LONG[engine.name])
    assert 1 < time.monotonic() - began < 60
    engine.ready()
    assert rows(engine, "SELECT COUNT(*) AS n FROM t") == [(1000,)]


def test_an_engine_is_not_copied(engine_of: EngineOf) -> None:
    engine: Engine = engine_of(NUMBERS)
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(Invalid, match="open one where it is needed"):
            copied(engine)


def test_what_stands_for_an_interrupt() -> None:
    error = RuntimeError("x")
    assert not is_interrupt(None)
    assert not is_interrupt(error)
    error.__context__ = KeyboardInterrupt()
    assert is_interrupt(error)
    circle = ValueError("y")
    circle.__context__ = TypeError("z")
    circle.__context__.__context__ = circle
    assert not is_interrupt(circle)
