"""The edges of a session: the table, its engine and its payments; read once, and only after something was paid."""

from __future__ import annotations

from typing import final

from discreet.algorithms.graphs.graph import Graph
from discreet.engines.engine import Engine
from discreet.ledger.ledger import Ledger
from discreet.ledger.payment import Payments
from discreet.private import Private
from discreet.session.graphs.table import EdgeTable


@final
class Edges:
    """What every graph question needs of its session."""

    def __init__(self, engine: Engine, ledger: Ledger, table: EdgeTable, analyst: str | None) -> None:
        self.table, self._engine = table, engine
        self.payments = Payments(ledger, analyst, self._ready)
        self._read: Private[Graph] | None = None

    def read(self) -> Private[Graph]:
        """The edges."""
        if self._read is None:
            name = self._engine.dialect.identifier
            ends = f"{name(self.table.source)} AS source_node, {name(self.table.target)} AS target_node"
            rows = self._engine.run(f"SELECT DISTINCT {ends} FROM {name(self.table.name)}")
            self._read = rows.map(lambda columns: Graph.of_columns(columns["source_node"], columns["target_node"]))
        return self._read

    def _ready(self) -> None:
        """Raise unless the edges could be read now; edges that were read before need no engine."""
        if self._read is None:
            self._engine.ready()

    def close(self) -> None:
        """Forget the edges, and take no more payments."""
        self._read = None
        self.payments.close()
