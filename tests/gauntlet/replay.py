"""Frozen-noise replay: run a question on a table, then on a neighbour with every mechanism's output replayed; all else must be the same.

`Mechanism.release` is the only door, so it is where outputs are recorded and given again, and where private inputs are compared.
"""

from __future__ import annotations

import contextlib
import io
import logging
import re
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import groupby
from typing import Any

import numpy as np
from attrs import field, frozen, mutable
from scripted import Seeded

from discreet import Error
from discreet.engines.duckdb.engine import DuckDB
from discreet.engines.engine import Engine
from discreet.ledger import chain
from discreet.loss.amplify import before_sampling
from discreet.loss.loss import compose
from discreet.loss.notions import Approx
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.partition_selection import PartitionSelection, ThresholdedCounts, WeightedGaussianSelection
from discreet.mechanisms.quantile import Quantile
from discreet.mechanisms.quantile_interval import QuantileInterval
from discreet.mechanisms.streams.sparse_vector import SparseVector
from discreet.mechanisms.value_grid import Places
from discreet.private import Private, reveal
from discreet.session.session import Session

Ask = Callable[[Session], Any]  # asks one question and gives its release
OF_GROUPS = (QuantileInterval, NoisyMax)  # one is used for each group, and a unit is bounded over all of them


@frozen(eq=False)
class Call:
    """One passage through the door: the mechanism, what it was given, what it let out, and after how many statements."""

    mechanism: Mechanism[Any]
    private: Any
    output: Any
    statement: int


@mutable
class Trace:
    """All that an onlooker might see of one run, and the calls, which he does not."""

    calls: list[Call] = field(factory=list)
    statements: list[str] = field(factory=list)
    events: list[str] = field(factory=list)  # debits, statements and mechanisms in the order in which they happened
    text: str | None = None
    rows: Any = None
    error: str | None = None
    logs: list[str] = field(factory=list)
    printed: str = ""
    debits: list[Any] = field(factory=list)
    engine_said: list[str] = field(factory=list)  # for whoever mends it; nobody else sees it
    charged: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))  # ε and δ, in all

    @property
    def seen(self) -> dict[str, Any]:
        """What must be the same, by name."""
        return {
            "mechanisms": [call.mechanism for call in self.calls],
            "statements": self.statements,
            "order": self.events,
            "response": self.text,
            "rows": self.rows,
            "error": self.error,
            "log": self.logs,
            "printed": self.printed,
            "debits": self.debits,
        }


class _Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.name} {record.levelname} {record.getMessage()}")


class _Clock:
    """A clock that stands still: the ledger's entries tell when, which is nobody's data."""

    @staticmethod
    def now(zone: Any = None) -> Any:
        from datetime import datetime

        return datetime(2026, 1, 1, tzinfo=zone)


@contextlib.contextmanager
def _patched(owner: Any, name: str, value: Any) -> Iterator[None]:
    before = owner.__dict__[name]
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def standing_clock() -> contextlib.AbstractContextManager[None]:
    """Within it, the ledger's clock stands still."""
    return _patched(chain, "datetime", _Clock)


def run(session: Session, ask: Ask, script: list[Call] | None = None, seed: int = 0) -> Trace:
    """Ask once and keep everything; with a script, mechanisms give what they gave then."""
    trace, kept, out = Trace(), _Kept(), io.StringIO()
    execute, spend = DuckDB._execute, type(session._ledger)._charge

    def release(self: Mechanism[Any], answer: Any, bits: Any = None) -> Any:
        at = len(trace.calls)
        private = reveal(answer)
        trace.events.append(f"mechanism {type(self).__name__}")
        if script is None:
            output = self.sealed().sample(private, Seeded(seed * 1_000_003 + at))
        elif at < len(script):
            output = script[at].output
        else:
            raise AssertionError("more mechanisms than were recorded")
        trace.calls.append(Call(self, private, output, len(trace.statements)))
        assert isinstance(answer, Private)
        return output

    def counted(way: Callable[..., Any]) -> Callable[..., Any]:
        def read(self: DuckDB, sql: str, given: Any = ()) -> Any:
            trace.statements.append(sql)
            trace.events.append("statement")
            return way(self, sql, given)

        return read

    def overheard(self: DuckDB, sql: str) -> Any:
        try:
            return execute(self, sql)
        except Exception as error:
            trace.engine_said.append(re.sub(r"-?\d[\d.e+]*", "#", str(error).splitlines()[0]))
            raise

    def paid(self: Any, *args: Any, **kwargs: Any) -> Any:
        trace.events.append("debit")
        return spend(self, *args, **kwargs)

    root = logging.getLogger()
    level, warned = root.level, warnings.catch_warnings(record=True)
    with (
        _patched(Mechanism, "release", release),
        _patched(Engine, "run", counted(Engine.run)),
        _patched(Engine, "stream", counted(Engine.stream)),
        _patched(DuckDB, "_execute", overheard),
        _patched(type(session._ledger), "_charge", paid),
        standing_clock(),
        warned as said,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(out),
    ):
        warnings.simplefilter("always")
        root.addHandler(kept)
        root.setLevel(logging.NOTSET)
        try:
            found = ask(session)
            trace.text, trace.rows = found.to_text(), repr(found.rows)
        except Exception as error:
            trace.error = f"{type(error).__name__}: {error}"
            if not isinstance(error, Error):
                trace.error = f"UNEXPECTED {trace.error}"
        finally:
            root.removeHandler(kept)
            root.setLevel(level)
        trace.debits = [(entry.kind, entry.text, entry.hash) for entry in session._ledger.entries()]
        spent = session.spent
        trace.charged = spent.epsilon or Fraction(0), spent.delta
    trace.logs, trace.printed = kept.lines + [str(one.message) for one in said], out.getvalue()
    return trace


def differences(first: Trace, second: Trace) -> list[str]:
    """What differs to an onlooker, by name, and what must never happen at all."""
    found = [name for name, value in first.seen.items() if value != second.seen[name]]
    for trace in (first, second):
        stopped = trace.error is not None and trace.error.startswith("NotEnoughData")  # by what a discovery released, for its own price
        if trace.error is not None and not stopped and any(kind == "spend" for kind, _, _ in trace.debits):
            found.append(f"failed after paying: {trace.error[:60]} {' '.join(trace.engine_said)[:120]}")
        elif trace.error is not None and trace.error.startswith("UNEXPECTED"):
            found.append(trace.error[:90])
        if "debit" in trace.events and trace.events.index("debit") > 0:
            found.append("read before paying")
    return list(dict.fromkeys(found))


# ── what was paid ────────────────────────────────────────────────────────────────────────────────────────────────────


def underpaid(trace: Trace, sample: Fraction | None = None) -> list[str]:
    """Whether the mechanisms that were used cost more than was charged; one of each statement's choices counts, as in `excesses`.

    On a sample of a share q of the units, (ε', δ') are paid for by ε = ln(1 + q(e^ε' − 1)) and δ = q·δ' (Balle, Barthe & Gaboardi 2018).
    """
    drawn = {(call.statement, type(call.mechanism)) if isinstance(call.mechanism, OF_GROUPS) else id(call): call for call in trace.calls}
    loss = compose([call.mechanism.loss for call in drawn.values()])
    epsilon, delta = trace.charged
    allowed = Approx(epsilon, delta) if sample is None else Approx(before_sampling(epsilon, sample), delta / sample)
    return [] if loss.within(allowed) else [f"the mechanisms cost more than {allowed}, which is what was charged"]


# ── how far private inputs moved ─────────────────────────────────────────────────────────────────────────────────────


def excesses(first: Trace, second: Trace, add_remove: bool = True) -> list[str]:
    """Where one unit moved what a mechanism was given by more than the mechanism allows for."""
    found = []
    pairs = list(zip(first.calls, second.calls, strict=False))
    for _, group in groupby(pairs, key=lambda pair: pair[0].statement if isinstance(pair[0].mechanism, OF_GROUPS) else id(pair)):
        together = list(group)
        mechanism = together[0][0].mechanism
        inputs = [(a.private, b.private) for a, b in together]
        problem = _excess(mechanism, inputs, add_remove)
        if problem:
            found.append(f"{type(mechanism).__name__}: {problem}")
    return found


def _excess(mechanism: Mechanism[Any], inputs: list[tuple[Any, Any]], add_remove: bool) -> str | None:
    match mechanism:
        case Laplace():
            return _beyond(_moved(*inputs[0], power=1), mechanism.sensitivity, "ℓ1")
        case Gaussian():
            return _beyond(_moved(*inputs[0], power=2), mechanism.sensitivity**2, "ℓ2²")
        case QuantileInterval():
            found = [_excess(part, inputs, add_remove) for part in (mechanism.middle, *mechanism.guards)]
            paid = sum(part.epsilon for part in (mechanism.middle, *mechanism.guards))
            return next((one for one in found if one), None) or _beyond(paid, mechanism.epsilon, "ε of the parts")
        case Quantile():
            scores = sum((_range(mechanism, a, b) for a, b in inputs), Fraction(0)) * mechanism.rate
            weights = sum(_weights_moved(mechanism, a, b) for a, b in inputs)
            heavy = _beyond(weights, mechanism.weight, "weight") if add_remove else None
            return heavy or _beyond(scores, mechanism.epsilon, "range of log-ratios")
        case Exponential() | SparseVector():
            shifts = [y - x for x, y in zip(*(map(int, np.asarray(scores).tolist()) for scores in inputs[0]), strict=True)]
            if mechanism.monotone and min(shifts) < 0 < max(shifts):
                return "scores move both ways"
            return _beyond(max(map(abs, shifts)), mechanism.sensitivity, "a score")
        case NoisyMax():
            changes = [np.asarray(b) - np.asarray(a) for a, b in inputs]  # one array for each group
            if mechanism.monotone and min(map(np.min, changes)) < 0 < max(map(np.max, changes)):
                return "scores move both ways"
            largest = sum(int(np.abs(change).max()) for change in changes)
            heavy = _beyond(largest, mechanism.sensitivity, "largest votes") if add_remove else None
            # a winner depends on differences of scores, so what counts in a group is how far apart their changes are
            apart = sum(int(change.max() - change.min()) for change in changes)
            return heavy or _beyond(apart * mechanism.rate, mechanism.epsilon, "log-ratios of winners")
        case PartitionSelection() | ThresholdedCounts():
            changes = _labels_moved(*inputs[0])
            steps = 1 if add_remove else 2  # a removal and an addition; test_found.py checks that two are paid for
            return _beyond(len(changes), steps * mechanism.partitions, "groups") or _beyond(max(changes, default=0), 1, "one group's size")
        case WeightedGaussianSelection():
            steps = 1 if add_remove else 2
            return _beyond(sum(change**2 for change in _labels_moved(*inputs[0])), steps * mechanism.unit**2, "ℓ2² of weights")
    return f"unknown mechanism {mechanism}"


def _beyond(moved: int | Fraction, allowed: int | Fraction, what: str) -> str | None:
    return f"{what} moved by {float(moved):.8g}, allowed {float(allowed):.8g}" if moved > allowed else None


def _moved(a: Any, b: Any, power: int) -> int:
    if isinstance(a, int) and isinstance(b, int):
        a, b = [a], [b]
    assert len(a) == len(b), "the shape depends on the data"
    return sum(abs(int(x) - int(y)) ** power for x, y in zip(a, b, strict=True))


def _tidy(mechanism: Quantile, places: Places) -> dict[int, int]:
    points, counts = mechanism.grid.tidy(places)
    return dict(zip(points.tolist(), counts.tolist(), strict=True))


def _weights_moved(mechanism: Quantile, a: Places, b: Places) -> int:
    before, after = _tidy(mechanism, a), _tidy(mechanism, b)
    return sum(abs(before.get(at, 0) - after.get(at, 0)) for at in before.keys() | after.keys())


def _range(mechanism: Quantile, a: Places, b: Places) -> Fraction:
    """How far apart the changes of two grid points' scores are: what the exponential mechanism's log-ratio may span, over its rate."""
    before, after = _tidy(mechanism, a), _tidy(mechanism, b)
    at = sorted({0, mechanism.grid.points - 1} | {p + d for p in before.keys() | after.keys() for d in (-1, 0, 1)})
    at = [p for p in at if 0 <= p < mechanism.grid.points]
    changes = [y - x for x, y in zip(_scores(mechanism, before, at), _scores(mechanism, after, at), strict=True)]
    return Fraction(max(changes) - min(changes), mechanism.q.denominator)


def _scores(mechanism: Quantile, places: dict[int, int], at: list[int]) -> list[int]:
    """The scores of points in ascending order, times q's denominator."""
    q, below, scores = mechanism.q, 0, []
    target = q.numerator * sum(places.values()) + q.denominator * mechanism.offset
    waiting = sorted(places.items())
    here = 0
    for point in at:
        while here < len(waiting) and waiting[here][0] < point:
            below += waiting[here][1]
            here += 1
        before = q.denominator * below - target if point > 0 else 0
        after = target - q.denominator * (below + places.get(point, 0)) if point < mechanism.grid.points - 1 else 0
        scores.append(-max(before, after, 0))
    return scores


def _labels_moved(a: Any, b: Any) -> list[int]:
    before, after = (dict(zip(labels, sizes.tolist(), strict=True)) for labels, sizes in (a, b))
    moved = [abs(before.get(label, 0) - after.get(label, 0)) for label in before.keys() | after.keys()]
    return [change for change in moved if change]
