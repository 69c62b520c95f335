"""Run callables in forked processes: side by side, or killed at some moment."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.terms import Terms

FORK = multiprocessing.get_context("fork")
Child = Callable[[int], Any]


def side_by_side(work: Child, count: int) -> list[Any]:
    """What each of some processes that start together gives back."""
    start, results = FORK.Barrier(count), FORK.SimpleQueue()

    def body(number: int) -> None:
        start.wait(30)
        try:
            results.put((number, work(number)))
        except BaseException as error:
            results.put((number, error))

    children = [FORK.Process(target=body, args=(number,), daemon=True) for number in range(count)]
    for child in children:
        child.start()
    found = dict(results.get() for _ in children)
    for child in children:
        child.join(60)
    for value in found.values():
        if isinstance(value, BaseException):
            raise value
    return [found[number] for number in range(count)]


def killed(work: Callable[[Callable[[], None]], Any], after: float) -> None:
    """Run work in a process and kill it, without warning, so many seconds after it said that it was ready."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work(lambda: os.write(writer, b"!") and None)
        finally:
            os._exit(0)
    os.close(writer)
    os.read(reader, 1)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reader)


def answer(log: Path, text: str) -> None:
    """Tell the analyst: what is in this file was seen by somebody."""
    fd = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(fd, (text + "\n").encode())
    os.close(fd)


def answered_without_a_debit(path: str | Path, log: Path, terms: Terms, witness: Path | None = None) -> set[str]:
    """The questions that somebody saw an answer to and nobody paid for; the ledger must verify."""
    ledger: Ledger = open_ledger(path, terms, witness)
    ledger.verify()
    paid = {entry.body["question"] for entry in ledger.entries() if entry.kind == "spend"}
    ledger.close()
    return set(log.read_text().splitlines()) - paid if log.exists() else set()
