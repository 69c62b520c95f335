"""Back ends of dense arrays for tests: numpy's, and torch's on a CPU, or on numpy where torch is not installed."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from discreet.algorithms.marginals.arrays import SINGLE, NumpyArrays

NAMES = ["double", "single", "torch"]


class Tensor:
    """As much of a tensor as `gpu` uses, with numpy's arithmetic."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def to(self, _: Any) -> Tensor:
        return Tensor(self.array.copy())

    cpu = lambda self: self  # noqa: E731
    numpy = lambda self: self.array  # noqa: E731
    max = lambda self: self.array.max()  # noqa: E731
    __float__ = lambda self: float(self.array)  # noqa: E731

    def view(self, *shape: int) -> Tensor:
        made = self.array.view()
        made.shape = self.array.reshape(shape).shape  # raises where it would copy, as a view of torch does
        return Tensor(made)

    def expand(self, *shape: int) -> Tensor:
        return Tensor(np.broadcast_to(self.array, shape))

    def clone(self, memory_format: str) -> Tensor:
        assert memory_format == "contiguous"
        return Tensor(self.array.copy(order="C"))

    def sum(self, axis: int | None = None, dtype: Any = None) -> Tensor:
        return Tensor(np.asarray(self.array.sum(axis=axis, dtype=dtype)))

    def add_(self, other: Tensor) -> Tensor:
        self.array += other.array
        return self

    def sub_(self, number: float) -> Tensor:
        self.array -= np.float32(number)
        return self

    def mul_(self, number: float) -> Tensor:
        self.array *= np.float32(number)
        return self

    def split(self, size: int) -> list[Tensor]:
        return [Tensor(self.array[i : i + size]) for i in range(0, len(self.array), size)]

    def exp_(self) -> Tensor:
        np.exp(self.array, out=self.array)
        return self


def stand_in(gpus: int) -> ModuleType:
    """A module in the place of torch, with so many GPUs."""
    made: Any = ModuleType("torch")
    made.__spec__ = ModuleSpec("torch", None)  # it is installed
    made.float64, made.device, made.from_numpy, made.contiguous_format = np.float64, str, Tensor, "contiguous"
    made.cuda = SimpleNamespace(is_available=lambda: gpus > 0, get_device_properties=lambda _: SimpleNamespace(total_memory=2**35))
    return made  # type: ignore[no-any-return]


def torch_module(patch: pytest.MonkeyPatch, gpus: int | None = None) -> Any:
    """`gpu`, with torch as it is installed, or with a stand-in (always, if the number of GPUs is given)."""
    if gpus is not None or importlib.util.find_spec("torch") is None:
        patch.setitem(sys.modules, "torch", stand_in(gpus or 0))
        patch.delitem(sys.modules, "discreet.algorithms.marginals.gpu", raising=False)
        made = importlib.import_module("discreet.algorithms.marginals.gpu")
        patch.setitem(sys.modules, "discreet.algorithms.marginals.gpu", made)  # and not after the test
        return made
    return importlib.import_module("discreet.algorithms.marginals.gpu")


def backend(name: str, patch: pytest.MonkeyPatch) -> Any:
    """A back end by its name."""
    if name == "torch":
        return torch_module(patch).TorchArrays("cpu")
    return NumpyArrays(1 if name == "double" else SINGLE + 1, threads=2)
