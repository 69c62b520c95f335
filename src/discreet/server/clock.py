"""When an answer leaves: at the end of a time slot that was chosen before any private row is read.

How long a question takes depends on private rows (a condition that few rows meet, a text that is long to compare), so the moment at which
an answer arrives would tell about them. Here an answer leaves at the end of a slot. The first slot is chosen from public facts alone. A run
that overruns it is delivered at the end of the next slot of a fixed list, each twice as long as the one before.

Leak: all that the time of one answer tells is which slot of the list it was, so at most log₂(slots) bits, and none if no run overruns its
first slot. That is not differentially private; it is bounded, stated by `leak`, and makes a run's cost visible only in powers of two.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import final

from attrs import field, frozen, validators

from discreet.tables.table import Table

_MARGIN = 4.0  # times the predicted duration
_ROWS_A_SECOND = 5e6  # what a slow machine counts, with bounded contributions
_CLOSING = 0.1
_START = 0.02  # seconds that any question takes
_STEPS = {"profile": 8, "synthesize": 200}  # scans of the table; a question takes one, and a few more where it discovers something
_DISCOVERING = 3


@final
@frozen
class Clock:
    """The list of slots: `first` seconds, then twice as long each, up to `longest`; or no slots at all, if the owner turned them off."""

    first: float = field(default=1.0, validator=validators.gt(0))
    longest: float = field(default=3600.0, validator=validators.gt(0))
    off: bool = False

    @property
    def slots(self) -> tuple[float, ...]:
        """The ends of all slots, in seconds after a run begins."""
        if self.off:
            return ()
        count = 1 + max(0, math.ceil(math.log2(self.longest / self.first)))
        return tuple(self.first * 2**i for i in range(count))

    def chosen(self, rows: float, steps: int) -> int:
        """The number of the first slot for a question of so many steps over so many rows, by public sizes."""
        predicted = _MARGIN * (_START + steps * rows / _ROWS_A_SECOND)
        return next((i for i, end in enumerate(self.slots) if end >= predicted), max(len(self.slots) - 1, 0))

    def leaves(self, slot: int, took: float) -> float:
        """The seconds after its beginning at which an answer leaves that was ready after `took` seconds."""
        if self.off:
            return took
        end = self.slots[slot]
        while end < took:
            end *= 2  # beyond the list too
        return end

    @property
    def closing(self) -> float:
        """The last seconds of a slot, in which an outcome is recorded, so that it is ready to leave when the slot ends."""
        return 0.0 if self.off else min(_CLOSING, self.first / 10)

    def leak(self, slot: int) -> float:
        """The most bits that the time of one answer tells, if it leaves by the end of the longest slot."""
        return math.inf if self.off else math.log2(max(len(self.slots) - slot, 1))


def steps_of(call: str) -> int:
    """How many scans what is asked for takes, by the call that asks for it."""
    return _STEPS.get(call, _DISCOVERING)


def rows_of(tables: Iterable[Table], unknown: float) -> float:
    """The rows of the largest private table, as far as they are declared or profiled; else `unknown`."""
    return max((_rows(table, unknown) for table in tables if table.private), default=0.0)


def _rows(table: Table, unknown: float) -> float:
    if table.size is not None:
        return float(table.size)
    return unknown if table.profile is None else max(float(table.profile.rows), 1.0)
