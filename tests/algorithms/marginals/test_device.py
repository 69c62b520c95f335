"""Where a fit is done: by public sizes and the device alone; a device that is not there is refused by name."""

from __future__ import annotations

import importlib.util
import sys
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from algorithms.marginals.backends import torch_module

from discreet.algorithms.marginals import device
from discreet.algorithms.marginals.arrays import NumpyArrays
from discreet.algorithms.marginals.device import MOST_SECONDS, arrays_on, check_device, forecast
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.residuals import fit_residuals
from discreet.errors import Invalid


def binary(columns: int) -> tuple[Domain, list[tuple[int, ...]]]:
    domain = Domain(tuple(f"c{i}" for i in range(columns)), (2,) * columns)
    return domain, [clique for k in (1, 2, 3) for clique in combinations(domain.columns, k)]


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Have no torch (None), or torch with so many GPUs of 32 GiB."""

    def have(number: int | None) -> None:
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if number is None else object())
        if number is None:
            monkeypatch.delitem(sys.modules, "discreet.algorithms.marginals.gpu", raising=False)
            monkeypatch.setitem(sys.modules, "torch", None)
        else:
            torch_module(monkeypatch, number)

    return have


def test_more_cells_take_longer_and_more_memory(gpus: Any) -> None:
    gpus(1)
    for name in ("cpu", "cuda"):
        found = [forecast(*binary(columns), name) for columns in (16, 20, 24, 28)]
        assert [one.device for one in found] == [name] * 4
        assert [one.seconds for one in found] == sorted(one.seconds for one in found)
        assert [one.memory for one in found] == sorted(one.memory for one in found)


@pytest.mark.parametrize(
    ("number", "columns", "chosen", "fits"),
    [(None, 12, "cpu", True), (None, 26, "cpu", True), (None, 30, "cpu", False), (0, 30, "cpu", False), (1, 12, "cpu", True),
     (1, 24, "cuda", True), (1, 30, "cuda", True), (1, 32, "cuda", True), (1, 34, "cuda", False), (None, 60, "cpu", False)],
)  # fmt: skip
def test_auto_takes_a_gpu_where_the_cpu_is_slow(number: int | None, columns: int, chosen: str, fits: bool, gpus: Any) -> None:
    gpus(number)
    domain = Domain(tuple(f"c{i}" for i in range(columns)), (2,) * columns)
    found = forecast(domain, list(combinations(domain.columns, 2)))
    assert (found.device, not found.refusal) == (chosen, fits)


def test_it_says_what_it_takes_and_why_it_is_refused(gpus: Any) -> None:
    gpus(1)
    assert str(forecast(*binary(12), "cpu")) == "fitted on the CPU in about a second, with 1 MiB of memory"
    shown = str(forecast(*binary(30), "cuda"))
    assert shown.startswith("fitted on a GPU in about ")
    assert shown.endswith(" GiB of memory, 6.0 GiB of the GPU's")
    assert "GiB of memory, and 4.0 GiB may be used" in forecast(*binary(30), "cpu").refusal
    slow = forecast(Domain.of({"a": 3000, "b": 3000}), [(0, 1)], "cpu")
    assert slow.seconds > MOST_SECONDS
    assert f"s, and {MOST_SECONDS:.0f} s may be used" in slow.refusal
    assert not slow.too_large


def test_a_gpu_that_is_too_small(gpus: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    gpus(1)
    monkeypatch.setattr(device, "_gpu_memory", lambda: 2**32)
    assert "of the GPU's memory, and 3.2 GiB may be used" in forecast(*binary(30), "cuda").refusal


def test_devices_that_are_not_there(gpus: Any) -> None:
    with pytest.raises(Invalid, match="device must be one of auto, cpu, cuda"):
        check_device("tpu")
    for number, says in ((None, r"torch is not installed: pip install 'discreet\[gpu\]'"), (0, "needs a GPU that torch can use")):
        gpus(number)
        check_device("auto")
        check_device("cpu")
        with pytest.raises(Invalid, match=says):
            check_device("cuda")
    gpus(1)
    check_device("cuda")


def test_back_ends(gpus: Any) -> None:
    gpus(1)
    domain, _ = binary(3)
    assert isinstance(arrays_on("cpu", domain), NumpyArrays)
    assert type(arrays_on("cuda", domain)).__name__ == "TorchArrays"


def test_a_model_that_is_too_large_for_this_machine(gpus: Any) -> None:
    """A table that was made on a GPU is opened elsewhere: it says what is missing, before any memory is taken."""
    gpus(None)
    domain, _ = binary(30)
    total = NoisyMeasurement((), np.array([100.0]), 1.0)
    with pytest.raises(Invalid, match=r"needs about .* GiB of memory, and 4.0 GiB may be used: open the table where torch has"):
        fit_residuals(domain, [total])
