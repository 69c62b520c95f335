"""How the type of a column was found whose type nobody declared: by noisy counts of the values that parse."""

from __future__ import annotations

import math
from typing import Any, final

from attrs import frozen

from discreet.tables.kind import Kind

_SAID = {Kind.INTEGER: "whole numbers", Kind.REAL: "numbers", Kind.DATE: "dates", Kind.TIMESTAMP: "timestamps"}

_TOLD = 0.05  # the share of values that parse from which on a text column is told apart from others


@final
@frozen
class TypeFound:
    """The share of a column's values that parse as `closest`, the half-width of that share (95 %), and whether some are codes like 007.

    A column whose kind is another than `closest` is text: too few of its values parse, or a leading zero says that they are codes.
    """

    closest: Kind
    share: float
    half: float
    padded: bool

    def __str__(self) -> str:
        """
        >>> str(TypeFound(Kind.REAL, 0.991, 0.004, False))
        '99.1 % ± 0.4 of its values parse as numbers'
        """
        return f"{100 * self.share:.1f} % ± {100 * self.half:.1f} of its values parse as {_SAID[self.closest]}"

    def sentence(self, kind: Kind) -> str:
        """What people read about it, for a column that is read as this kind."""
        if kind is not Kind.TEXT:
            return f"type found: {self}, and others are missing"
        if self.padded:
            return "read as text: some values are numbers with leading zeros, as codes have"
        return f"read as text: {self}" if self.share > _TOLD + self.half else "read as text"

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {"closest": self.closest.value, "share": self.share, "half": self.half, "padded": self.padded}

    @classmethod
    def from_json(cls, said: Any) -> TypeFound:
        """Read back what `to_json` gave."""
        closest, share, half = Kind(said["closest"]), float(said["share"]), float(said["half"])
        if closest not in _SAID or not isinstance(said["padded"], bool) or not (math.isfinite(share) and math.isfinite(half)):
            raise ValueError
        return cls(closest, share, half, said["padded"])
