"""The fit over a whole domain: seconds of one gradient of all 3-way marginals, and of a whole fit, on the CPU and on a GPU beside it.

`python benchmarks/dense.py [--devices cpu cuda] [--columns 20 24 26 28 30] [--fit 24 28] [--threads 2] [--mixed]`. Columns are binary, so
that there are 2^columns cells; `--mixed` adds columns of different sizes. It needs numpy and attrs, and torch for the GPU; of this package
it loads the few modules that it measures, so that it also runs where the other libraries are not installed.
"""

from __future__ import annotations

import argparse
import importlib
import resource
import sys
import time
from itertools import combinations
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

SOURCE = Path(__file__).parents[1] / "src" / "discreet"
for name, path in (("", "."), (".algorithms", "algorithms"), (".algorithms.marginals", "algorithms/marginals")):
    package = ModuleType("discreet" + name)
    package.__path__ = [str(SOURCE / path)]  # without what __init__ imports
    sys.modules["discreet" + name] = package
CIPHERS = [".".join(["cryptography", "hazmat", "primitives", "ciphers"][:k]) for k in (1, 2, 3, 4)]
for name in ("flint", *CIPHERS):  # for prices and noise, and there are none here
    try:
        importlib.import_module(name)
    except ImportError:
        sys.modules[name] = MagicMock()

import numpy as np  # noqa: E402

from discreet.algorithms.marginals.arrays import NumpyArrays  # noqa: E402
from discreet.algorithms.marginals.dense import DenseResiduals  # noqa: E402
from discreet.algorithms.marginals.domain import Domain  # noqa: E402
from discreet.algorithms.marginals.measured import NoisyMeasurement  # noqa: E402
from discreet.algorithms.marginals.model import fit_dense  # noqa: E402
from discreet.algorithms.marginals.partial_sums import group_columns  # noqa: E402
from discreet.algorithms.marginals.residual import BITS, Residual, contrasts  # noqa: E402

MIXED = (100, 16, 15, 9, 7, 6, 5, 4, 2, 2, 2, 2)  # 2.9·10⁹ cells, as in a survey
ROWS, DEVIATION = 100_000, 20.0
SEEN = 200  # marginals whose error is computed


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", nargs="+", default=["cpu", "cuda"])
    parser.add_argument("--columns", nargs="*", type=int, default=[16, 20, 22, 24, 26, 28, 30])
    parser.add_argument("--fit", nargs="*", type=int, default=[20, 24, 26, 28, 30])
    parser.add_argument("--mixed", action="store_true")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--most", type=int, default=27, help="columns up to which the CPU is tried")
    asked = parser.parse_args()
    if "cuda" in asked.devices:
        import torch

        from discreet.algorithms.marginals.gpu import gpu_memory

        if gpu_memory() is None:
            sys.exit("torch sees no GPU: --devices cpu")
        print(f"torch {torch.__version__}, {torch.cuda.get_device_name(0)}")
    print(f"numpy {np.__version__}, threads {asked.threads or 'as there are cores, at most 8'}\n")
    cases = [(2,) * d for d in asked.columns] + ([MIXED] if asked.mixed else [])
    print("one gradient of all marginals of up to 3 columns, seconds, best of 5 (memory: the largest at a time)")
    for sizes in cases:
        gradient(sizes, asked)
    print(f"\none fit to {ROWS:,} rows with noise {DEVIATION:g}; error: mean ℓ₁ of 3-way marginals, of what was measured and of the model")
    for sizes in [(2,) * d for d in asked.fit] + ([MIXED] if asked.mixed else []):
        whole_fit(sizes, asked)


def gradient(sizes: tuple[int, ...], asked: Any) -> None:
    """One line: the gradient on each device, their ratio, and how far they are from each other."""
    domain, cliques = domain_of(sizes)
    grouping = group_columns(sizes, cliques)
    potentials = np.random.default_rng(0).normal(0, 0.05, sum(prod(sizes[i] - 1 for i in clique) for clique in cliques))
    found, seconds = {}, {}
    for device in asked.devices:
        if device == "cpu" and domain.size > 2**asked.most:
            continue
        memory_before(device)
        features = DenseResiduals(
            domain, cliques, BITS, [np.log(np.full(size, 1 / size)) for size in sizes], arrays_on(device, domain, asked)
        )
        best = float("inf")
        for _ in range(5):
            began = time.perf_counter()
            found[device] = features.evaluate(potentials)[1]
            best = min(best, time.perf_counter() - began)
        seconds[device] = best
        print(
            f"{shown(sizes):>34} {domain.size:>14,} cells, {len(cliques):,} marginals by {len(grouping.sets)} tables, "
            f"{grouping.tree_cost / domain.size:.1f} passes: {device} {best:.4f} s, {memory(device):.2f} GiB",
            flush=True,
        )
        del features
    if len(seconds) == 2:
        first, second = found.values()
        off = float(np.linalg.norm(first - second) / np.linalg.norm(first))
        print(f"{'':>34} GPU {seconds['cpu'] / seconds['cuda']:.1f} × as fast as the CPU, gradients {off:.1e} apart", flush=True)


def whole_fit(sizes: tuple[int, ...], asked: Any) -> None:
    """One line for each device: seconds, evaluations, memory and error of a fit."""
    domain, cliques = domain_of(sizes)
    codes = chain(sizes)
    random, measured = np.random.default_rng(1), list[NoisyMeasurement]()
    for clique in cliques:
        residual = Residual(domain, clique, BITS)
        values = residual.of(counted(domain, codes, clique).astype(np.int64)).astype(np.float64) / residual.unit
        measured.append(NoisyMeasurement(clique, values + random.normal(0, DEVIATION, values.size), DEVIATION))
    rho = sum(Residual(domain, one.clique, BITS).share / one.deviation**2 for one in measured) / 2
    alone = []
    for i, size in enumerate(sizes):
        values = np.maximum(ROWS / size + measured[i].values @ (contrasts(size, BITS) / 2**BITS), DEVIATION / 4)
        alone.append(values / values.sum())
    seen = [clique for clique in cliques if len(clique) == 3][:: max(1, len(cliques) // SEEN)]
    for device in asked.devices:
        if device == "cpu" and domain.size > 2**asked.most:
            continue
        count = Counting(arrays_on(device, domain, asked))
        memory_before(device)
        began = time.perf_counter()
        model = fit_dense(domain, measured, BITS, alone, float(ROWS), rho, count)  # type: ignore[arg-type]
        took = time.perf_counter() - began
        error = np.mean([np.abs(model.marginal(c).ravel() - counted(domain, codes, c)).sum() / ROWS for c in seen])
        apart = np.mean([np.abs(product(domain, codes, c) - counted(domain, codes, c)).sum() / ROWS for c in seen])
        print(
            f"{shown(sizes):>34} {domain.size:>14,} cells: {device} {took:.1f} s, {count.evaluations} evaluations, "
            f"{memory(device):.2f} GiB; error {error:.4f}, of independent columns {apart:.4f}",
            flush=True,
        )
        del model


class Counting:
    """A back end that counts evaluations."""

    def __init__(self, arrays: Any) -> None:
        self._arrays, self.evaluations = arrays, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._arrays, name)

    def exponentiate(self, array: Any) -> Any:
        """Once for each evaluation."""
        self.evaluations += 1
        return self._arrays.exponentiate(array)


def arrays_on(device: str, domain: Domain, asked: Any) -> Any:
    """A back end."""
    if device == "cpu":
        return NumpyArrays(domain.size, asked.threads)
    from discreet.algorithms.marginals.gpu import TorchArrays

    return TorchArrays(device)


def domain_of(sizes: tuple[int, ...]) -> tuple[Domain, list[tuple[int, ...]]]:
    """Columns, and all cliques of up to three."""
    domain = Domain(tuple(f"c{i}" for i in range(len(sizes))), sizes)
    return domain, [clique for k in (1, 2, 3) for clique in combinations(domain.columns, k)]


def chain(sizes: tuple[int, ...]) -> np.ndarray:
    """Rows in which each column follows the one before it with probability 0.6, and the one before that with 0.2."""
    random, columns = np.random.default_rng(2), list[np.ndarray]()
    for i, size in enumerate(sizes):
        own = (random.random(ROWS) ** 2 * size).astype(np.int64)
        if i:
            own = np.where(random.random(ROWS) < 0.6, columns[-1] % size, own)
        if i > 1:
            own = np.where(random.random(ROWS) < 0.2, columns[-2] % size, own)
        columns.append(own)
    return np.stack(columns)


def counted(domain: Domain, codes: np.ndarray, clique: tuple[int, ...]) -> np.ndarray:
    """A marginal of the rows."""
    places = np.zeros(codes.shape[1], np.int64)
    for i in clique:
        places = places * domain.sizes[i] + codes[i]
    return np.bincount(places, minlength=domain.cells(clique))


def product(domain: Domain, codes: np.ndarray, clique: tuple[int, ...]) -> np.ndarray:
    """A marginal, if columns were independent."""
    found = np.ones(1)
    for i in clique:
        found = np.outer(found, counted(domain, codes, (i,)) / ROWS).ravel()
    return found * ROWS


def shown(sizes: tuple[int, ...]) -> str:
    """Sizes in short."""
    return f"{len(sizes)} × {sizes[0]}" if len(set(sizes)) == 1 else "×".join(map(str, sizes))


def memory_before(device: str) -> None:
    """Forget the largest memory so far, where that is possible."""
    if device == "cuda":
        import torch

        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def memory(device: str) -> float:
    """The largest memory in GiB: of the GPU, or of this process so far."""
    if device == "cuda":
        import torch

        return float(torch.cuda.max_memory_allocated() / 2**30)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    main()
