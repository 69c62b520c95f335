"""The result of verifying a ledger."""

from __future__ import annotations

from typing import final

from attrs import frozen


@final
@frozen
class Report:
    """The number of entries that were verified, the hash of the last one, and whether the ledger has a witness.

    `received` counts how often analysts were charged for a release that somebody else had paid for. `repriced` counts the spends that this
    version would price differently: 0, unless an older version wrote them.
    """

    entries: int
    spends: int
    releases: int
    received: int
    repriced: int
    head: str
    witnessed: bool
