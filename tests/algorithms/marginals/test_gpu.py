"""The back end of torch: which GPU there is, single precision, and totals that do not need more memory than their parts."""

from __future__ import annotations

import numpy as np
import pytest
from algorithms.marginals.backends import Tensor, torch_module


@pytest.mark.parametrize(("gpus", "memory"), [(0, None), (1, 2**35)])
def test_memory_of_a_gpu_if_there_is_one(gpus: int, memory: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert torch_module(monkeypatch, gpus).gpu_memory() == memory


def test_totals_are_summed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum in double precision copies what it sums."""
    gpu, summed = torch_module(monkeypatch, 1), list[int]()
    monkeypatch.setattr(gpu, "_PART", 1000)
    plain = Tensor.sum
    monkeypatch.setattr(Tensor, "sum", lambda self, *args, **named: summed.append(self.array.size) or plain(self, *args, **named))
    arrays = gpu.TorchArrays()
    held = arrays.put(np.zeros(2500))
    assert arrays.exponentiate(held) == (0.0, 2500.0)
    assert summed == [1000, 1000, 500]
    assert arrays.take(held).dtype == np.float32
