"""A graph in a table of edges: count edges, degrees and triangles, where each edge or each node is protected."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, final

from attrs import asdict, field, frozen

from discreet import exact
from discreet.address import is_address
from discreet.algorithms.graphs import arguments
from discreet.algorithms.graphs.arguments import Protects
from discreet.algorithms.graphs.degrees import Degrees
from discreet.algorithms.graphs.graph import Graph
from discreet.algorithms.graphs.plan import GraphPlan, What
from discreet.engines.choose import belongs_to, open_engine
from discreet.engines.engine import Engine
from discreet.errors import Invalid
from discreet.exact import Number
from discreet.ledger.chain import Entry
from discreet.ledger.chain import digest as seal_of
from discreet.ledger.ledger import Ledger, open_ledger
from discreet.ledger.payment import CLOSED, Payments
from discreet.ledger.purchases import purchases_as_dicts
from discreet.ledger.standing import Amount
from discreet.ledger.terms import Terms
from discreet.loss import record
from discreet.private import Private
from discreet.query.canonical import fingerprint, plain
from discreet.session.connect import ledger_place
from discreet.tables.kind import Kind

FORMAT = 1
CONFIDENCE = Fraction(19, 20)


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
    `epsilon`, `delta`: how much may ever be learnt about one of these. `columns` gives the types of columns of a CSV file or a data frame,
    as in `connect`.
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
    return GraphSession(opened, account, Table(name, source, target, protects, version), analyst)


@final
@frozen
class Table:
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


@final
@frozen(eq=False, repr=False)
class GraphRelease:
    """An answer with its error; everything here is public, and costs nothing again.

    `value` is a count, the `Degrees`, or the sorted degrees; `half_width` how far off it may be with the stated confidence (for degrees
    any of the counts "at least"), or None where only the graph itself could tell.
    """

    value: Any
    half_width: float | None
    receipt: dict[str, Any]
    repeated: bool = field(default=False)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the count lies that the question asks for, with the stated confidence; only of a single count."""
        if self.half_width is None or not isinstance(self.value, int):
            return None
        return max(self.value - self.half_width, 0.0), max(self.value + self.half_width, 0.0)

    @property
    def most(self) -> int | None:
        """How many edges of one node counted, if there was a limit."""
        limit: int | None = self.receipt["found"].get("most", self.receipt["asked"]["most"])
        return limit

    def to_text(self) -> str:
        """The text that it is read back from."""
        return json.dumps({"value": self._plain, "half_width": self.half_width, "receipt": self.receipt}, sort_keys=True)

    @classmethod
    def from_text(cls, text: str, repeated: bool = False) -> GraphRelease:
        """Read back what to_text wrote."""
        said = json.loads(text)
        value = Degrees(said["value"]) if said["receipt"]["asked"]["what"] == "degrees" else said["value"]
        return cls(value, said["half_width"], said["receipt"], repeated)

    @property
    def _plain(self) -> Any:
        return list(self.value.noisy) if isinstance(self.value, Degrees) else self.value

    def __repr__(self) -> str:
        what, said = self.receipt["asked"]["what"], self.receipt
        shown = {"degrees": "at least 1, 2, … edges: "}.get(what, f"{what}: ") + self._shown
        error = "its error cannot be told" if self.half_width is None else f"± {self.half_width:,.6g} ({float(CONFIDENCE) * 100:g} %)"
        cost = f"ε = {float(Fraction(said['epsilon'])):g} for {said['protected']}; ledger entry {said['ledger']['sequence']}"
        group = ", ".join(
            f"{size}: ε = {float(Fraction(price)):g}" for size, price in sorted(said["groups"].items(), key=lambda one: int(one[0]))
        )
        free = "answered before, so free now; it cost " if self.repeated else "cost "
        limit = [] if self.most is None or self.receipt["asked"]["protects"] == "edge" else [f"at most {self.most} edges of one node count"]
        return "\n".join([f"{shown} {error}", *limit, free + cost, f"several {said['asked']['protects']}s together: {group}"])

    @property
    def _shown(self) -> str:
        match self.value:
            case Degrees():
                return ", ".join(f"{count:,.6g}" for count in self.value.at_least)
            case list():
                return ", ".join(f"{degree:,.6g}" for degree in self.value[:10]) + (" …" if len(self.value) > 10 else "")
            case _:
                return f"{self.value:,}"


@final
class GraphSession:
    """A graph that may be asked about: errors first, every answer paid for once, from one budget."""

    def __init__(self, engine: Engine, ledger: Ledger, table: Table, analyst: str | None = None) -> None:
        self._engine, self._ledger, self._table = engine, ledger, table
        self._payments = Payments(ledger, analyst, self._ready)
        self._read: Private[Graph] | None = None
        self._closed = False

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def plan(self, what: What, *, epsilon: Number, most: int | None = None, nodes: int | None = None) -> GraphPlan:
        """What a question would do and cost, and how far off it would be: `plan("edges", epsilon=0.1).error()`. Nothing is spent."""
        return GraphPlan(what=what, protects=self._table.protects, epsilon=epsilon, most=most, nodes=nodes)

    def edges(self, *, epsilon: Number, most: int | None = None) -> GraphRelease:
        """How many edges there are; where nodes are protected, `most` of one node count, or as many as is found for half of ε."""
        return self._release(self.plan("edges", epsilon=epsilon, most=most))

    def degrees(self, *, epsilon: Number, most: int) -> GraphRelease:
        """How many nodes have 1, 2, …, `most` edges: `.value.histogram`, `.value.at_least`."""
        return self._release(self.plan("degrees", epsilon=epsilon, most=most))

    def triangles(self, *, epsilon: Number, most: int | None = None) -> GraphRelease:
        """How many triangles there are; where nodes are protected, among nodes with at most `most` edges."""
        return self._release(self.plan("triangles", epsilon=epsilon, most=most))

    def degree_sequence(self, *, epsilon: Number, nodes: int) -> GraphRelease:
        """The sorted degrees of a public number of nodes, where edges are protected."""
        return self._release(self.plan("degree sequence", epsilon=epsilon, nodes=nodes))

    # ── the budget ───────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def remaining(self) -> Amount:
        """The largest single further question that is still admitted."""
        return self._payments.allowance.remaining

    @property
    def spent(self) -> Amount:
        """What was charged so far."""
        return self._payments.allowance.spent

    def history(self) -> list[dict[str, Any]]:
        """Every question that was paid for, oldest first: when, its price, what was asked, and whether it was answered."""
        return purchases_as_dicts(self._ledger)

    def close(self) -> None:
        """Let go of the data and the ledger."""
        self._closed, self._read = True, None
        self._payments.close()
        self._engine.close()
        self._ledger.close()

    def __enter__(self) -> GraphSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce_ex__(self, _: Any) -> Any:
        raise Invalid("a session holds connections and cannot be copied or pickled: open it again where it is needed, with the same ledger")

    def __repr__(self) -> str:
        return f"GraphSession(protects {self._table.protected}; remaining ε = {float(self.remaining.epsilon or 0):g})"

    # ── the road ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _release(self, plan: GraphPlan) -> GraphRelease:
        """Look for a stored answer; else pay, then read, then answer."""
        if self._closed:
            raise Invalid(CLOSED)
        said = asdict(plan) | {"table": asdict(self._table), "epsilon": str(plan.epsilon)}
        question = fingerprint([said, plain(plan.epsilon), plain(plan.delta), self._table.digest, self._table.version, plain(CONFIDENCE)])

        def run(paid: Entry) -> GraphRelease:
            value, half_width, found = plan.release(self._graph(), CONFIDENCE)
            return GraphRelease(value, half_width, self._receipt(plan, said, question, found, paid))

        return self._payments.pay_once(plan, question, f"{plan.what} of {self._table.name}", run, GraphRelease.from_text)

    def _ready(self) -> None:
        """Raise unless the edges could be read now; edges that were read before need no engine."""
        if self._read is None:
            self._engine.ready()

    def _receipt(self, plan: GraphPlan, said: dict[str, Any], question: str, found: int | None, paid: Entry) -> dict[str, Any]:
        written = {
            "format": FORMAT,
            "question": question,
            "asked": said,
            "epsilon": str(plan.epsilon),
            "delta": str(plan.delta),
            "confidence": str(CONFIDENCE),
            "protected": self._table.protected,
            "adjacency": "add/remove",
            "policy": self._table.digest,
            "version": self._table.version,
            "loss": record.to_json(plan.loss),
            "found": {} if found is None else {"most": found},
            "groups": {str(size): str(price) for size, price in plan.groups().items()},
            "ledger": {"sequence": paid.sequence, "entry": paid.hash},
        }
        return written | {"hash": seal_of(written)}

    def _graph(self) -> Private[Graph]:
        """The edges, read once and only after something was paid."""
        if self._read is None:
            name = self._engine.dialect.identifier
            ends = f"{name(self._table.source)} AS source_node, {name(self._table.target)} AS target_node"
            rows = self._engine.run(f"SELECT DISTINCT {ends} FROM {name(self._table.name)}")
            self._read = rows.map(lambda columns: Graph.of_columns(columns["source_node"], columns["target_node"]))
        return self._read


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
        raise Invalid("source and target must be two columns")
    if schema[source] is not schema[target] and not (schema[source].numeric and schema[target].numeric):
        raise Invalid(f"{source} and {target} must hold names of the same kind: one is {schema[source].value}, one {schema[target].value}")


def _kinds(columns: Mapping[str, str] | None, table: str) -> dict[str, dict[str, Kind]]:
    """The kinds as which columns are read, where that is said."""
    names = [kind.value for kind in Kind]
    if not all(kind in names for kind in (columns or {}).values()):
        raise Invalid(f'columns must be a dict such as {{"source": "text"}}, each one of {", ".join(names)}')
    return {table: {column: Kind(kind) for column, kind in (columns or {}).items()}}
