"""Where a model over the whole domain is fitted, on the CPU or a GPU, and what that takes: seconds and memory, by public sizes alone."""

from __future__ import annotations

import importlib.util
from collections.abc import Collection
from math import prod
from typing import Literal, TypeAlias, final

from attrs import frozen

from discreet.algorithms.marginals.arrays import SINGLE, Arrays, NumpyArrays
from discreet.algorithms.marginals.domain import Clique, Domain
from discreet.algorithms.marginals.partial_sums import group_columns
from discreet.errors import Invalid
from discreet.extras import require

Device: TypeAlias = Literal["cpu", "cuda"]
DEVICES = ("auto", "cpu", "cuda")
MOST_CELLS = 2**32  # of a domain that is held as one array, on any device
MOST_SECONDS = 180.0  # of a fit, as predicted
_GIB = 2**30
_MOST_MEMORY = {"cpu": 4 * _GIB, "cuda": 24 * _GIB}  # of the machine, beside the GPU's own
_USABLE = 0.8  # of a GPU's memory
_QUICK = 5.0  # seconds on the CPU for which a GPU is not started
# Measured by benchmarks/dense.py: seconds for each cell that is read or written in double and in single precision on two cores, and on an
# H200; for each operation on a table, for each number that is fitted, and for one evaluation by itself.
_CELL = {"double": 0.6e-9, "single": 0.45e-9, "cuda": 3e-12}
_TABLE, _NUMBER, _EACH = 0.15e-9, 1e-7, {"cpu": 1e-3, "cuda": 5e-3}
_EVALUATIONS = 300  # of a fit; between 160 and 420 were seen
_KEPT = 34  # vectors that the fit holds: L-BFGS keeps 12 pairs


@final
@frozen
class FitForecast:
    """What a fit takes on one device."""

    device: Device
    cells: int
    seconds: float = float("inf")
    memory: float = float("inf")  # bytes of the machine
    gpu_memory: float = 0.0  # bytes of the GPU
    gpu_limit: float = float("inf")

    @property
    def too_large(self) -> str:
        """Why there is not enough memory; empty if there is."""
        if self.cells > MOST_CELLS:
            return f"more cells than the {MOST_CELLS:,} that may be used"
        if self.gpu_memory > self.gpu_limit:
            return f"about {_size(self.gpu_memory)} of the GPU's memory, and {_size(self.gpu_limit)} may be used"
        most = _MOST_MEMORY[self.device]
        return f"about {_size(self.memory)} of memory, and {_size(most)} may be used" if self.memory > most else ""

    @property
    def refusal(self) -> str:
        """Why there is no fit here; empty if there is one."""
        slow = f"about {self.seconds:,.0f} s, and {MOST_SECONDS:.0f} s may be used" if self.seconds > MOST_SECONDS else ""
        return self.too_large or slow

    def __str__(self) -> str:
        where = "a GPU" if self.device == "cuda" else "the CPU"
        beside = f", {_size(self.gpu_memory)} of the GPU's" if self.device == "cuda" else ""
        return f"fitted on {where} in about {_time(self.seconds)}, with {_size(self.memory)} of memory{beside}"


def check_device(device: str) -> None:
    """Raise Invalid unless it is a device, and is there."""
    if device not in DEVICES:
        raise Invalid(f"device must be one of {', '.join(DEVICES)}")
    if device == "cuda":
        require("torch")
        if _gpu_memory() is None:
            raise Invalid("device='cuda' needs a GPU that torch can use, and there is none: use device='cpu' or 'auto'")


def forecast(domain: Domain, cliques: Collection[Clique], device: str = "auto") -> FitForecast:
    """What a fit to measurements of these cliques takes; "auto" is the CPU where that is quick or there is no GPU, else the GPU."""
    cpu = _forecast(domain, cliques, "cpu")
    if device == "cpu" or (device == "auto" and ((not cpu.refusal and cpu.seconds <= _QUICK) or not _has_gpu())):
        return cpu
    gpu = _forecast(domain, cliques, "cuda")
    return cpu if device == "auto" and gpu.refusal and not cpu.refusal else gpu


def arrays_on(device: Device, domain: Domain) -> Arrays:
    """The back end of a device."""
    if device == "cpu":
        return NumpyArrays(domain.size)
    from discreet.algorithms.marginals.gpu import TorchArrays

    return TorchArrays()


def _forecast(domain: Domain, cliques: Collection[Clique], device: Device) -> FitForecast:
    cells = domain.size
    if cells > MOST_CELLS:
        return FitForecast(device, cells)
    grouping = group_columns(domain.sizes, cliques)
    numbers = sum(prod(domain.sizes[i] - 1 for i in clique) for clique in cliques)
    tables = grouping.table_cells
    each = _CELL["cuda" if device == "cuda" else "double" if cells <= SINGLE else "single"]
    evaluation = each * (2 * grouping.tree_cost + 4 * cells) + _TABLE * grouping.table_cost + _NUMBER * numbers + _EACH[device]
    seconds, rest = _EVALUATIONS * evaluation, 8 * (_KEPT * numbers + 6 * tables)
    if device == "cuda":
        on_gpu = 5.5 * cells + 8 * tables + _GIB / 2
        return FitForecast(device, cells, seconds, 4 * cells + rest, on_gpu, _USABLE * (_gpu_memory() or 0))
    return FitForecast(device, cells, seconds, (64 if cells <= SINGLE else 36) * cells + rest)


def _has_gpu() -> bool:
    return importlib.util.find_spec("torch") is not None and _gpu_memory() is not None


def _gpu_memory() -> int | None:
    from discreet.algorithms.marginals.gpu import gpu_memory

    return gpu_memory()


def _size(size: float) -> str:
    return f"{size / _GIB:.1f} GiB" if size >= _GIB / 10 else f"{max(1, round(size / 2**20)):,} MiB"


def _time(seconds: float) -> str:
    return "a second" if seconds < 1 else f"{float(f'{seconds:.2g}'):,.0f} s"
