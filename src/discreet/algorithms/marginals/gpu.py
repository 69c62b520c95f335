"""Arrays of torch: on a GPU in single precision. The only module that imports torch; `device` imports it on first use."""

from __future__ import annotations

from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray

from discreet.algorithms.marginals.arrays import Array, Floats

_PART = 2**26  # cells that are summed in double precision at a time


def gpu_memory() -> int | None:
    """The bytes of memory of the first GPU; None where torch sees none."""
    return int(torch.cuda.get_device_properties(0).total_memory) if torch.cuda.is_available() else None


@final
class TorchArrays:
    """Arrays of torch on a device, in single precision; totals are summed in double precision."""

    def __init__(self, device: str = "cuda") -> None:
        self._device = torch.device(device)

    @property
    def itemsize(self) -> int:
        return 4

    def put(self, table: Floats) -> Array:
        return torch.from_numpy(np.ascontiguousarray(table, np.float32).reshape(-1)).to(self._device)

    def take(self, array: Array, scale: float = 1.0) -> NDArray[Any]:
        return np.asarray((array if scale == 1.0 else array.mul_(scale)).cpu().numpy())

    def repeat(self, array: Array, before: int, among: int, after: int) -> Array:
        return array.view(before, 1, after).expand(before, among, after).clone(memory_format=torch.contiguous_format).view(-1)

    def add(self, to: Array, array: Array, before: int, among: int, after: int) -> None:
        to.view(before, among, after).add_(array.view(before, 1, after))

    def sum(self, array: Array, before: int, among: int, after: int) -> Array:
        return array.view(before, among, after).sum(1).view(-1)

    def exponentiate(self, array: Array) -> tuple[float, float]:
        top = float(array.max())
        array.sub_(top).exp_()
        return top, sum(float(part.sum(dtype=torch.float64)) for part in array.split(_PART))  # a sum in double precision copies its part
