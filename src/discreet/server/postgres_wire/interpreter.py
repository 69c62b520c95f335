"""What each statement does: settings and transactions here, catalogue statements on an empty database, questions by the server."""

from __future__ import annotations

import asyncio
import datetime
import re
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, final

from attrs import evolve, frozen

from discreet.server.postgres_wire.asking import Questions
from discreet.server.postgres_wire.catalogue.catalogue import Catalogue
from discreet.server.postgres_wire.catalogue.rewrite import CatalogueStatement
from discreet.server.postgres_wire.columns import Result, ResultColumn
from discreet.server.postgres_wire.sqlstates import FAILED_TRANSACTION, NOT_SUPPORTED, SYNTAX, Failure
from discreet.server.postgres_wire.statements import Sort, Statement, split
from discreet.server.postgres_wire.types import (
    BOOL,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    NUMERIC,
    OID,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    TYPES,
    UNKNOWN,
    type_of,
)
from discreet.server.postgres_wire.variables import Variables, run_setting

Status: TypeAlias = Literal["I", "T", "E"]
_EXPLAIN = re.compile(r"\s*EXPLAIN\s+(\([^)]*\)\s*|(?:VERBOSE|ANALYZE|ANALYSE)\s+)*", re.IGNORECASE)
_BUDGET = re.compile(r"SHOW\s+discreet\.(remaining|spent)", re.IGNORECASE)
_QUIET = ("warning", "error", "fatal", "panic")  # values of client_min_messages that leave notices out
_COPY = re.compile(r"\s*COPY\s*\((?P<query>.*)\)\s*TO\s+STDOUT\s*(?:WITH\s*)?(?P<options>\([^)]*\)|BINARY)?\s*", re.IGNORECASE | re.DOTALL)
_SAMPLES: dict[int, Any] = {
    **dict.fromkeys((INT2, INT4, INT8, OID), 1),
    **dict.fromkeys((FLOAT4, FLOAT8, NUMERIC), 1.5),
    BOOL: True,
    DATE: datetime.date(2000, 1, 1),
    **dict.fromkeys((TIMESTAMP, TIMESTAMPTZ), datetime.datetime(2000, 1, 1)),
}


@final
@frozen
class Prepared:
    """A statement that was read: the types of its parameters, and its columns; None if it gives no rows."""

    statement: Statement
    sort: Sort
    types: tuple[int, ...] = ()
    columns: tuple[ResultColumn, ...] | None = None
    catalogue: CatalogueStatement | None = None
    copied: bool = False  # whether its rows are sent as binary COPY data

    @property
    def is_copy(self) -> bool:
        """Whether it is COPY … TO STDOUT."""
        return self.copied


@final
class Interpreter:
    """The statements of one connection, and the state of its transaction, which changes nothing but what clients expect to see."""

    def __init__(self, questions: Questions, variables: Variables, catalogue: Catalogue) -> None:
        self.questions, self.variables, self._catalogue = questions, variables, catalogue
        self.status: Status = "I"
        self.told: dict[str, str] = {}  # settings that changed, of which the client must be told

    async def prepare(self, statement: Statement, types: Sequence[int] = ()) -> Prepared:
        """Read a statement and tell its columns. Nothing of this touches data or budget."""
        sort = statement.sort
        if self.status == "E" and sort not in ("transaction", "empty"):
            raise Failure(FAILED_TRANSACTION, "this transaction has failed", "send ROLLBACK first")
        match sort:
            case "query":
                return await self._prepared(statement, types)
            case "copy":
                inside = await self.prepare(_copied(statement), types)
                return evolve(inside, copied=True)
            case "explain":
                inside = await self._prepared(_explained(statement), types)
                return Prepared(statement, sort, inside.types, (ResultColumn("QUERY PLAN", TYPES[TEXT]),))
            case "setting" if (amount := _BUDGET.fullmatch(statement.bare)) is not None:
                return Prepared(statement, sort, columns=(ResultColumn(f"discreet.{amount[1].lower()}", TYPES[TEXT]),))
            case "setting" if statement.words[0] == "SHOW":
                return Prepared(statement, sort, columns=run_setting(self.variables, statement.bare)[0].columns)
        return Prepared(statement, sort)

    async def _prepared(self, statement: Statement, types: Sequence[int]) -> Prepared:
        found = await asyncio.to_thread(self._catalogue.read, statement.text)
        if found is not None:
            await asyncio.to_thread(self.questions.admitted)
            columns = await self._catalogue.describe(found, self.variables)
            known = _types(types, found.types)
            return Prepared(statement, "query", known, columns, found)
        kinds = await asyncio.to_thread(self.questions.parameter_kinds, statement.text)
        known = _types(types, [type_of(kind).oid for kind in kinds])
        question = await self.questions.plan(statement, [_SAMPLES.get(oid, "x") for oid in known])
        return Prepared(statement, "query", known, tuple(ResultColumn(one.name, one.type) for one in question.columns))

    async def run(self, prepared: Prepared, values: Sequence[Any] = ()) -> Result:
        """Carry a statement out."""
        statement = prepared.statement
        match prepared.sort:
            case "empty":
                return Result("")
            case "transaction":
                return Result(self._transaction(statement.words))
            case "setting" if (amount := _BUDGET.fullmatch(statement.bare)) is not None:
                return Result("SHOW", prepared.columns, [(await asyncio.to_thread(self.questions.budget, amount[1].lower()),)])
            case "setting":
                result, told = run_setting(self.variables, statement.bare, self.status != "I")
                self.told |= told
                return result
            case "explain":
                return evolve(await self._plan(_explained(statement), values), columns=prepared.columns)
        if prepared.catalogue is not None:
            listed = await self._catalogue.run(prepared.catalogue, self.variables, values)
            return Result(_tag(prepared, len(listed)), prepared.columns, listed)
        question = await self.questions.plan(statement, values)
        columns = tuple(ResultColumn(one.name, one.type) for one in question.columns)
        if columns != prepared.columns:
            raise Failure(NOT_SUPPORTED, "the columns have changed since this statement was prepared", "prepare it again")
        answer = await self.questions.answer(question)
        notes = answer.notes if self.variables["client_min_messages"].lower() not in _QUIET else ()
        return Result(_tag(prepared, len(answer.rows)), columns, answer.rows, notes)

    async def _plan(self, statement: Statement, values: Sequence[Any]) -> Result:
        if await asyncio.to_thread(self._catalogue.read, statement.text) is not None:
            return Result("EXPLAIN", None, [("answered from what is declared; it costs nothing",)])
        question = await self.questions.plan(statement, values)
        text = await asyncio.to_thread(lambda: str(question.plan.explain()))
        return Result("EXPLAIN", None, [(line,) for line in text.splitlines()])

    def _transaction(self, words: list[str]) -> str:
        word, failed = words[0].rstrip(";"), self.status == "E"
        if word in ("BEGIN", "START"):
            self.status = self.status if self.status != "I" else "T"
            return "START TRANSACTION" if word == "START" else "BEGIN"
        if word in ("SAVEPOINT", "RELEASE") or "TO" in words[1:3]:
            if failed and word != "ROLLBACK":
                raise Failure(FAILED_TRANSACTION, "this transaction has failed", "send ROLLBACK first")
            self.status = "T" if self.status != "I" else "I"
            return word
        self.status = "I"
        self.told |= self.variables.end_transaction()
        return "ROLLBACK" if failed or word in ("ROLLBACK", "ABORT") else "COMMIT"

    def failed(self) -> None:
        """A statement failed."""
        self.status = "E" if self.status != "I" else "I"


def _tag(prepared: Prepared, rows: int) -> str:
    return f"{'COPY' if prepared.copied else 'SELECT'} {rows}"


def _types(given: Sequence[int], known: Sequence[int]) -> tuple[int, ...]:
    """The types that the client gave, and where it gave none, those that were found."""
    said = [*given, *[0] * len(known)]
    return tuple(found if oid in (0, UNKNOWN) else oid for oid, found in zip(said, known, strict=False))


def _explained(statement: Statement) -> Statement:
    """The statement after EXPLAIN, at its place in the text."""
    found = _EXPLAIN.match(statement.bare)
    if found is None or "ANALY" in found[0].upper():
        raise Failure(NOT_SUPPORTED, "EXPLAIN ANALYZE would ask the question", "write EXPLAIN SELECT …")
    [inside] = split(statement.bare[found.end() :])
    if inside.sort != "query":
        raise Failure(SYNTAX, "only questions have plans", "write EXPLAIN SELECT …")
    return evolve(inside, text=" " * found.end() + inside.text, comments=statement.comments)


def _copied(statement: Statement) -> Statement:
    """The question inside COPY (…) TO STDOUT (FORMAT binary)."""
    found = _COPY.fullmatch(statement.bare)
    if found is None or "BINARY" not in (found["options"] or "").upper():
        raise Failure(NOT_SUPPORTED, "only COPY (SELECT …) TO STDOUT (FORMAT binary) is supported", "write SELECT …")
    [inside, *more] = split(found["query"])
    if more or inside.sort != "query":
        raise Failure(NOT_SUPPORTED, "COPY copies the answer to one question", "write COPY (SELECT …) TO STDOUT (FORMAT binary)")
    return evolve(inside, comments=statement.comments)
