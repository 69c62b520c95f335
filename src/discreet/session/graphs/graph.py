"""A graph in a table of edges: count edges, degrees and triangles, where each edge or each node is protected."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, final, overload

from discreet import exact
from discreet.address import is_address
from discreet.algorithms.graphs import arguments
from discreet.algorithms.graphs.arguments import Protects
from discreet.engines.choose import belongs_to, open_engine
from discreet.engines.engine import Engine
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.purchases import purchases_as_dicts
from discreet.ledger.standing import Amount
from discreet.ledger.terms import Terms
from discreet.plots.page import html_lines
from discreet.session.connect import ledger_place
from discreet.session.graphs.edges import Edges
from discreet.session.graphs.release import GraphRelease
from discreet.session.graphs.request import GraphQuery
from discreet.session.graphs.table import EdgeTable
from discreet.session.released import Released
from discreet.tables.kind import Kind


def graph(
    edges: Any,
    *,
    source: str,
    target: str,
    protects: Protects,
    epsilon: Number,
    delta: Number = 0,
    columns: Mapping[str, str] | None = None,
    version: str = "1",
    ledger: str | os.PathLike[str] | None = None,
    witness: str | os.PathLike[str] | None = None,
    engine: Any = None,
    analyst: str | None = None,
) -> GraphSession:
    """Open a table of edges for private questions.

    `edges`: a path to Parquet or CSV, a pandas, Polars or Arrow table, or a dict with one table's name and any data that `connect` opens.
    `source`, `target`: the columns with the two ends of each edge; directions, repeated rows and loops do not count. `protects="edge"`:
    whether any two nodes are joined stays private, however many rows say so. `protects="node"`: so does each node with all its edges.
    `epsilon`, `delta`: the privacy budget of one of these, for all questions together. `columns` gives the types of columns of a CSV file
    or a data frame, as in `connect`.
    """
    name, data = _source(edges)
    arguments.protects(protects)
    terms = Terms(exact.positive(epsilon, "epsilon"), delta, f"each {protects} of {name}")
    place = ledger_place({name: data}, (), ledger)
    opened = open_engine({name: data}, _kinds(columns, name), engine, {name: (source, target)})
    try:
        _check_columns(opened.schema(name), source, target)
        account = open_ledger(place, terms, witness)
        account.allowance(analyst)  # or whoever asks has none
    except BaseException:
        opened.close()
        raise
    return GraphSession(opened, account, EdgeTable(name, source, target, protects, version), analyst)


@final
class GraphSession:
    """A graph that may be asked about: errors first, every answer paid for once, from one budget."""

    def __init__(self, engine: Engine, ledger: Ledger, table: EdgeTable, analyst: str | None = None) -> None:
        self._engine, self._ledger = engine, ledger
        self._edges = Edges(engine, ledger, table, analyst)

    # ── asking: without an epsilon, the question; with one, its answer ───────────────────────────────────────────────

    @overload
    def edges(self, *, most: int | None = None) -> GraphQuery: ...
    @overload
    def edges(self, *, epsilon: Number, most: int | None = None) -> GraphRelease: ...
    def edges(self, *, epsilon: Number | None = None, most: int | None = None) -> GraphQuery | GraphRelease:
        """The number of edges. Where nodes are protected, at most `most` of a node are counted; half of ε chooses a default `most`."""
        return self._ask(GraphQuery(self._edges, "edges", most), epsilon)

    @overload
    def degrees(self, *, most: int) -> GraphQuery: ...
    @overload
    def degrees(self, *, epsilon: Number, most: int) -> GraphRelease: ...
    def degrees(self, *, epsilon: Number | None = None, most: int) -> GraphQuery | GraphRelease:
        """How many nodes have 1, 2, …, `most` edges: `.value.histogram`, `.value.at_least`."""
        return self._ask(GraphQuery(self._edges, "degrees", most), epsilon)

    @overload
    def triangles(self, *, most: int | None = None) -> GraphQuery: ...
    @overload
    def triangles(self, *, epsilon: Number, most: int | None = None) -> GraphRelease: ...
    def triangles(self, *, epsilon: Number | None = None, most: int | None = None) -> GraphQuery | GraphRelease:
        """How many triangles there are; where nodes are protected, among nodes with at most `most` edges."""
        return self._ask(GraphQuery(self._edges, "triangles", most), epsilon)

    @overload
    def degree_sequence(self, *, nodes: int) -> GraphQuery: ...
    @overload
    def degree_sequence(self, *, epsilon: Number, nodes: int) -> GraphRelease: ...
    def degree_sequence(self, *, epsilon: Number | None = None, nodes: int) -> GraphQuery | GraphRelease:
        """The sorted degrees of a public number of nodes, where edges are protected."""
        return self._ask(GraphQuery(self._edges, "degree sequence", None, nodes), epsilon)

    @staticmethod
    def _ask(query: GraphQuery, epsilon: Number | None) -> GraphQuery | GraphRelease:
        return query if epsilon is None else query.release(epsilon)

    def verify(self, release: Released) -> None:
        """Check a release and its receipt against this session's ledger; raise Invalid or LedgerError if they are not from here."""
        release.verify(self._ledger)

    # ── the budget ───────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def remaining(self) -> Amount:
        """The price of the largest single question that is still admitted."""
        return self._edges.payments.allowance.remaining

    @property
    def spent(self) -> Amount:
        """What was charged so far."""
        return self._edges.payments.allowance.spent

    def history(self) -> list[dict[str, Any]]:
        """Every payment, oldest first: when, its price, what was asked, and whether it was answered."""
        return purchases_as_dicts(self._ledger)

    def close(self) -> None:
        """Close the engine and the ledger."""
        self._edges.close()
        self._engine.close()
        self._ledger.close()

    def __enter__(self) -> GraphSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid("a session holds connections and cannot be copied or pickled: open it again where it is needed, with the same ledger")

    def __repr__(self) -> str:
        return f"GraphSession(protects {self._edges.table.protected}; remaining ε = {float(self.remaining.epsilon or 0):g})"

    def _repr_html_(self) -> str:
        return html_lines(repr(self), [f"{one['asked']}: ε = {one['epsilon']:g}" for one in self.history()])


def _source(edges: Any) -> tuple[str, Any]:
    """The name of the table of edges, and what it is read from."""
    if isinstance(edges, Mapping):
        if len(edges) != 1 or not all(isinstance(name, str) and name.isidentifier() for name in edges):
            raise Invalid("give one table of edges, named by an identifier, as in {'friendships': 'friendships.parquet'}")
        return next(iter(edges.items()))
    if isinstance(edges, str | os.PathLike) and not is_address(edges):
        return Path(edges).name.split(".")[0], edges
    if belongs_to(edges) == "duckdb":
        return "edges", edges
    raise Invalid("name the table of edges, as in {'friendships': (place, 'social.friendships')}")


def _check_columns(schema: Mapping[str, Any], source: str, target: str) -> None:
    """Both columns are there, are two, and hold names of the same kind; all of this is public."""
    for column in (source, target):
        if schema.get(column) is None:
            there = ", ".join(name for name, kind in schema.items() if kind is not None)
            raise Invalid(f"the table has no column {column} that can be used; it has {there}")
    if source == target:
        raise Invalid("source and target must be two different columns: name another for one of them")
    if schema[source] is not schema[target] and not (schema[source].numeric and schema[target].numeric):
        raise Invalid(f"{source} and {target} must hold names of the same kind: one is {schema[source].value}, one {schema[target].value}")


def _kinds(columns: Mapping[str, str] | None, table: str) -> dict[str, dict[str, Kind]]:
    """The kinds as which columns are read, where that is said."""
    names = [kind.value for kind in Kind]
    if not all(kind in names for kind in (columns or {}).values()):
        raise Invalid(f'columns must be a dict such as {{"source": "text"}}, each one of {", ".join(names)}')
    return {table: {column: Kind(kind) for column, kind in (columns or {}).items()}}
