"""Codes and measurements read back from a file, and checked: whatever is made of them later can be made."""

from __future__ import annotations

import base64
import datetime
import zlib
from collections.abc import Mapping
from typing import Any, get_args

import numpy as np

from discreet import exact
from discreet.algorithms.marginals.device import MOST_CELLS as MOST_DENSE
from discreet.algorithms.marginals.domain import Domain
from discreet.algorithms.marginals.measured import NoisyMeasurement
from discreet.algorithms.marginals.methods import NAMES
from discreet.algorithms.marginals.workload import MOST_CELLS, Workload
from discreet.errors import Invalid
from discreet.session.shape import is_number, require, text, whole
from discreet.session.synthesize.codes import Binned, Grain, Listed
from discreet.session.synthesize.domains import Coding
from discreet.session.synthesize.edges import cut
from discreet.tables.kind import Kind, Value

_LARGEST = 2.0**60  # a cell counts no more
_LEAST, _MOST = 1e-100, 1e100  # of a standard deviation: its square and one over it are floats
_TYPES = {Kind.TEXT: str, Kind.INTEGER: int, Kind.BOOLEAN: bool, Kind.DATE: datetime.date, Kind.TIMESTAMP: datetime.datetime}


def coding_from(said: dict[str, Any]) -> Coding:
    """A column's codes, as `query.canonical.plain` wrote them."""
    name, kind = text(said["name"]), Kind(said["kind"])
    if said["is"] == "Listed":
        values = tuple(_value(value) for value in said["values"])
        require(all(value is None or type(value) is _TYPES[kind] for value in values) and len(set(values)) == len(values))
        require(isinstance(said["rest"], bool) and (said["grain"] is None or said["grain"] in get_args(Grain)))
        require(bool(values) or said["rest"])
        return Listed(name, kind, values, said["rest"], said["grain"])
    if said["is"] == "Binned":
        low, high = (exact.rational(text(said[end]["value"])) for end in ("low", "high"))
        require(kind.numeric and low < high and is_number(float(high - low)) and isinstance(said["missing"], bool))
        require(kind is not Kind.INTEGER or max(abs(low), abs(high)) <= 2**54)
        return Binned(name, kind, low, high, whole(said["bins"], 1, MOST_CELLS), said["missing"])
    if said["is"] == "Cut":
        require(isinstance(said["missing"], bool))
        return cut(name, kind, [_value(edge) for edge in said["edges"]], said["missing"], found=True)
    raise Invalid("this receipt has columns of an unknown kind: use the version that wrote it")


def _value(said: Any) -> Value:
    if not isinstance(said, dict):
        return said  # type: ignore[no-any-return]
    if said["is"] == "number":
        return exact.rational(said["value"])
    read = datetime.date if said["is"] == "date" else datetime.datetime
    return read.fromisoformat(said["value"])


def measurement_to_json(one: NoisyMeasurement) -> dict[str, Any]:
    """A measurement as plain values."""
    packed = base64.b64encode(zlib.compress(one.values.astype("<f8").tobytes(), 6)).decode()
    return {"clique": list(one.clique), "deviation": one.deviation, "values": packed}


def measurement_from_json(said: Mapping[str, Any]) -> NoisyMeasurement:
    """Read it back."""
    packed = base64.b64decode(said["values"])
    values = np.frombuffer(zlib.decompressobj().decompress(packed, 8 * (MOST_CELLS + 1)), "<f8").astype(np.float64)  # a file may be a bomb
    require(is_number(said["deviation"]))
    return NoisyMeasurement(tuple(said["clique"]), values, float(said["deviation"]))


def check_measured(method: Any, workload: Workload, measured: tuple[NoisyMeasurement, ...]) -> None:
    """A model can be fitted to this, and rows be made of it: marginals, or residuals after the total, each of the size of its columns."""
    domain, residuals = workload.domain, method == "residuals"
    require(method in NAMES and len(set(domain.names)) == len(domain.names) > 0 and len(measured) > 0)
    require(bool(workload.cliques) and workload.cells <= MOST_CELLS and sum(domain.sizes) <= MOST_CELLS)
    require(not residuals or (domain.size <= MOST_DENSE and measured[0].clique == ()))
    for clique in (*workload.weights, *(one.clique for one in measured)):
        require(all(type(i) is int and 0 <= i < len(domain.names) for i in clique) and list(clique) == sorted(set(clique)))
    for one in measured:
        size = domain.cells(one.clique) if not residuals else _residual_size(domain, one.clique)
        require(one.values.size == size > 0 and bool(np.isfinite(one.values).all()) and float(np.abs(one.values).max()) <= _LARGEST)
        require(_LEAST <= one.deviation <= _MOST)


def _residual_size(domain: Domain, clique: tuple[int, ...]) -> int:
    size = 1
    for i in clique:
        size *= domain.sizes[i] - 1
    return size
