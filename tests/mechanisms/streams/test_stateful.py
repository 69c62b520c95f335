"""Runs that hold noise are not copied: each copy could have its hit, for one payment."""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest

from discreet.errors import Invalid
from discreet.mechanisms.streams.sparse_vector import SparseVector
from discreet.mechanisms.streams.toeplitz import Toeplitz
from discreet.mechanisms.streams.tree import Tree


def streams() -> dict[str, tuple[Any, Callable[[Any], Any]]]:
    return {
        "sparse vector": (SparseVector(epsilon=1, threshold=10**6).open(), lambda run: run.ask(1)),
        "tree": (Tree(epsilon=1, horizon=9).open(), lambda run: run.add(1)),
        "toeplitz": (Toeplitz(rho=1, horizon=9).open(), lambda run: run.add(1)),
    }


@pytest.mark.parametrize("name", list(streams()))
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps], ids=["copy", "deepcopy", "pickle"])
def test_a_run_is_not_copied(name: str, copied: Callable[[Any], Any]) -> None:
    run, ask = streams()[name]
    ask(run)
    with pytest.raises(Invalid, match="cop"):
        copied(run)


def test_threads_do_not_share_a_hit() -> None:
    for _ in range(40):
        run = SparseVector(epsilon=100, threshold=0, extra="value").open()
        told: list[bool] = []

        def ask(run: Any = run, told: list[bool] = told) -> None:
            with contextlib.suppress(Invalid):
                for _ in range(50):
                    told.append(run.ask(10**6).above)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(told) == 1


@pytest.mark.parametrize("name", list(streams()))
def test_a_child_does_not_go_on_with_its_parents_noise(name: str) -> None:
    run, ask = streams()[name]
    ask(run)
    child = os.fork()
    if not child:
        try:
            ask(run)
        except Invalid:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    ask(run)
