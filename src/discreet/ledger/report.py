"""What is said of a ledger that was verified."""

from __future__ import annotations

from typing import final

from attrs import frozen


@final
@frozen
class Report:
    """What was verified: how many entries, the last one's hash, and whether somebody outside keeps watch.

    `repriced` counts the spends that this version would charge otherwise: 0, unless an older version wrote them.
    """

    entries: int
    spends: int
    releases: int
    repriced: int
    head: str
    witnessed: bool
