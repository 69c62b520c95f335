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
_COPY, _TO = re.compile(r"COPY\s*\(", re.IGNORECASE), re.compile(r"\)\s*TO\s+STDOUT\b", re.IGNORECASE)
_BINARY = re.compile(r"(?:WITH ?)?(?:\([^()]*\)|BINARY)")
_BUDGET = re.compile(r"SHOW\s+discreet\.(remaining|spent)", re.IGNORECASE)
_QUIET = ("warning", "error", "fatal", "panic")  # values of client_min_messages that leave notices out
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
    catalogue: bool = False  # whether it is about the catalogue
    copied: bool = False  # whether its rows are sent as binary COPY data


@final
class Interpreter:
    """The statements of one connection, and the state of its transaction, which is kept only because clients look at it."""

    def __init__(self, questions: Questions, variables: Variables, catalogue: Catalogue) -> None:
        self.questions, self.variables, self._catalogue = questions, variables, catalogue
        self.status: Status = "I"  # no transaction; T is in one, E in one that has failed
        self.told: dict[str, str] = {}  # settings that changed, of which the client must be told

    async def prepare(self, statement: Statement, types: Sequence[int] = ()) -> Prepared:
        """Read a statement and tell its columns. Nothing of this touches data or budget."""
        sort = statement.sort
        self._require_not_failed(sort)
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

    def _require_not_failed(self, sort: Sort) -> None:
        if self.status == "E" and sort not in ("transaction", "empty"):
            raise Failure(FAILED_TRANSACTION, "this transaction has failed", "send ROLLBACK first")

    async def _prepared(self, statement: Statement, types: Sequence[int]) -> Prepared:
        found = await asyncio.to_thread(self._catalogue.read, statement.text)
        if found is not None:
            await asyncio.to_thread(self.questions.admitted)
            columns = await self._catalogue.describe(found, self.variables)
            known = _types(types, found.types)
            return Prepared(statement, "query", known, columns, True)
        kinds = await asyncio.to_thread(self.questions.parameter_kinds, statement.text)
        known = _types(types, [type_of(kind).oid for kind in kinds])
        question = await self.questions.plan(statement, [_SAMPLES.get(oid, "x") for oid in known])
        return Prepared(statement, "query", known, tuple(ResultColumn(one.name, one.type) for one in question.columns))

    async def run(self, prepared: Prepared, values: Sequence[Any] = ()) -> Result:
        """Carry a statement out; one that was prepared earlier too takes one from the limit of requests."""
        statement = prepared.statement
        self._require_not_failed(prepared.sort)
        match prepared.sort:
            case "empty":
                return Result("")
            case "transaction":
                return Result(self._transaction(statement.words))
            case "setting" if (amount := _BUDGET.fullmatch(statement.bare)) is not None:
                return Result("SHOW", prepared.columns, [(await asyncio.to_thread(self.questions.budget, amount[1].lower()),)])
            case "setting":
                self.questions.take()
                result, told = run_setting(self.variables, statement.bare, self.status != "I")
                self.told |= told
                return result
            case "explain":
                return evolve(await self._plan(_explained(statement), values), columns=prepared.columns)
        if prepared.catalogue:
            await asyncio.to_thread(self.questions.admitted)
            found = await asyncio.to_thread(self._catalogue.read, statement.text)  # a tree is too large to be kept
            assert found is not None, "it was one when it was prepared"
            listed = await self._catalogue.run(found, self.variables, values)
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
        word, failed = words[0], self.status == "E"
        if word in ("BEGIN", "START"):
            self.status = "E" if failed else "T"
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
        """Let the transaction fail, if there is one, because a statement did."""
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
    begin, ends = _COPY.match(statement.bare), list(_TO.finditer(statement.bare))
    options = " ".join(statement.bare[ends[-1].end() :].upper().split()) if ends else ""
    if begin is None or "BINARY" not in options or _BINARY.fullmatch(options) is None:
        raise Failure(NOT_SUPPORTED, "only COPY (SELECT …) TO STDOUT (FORMAT binary) is supported", "write SELECT …")
    [inside, *more] = split(statement.bare[begin.end() : ends[-1].start()])
    if more or inside.sort != "query":
        raise Failure(NOT_SUPPORTED, "COPY copies the answer to one question", "write COPY (SELECT …) TO STDOUT (FORMAT binary)")
    return evolve(inside, comments=statement.comments)
