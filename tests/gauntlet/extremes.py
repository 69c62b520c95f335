"""Every type that a Parquet file or an Arrow table may store, with values at its ends, also those that Python has no value for."""

from __future__ import annotations

from decimal import Decimal
from math import inf, nan
from typing import Any

import numpy as np
import pyarrow as pa
from attrs import frozen

MOST, LEAST = 2**63 - 1, -(2**63)
_SOON = 253_402_300_799  # the last second of the year 9999
_EVER = [LEAST, LEAST + 1, LEAST + 2, MOST, MOST - 1]


@frozen
class Extreme:
    """A stored type, one ordinary value, and the others; `raw` is the type as which they are written down."""

    type: Any
    usual: Any
    hard: list[Any]
    raw: Any = None
    numeric: bool = False
    chosen: bool = True  # whether MODE and groups are allowed

    def column(self, values: list[Any]) -> Any:
        """A column of these values, without a check of what they mean."""
        if self.raw is None:
            return pa.array(values, self.type)
        if self.raw == "bytes":
            return _unchecked([None if value is None else value for value in values])
        whole = pa.array(values, self.raw)
        return whole.view(self.type)


def _unchecked(values: list[bytes | None]) -> Any:
    """Texts of any bytes."""
    ends = np.cumsum([0, *(len(value or b"") for value in values)]).astype(np.int32)
    bits = np.packbits([value is not None for value in values], bitorder="little")
    buffers = [pa.py_buffer(bits.tobytes()), pa.py_buffer(ends.tobytes()), pa.py_buffer(b"".join(value or b"" for value in values))]
    return pa.Array.from_buffers(pa.string(), len(values), buffers)


def _whole(bits: int, signed: bool) -> list[int | None]:
    return [*((-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)), 0, 1, None]


def _moments(unit: str, per_second: int, zone: str | None = None) -> Extreme:
    ends = [-62_135_596_800 * per_second, -62_135_596_801 * per_second, _SOON * per_second, (_SOON + 1) * per_second]
    inside = [end for end in ends if LEAST <= end <= MOST]  # nanoseconds do not reach the years 1 and 9999
    return Extreme(pa.timestamp(unit, zone), 1_709_208_000 * per_second, [*_EVER, *inside, -1, 0, None], pa.int64())


_REALS = [nan, inf, -inf, -0.0, 0.0, 1e16 + 2, 0.1, None]
_TEXTS = [
    "", " ", "\x00", "a\x00b", "\x00\x00", "NULL", "o'brien\"; --", "\\", "%_", "\U0001f600\u202e", "é", "e\u0301", "\ufeff", "\uffff",
    "\U0010ffff", "\ud7ff\ue000", "İı", "x" * 70_000, "漢" * 30_000, None,
]  # fmt: skip

_BYTES = [b"\xff", b"\xc3", b"a\xffb", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", None]
_DAYS = [-(2**31), -(2**31) + 1, 2**31 - 1, 2**31 - 2, -719_162, -719_163, 2_932_896, 2_932_897, None]

EXTREMES: dict[str, Extreme] = {
    "double": Extreme(pa.float64(), 5.0, [*_REALS, 5e-324, 2.2e-308, 1.7976931348623157e308, -1e308], numeric=True, chosen=False),
    "single": Extreme(pa.float32(), 5.0, [*_REALS[:5], 1e-45, 3.4028234e38, -3.4028234e38], numeric=True, chosen=False),
    **{f"int{bits}": Extreme(getattr(pa, f"int{bits}")(), 5, _whole(bits, True), numeric=True) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": Extreme(getattr(pa, f"uint{bits}")(), 5, _whole(bits, False), numeric=True) for bits in (8, 16, 32, 64)},
    "decimal": Extreme(pa.decimal128(4, 1), Decimal(5), [Decimal("999.9"), Decimal("-999.9"), None], numeric=True, chosen=False),
    "wide decimal": Extreme(
        pa.decimal128(38, 6), Decimal(5), [Decimal(10) ** 31, -(Decimal(10) ** 31), Decimal("0.000001"), None], numeric=True, chosen=False
    ),
    "whole decimal": Extreme(pa.decimal128(38, 0), Decimal(5), [Decimal("9" * 38), Decimal("-" + "9" * 38)], numeric=True, chosen=False),
    "truth": Extreme(pa.bool_(), True, [False, None]),
    "text": Extreme(pa.string(), "er", _TEXTS),
    "bytes as text": Extreme(pa.string(), b"er", _BYTES, "bytes"),
    "long text": Extreme(pa.large_string(), "er", ["", "\x00", None]),
    "listed text": Extreme(pa.dictionary(pa.int32(), pa.string()), "er", ["", "é", None]),
    "day": Extreme(pa.date32(), 19_782, _DAYS, pa.int32()),
    "seconds": _moments("s", 1),
    "milliseconds": _moments("ms", 10**3),
    "microseconds": _moments("us", 10**6),
    "nanoseconds": _moments("ns", 10**9),
    "zoned seconds": _moments("s", 1, "UTC"),
    "zoned milliseconds": _moments("ms", 10**3, "UTC"),
    "zoned": _moments("us", 10**6, "UTC"),
    "zoned nanoseconds": _moments("ns", 10**9, "UTC"),
}  # fmt: skip

UNREAD: dict[str, tuple[Any, list[Any]]] = {
    "bytes": (pa.binary(), [b"", b"\xff\x00"]),
    "sixteen bytes": (pa.binary(16), [b"\x00" * 16, b"\xff" * 16]),
    "time": (pa.time64("us"), [0, 86_399_999_999]),
    "list": (pa.list_(pa.int64()), [[], [MOST]]),
    "record": (pa.struct({"a": pa.int64()}), [{"a": LEAST}, {"a": None}]),
}
