"""A table of edges, and who is protected in it."""

from __future__ import annotations

from typing import final

from attrs import asdict, frozen

from discreet.algorithms.graphs.arguments import Protects
from discreet.query.canonical import fingerprint


@final
@frozen
class EdgeTable:
    """Where the edges are, and who is protected: the public part of every question."""

    name: str
    source: str
    target: str
    protects: Protects
    version: str

    @property
    def protected(self) -> str:
        """Who is protected, in words."""
        return f"each {self.protects} of {self.name}"

    @property
    def digest(self) -> str:
        """A name for what is declared."""
        return fingerprint(asdict(self))
