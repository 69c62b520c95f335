"""Questions on several engines: what mechanisms let out on the first is given again on the others, and all rows are compared."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from attrs import field, frozen, mutable
from scripted import Seeded

from discreet.engines.engine import Columns, Engine, SentTable
from discreet.mechanisms.mechanism import Mechanism
from discreet.plan.steps import Steps
from discreet.private import reveal
from discreet.run.execute import execute

Row = tuple[Any, ...]
Release = Callable[[Mechanism[Any], Any, Any], Any]


@frozen(eq=False)
class Statement:
    """What an engine was asked, with which public values."""

    sql: str
    given: tuple[SentTable, ...] = ()


@mutable
class Recorded:
    """One question on one engine: its statements, the rows of each, and what mechanisms were given and let out."""

    statements: list[Statement] = field(factory=list)
    results: list[Columns] = field(factory=list)
    inputs: list[Any] = field(factory=list)
    outputs: list[Any] = field(factory=list)


class _Through(Engine):
    """An engine that notes what it is asked and what it answers."""

    def __init__(self, engine: Engine, answer: Callable[[Statement], Columns]) -> None:
        self.name, self.version, self.dialect, self._answer = engine.name, engine.version, engine.dialect, answer

    def schema(self, table: str) -> dict[str, Any]:
        raise NotImplementedError

    def batches(self, sql: str, given: Sequence[SentTable], rows: int | None) -> Iterator[Columns]:
        yield self._answer(Statement(sql, tuple(given)))

    def problem(self) -> str | None:
        return None

    def close(self) -> None:
        """Nothing is held."""


def record(plan: Steps, engine: Engine, seed: int) -> Recorded:
    """Run a plan on an engine with fixed coins."""
    found = Recorded()

    def answer(statement: Statement) -> Columns:
        columns = rows_of(engine, statement)
        found.statements.append(statement)
        found.results.append(columns)
        return columns

    def release(self: Mechanism[Any], private: Any, bits: Any = None) -> Any:
        found.inputs.append(reveal(private))
        found.outputs.append(self.sealed().sample(found.inputs[-1], Seeded(seed * 1_000_003 + len(found.outputs))))
        return found.outputs[-1]

    with _released(release):
        execute(plan, _Through(engine, answer))
    return found


def spelled_for(plan: Steps, engine: Engine, first: Recorded) -> list[Statement]:
    """The statements that another engine would get, if everything that is let out were what it was on the first."""
    found: list[Statement] = []
    outputs, results = iter(first.outputs), iter(first.results)

    def answer(statement: Statement) -> Columns:
        found.append(statement)
        return next(results)

    with _released(lambda self, private, bits=None: next(outputs)):
        execute(plan, _Through(engine, answer))
    return found


@contextlib.contextmanager
def _released(release: Release) -> Iterator[None]:
    before = Mechanism.release
    Mechanism.release = release  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Mechanism.release = before  # type: ignore[method-assign]


def rows_of(engine: Engine, statement: Statement) -> Columns:
    """All rows, with the engine's own words where it fails."""
    batches = list(engine.batches(statement.sql, statement.given, None))
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


# ── comparing ────────────────────────────────────────────────────────────────────────────────────────────────────────


@frozen(eq=False)
class Waiting:
    """A statement to be run, and the columns it gave on the first engine."""

    question: int
    place: int
    statement: Statement
    expected: Columns


def differences(engine: Engine, waiting: Sequence[Waiting], threads: int) -> list[str]:
    """Run statements, each text once, and say which gave other rows than expected."""
    texts: dict[Any, list[Waiting]] = {}
    for one in waiting:
        texts.setdefault(id(one) if one.statement.given else one.statement.sql, []).append(one)
    with ThreadPoolExecutor(threads) as pool:
        return [line for lines in pool.map(lambda alike: _compared(engine, alike), texts.values()) for line in lines]


def _compared(engine: Engine, alike: Sequence[Waiting]) -> list[str]:
    first = alike[0]
    try:
        columns = rows_of(engine, first.statement)
    except Exception as error:
        said = str(error).splitlines()[0][:300]
        return [f"{engine.name}: question {first.question}, statement {first.place} fails: {said}\n    {first.statement.sql}"]
    found = []
    for one in alike:
        if (said := unlike(one.expected, columns)) is not None:
            found.append(f"{engine.name}: question {one.question}, statement {one.place}: {said}\n    {one.statement.sql}")
    return found


def unlike(expected: Columns, found: Columns) -> str | None:
    """What differs between two results, whose rows have no order; None if nothing does."""
    if list(expected) != list(found):
        return f"columns {list(found)} instead of {list(expected)}"
    a, b = (sorted(zip(*(values.tolist() for values in columns.values()), strict=True), key=repr) for columns in (expected, found))
    if [list(map(type, row)) for row in a] != [list(map(type, row)) for row in b] or a != b:
        only_a, only_b = [row for row in a if row not in b], [row for row in b if row not in a]
        return f"{len(a)} and {len(b)} rows; the first engine's alone {only_a[:3]}, this one's alone {only_b[:3]}"
    return None
