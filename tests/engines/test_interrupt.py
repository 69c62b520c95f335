"""Ctrl-C cancels the statement and is raised; without it, results and errors pass through."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import polars
import pytest

from discreet.engines.interrupt import interruptible


def fail() -> None:
    raise KeyError("x")


def test_results_and_errors_pass_through() -> None:
    assert interruptible(lambda: 7, lambda: None) == 7
    with pytest.raises(KeyError, match="x"):
        interruptible(fail, lambda: None)


def test_the_statement_runs_in_another_thread_than_the_main_one() -> None:
    assert interruptible(threading.current_thread, lambda: None) is not threading.main_thread()


def test_outside_the_main_thread_it_runs_in_place() -> None:
    found: list[bool] = []

    def work() -> None:
        found.append(interruptible(threading.current_thread, lambda: None) is threading.current_thread())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [True]


def test_an_interrupt_cancels_the_statement_until_it_ends() -> None:
    cancelled, begun = threading.Event(), threading.Event()
    attempts: list[int] = []

    def statement() -> str:
        begun.set()
        assert cancelled.wait(30)
        return "cancelled"

    def cancel() -> None:
        attempts.append(1)
        if len(attempts) > 1:  # the first attempt comes too early
            cancelled.set()

    def press() -> None:
        begun.wait(30)
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interruptible(statement, cancel)
    presser.join()
    assert len(attempts) >= 2
    assert time.monotonic() - began < 10


def test_an_interrupt_is_seen_beside_a_library_with_its_own_handler(tmp_path: Path) -> None:
    """Once Polars has written a file, its handler for SIGINT keeps waits from ending: Ctrl-C waited for the statement."""
    polars.DataFrame({"id": [1]}).write_parquet(tmp_path / "t.parquet")
    test_an_interrupt_cancels_the_statement_until_it_ends()
