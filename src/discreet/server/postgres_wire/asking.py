"""Questions of one connection. Like those of every other interface they go through the plan, the queue, its slots and the ledger.

Tools run questions that nobody asked for. So a connection only repeats answers that its account has received, and asks nothing new, until
somebody says `SET discreet.mode = 'ask'`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, final

from attrs import frozen

from discreet.query.sql.parameters import parameter_kinds
from discreet.server.access import ASKING, Caller, TooManyRequests
from discreet.server.asked import Asked
from discreet.server.datasets import UNKNOWN, DataSet
from discreet.server.postgres_wire.columns import AnswerColumn, answer_columns, answer_rows
from discreet.server.postgres_wire.sqlstates import (
    CANCELLED,
    INVALID_VALUE,
    NO_DATABASE,
    NOT_ADMITTED,
    NOT_SUPPORTED,
    WRONG_MODE,
    Failure,
    OutcomeFailure,
)
from discreet.server.postgres_wire.statements import Statement
from discreet.server.postgres_wire.variables import Variables
from discreet.server.replay import request_of
from discreet.server.server import Running, Server
from discreet.server.store.jobs import OPEN, Job
from discreet.session.plan import Plan
from discreet.session.query import Query
from discreet.session.release import Release
from discreet.session.remote.wire import plain
from discreet.session.saved import release_of_text
from discreet.tables.kind import Kind

NOT_RECEIVED = "this connection only repeats answers that you have received, and this question, at this price, is not among them"
HOW_TO_ASK = "to ask and pay: SET discreet.mode = 'ask', with a price: SET discreet.epsilon = 0.1"
NO_PRICE = "the price is missing"
HOW_TO_PAY = "SET discreet.epsilon = 0.1, or write /* epsilon=0.1 */ into the question; a new one is asked after SET discreet.mode = 'ask'"


@final
@frozen
class Question:
    """A question at its price, planned: what would be sent to the server, and the columns of the answer."""

    body: Mapping[str, Any]
    columns: tuple[AnswerColumn, ...]
    plan: Plan


@final
@frozen
class Answer:
    """The rows of an answer, and what is said below it everywhere: what intervals do not include, what was discovered, what it cost."""

    rows: list[tuple[Any, ...]]
    notes: list[str]


@final
class Questions:
    """What the account of one connection asks of its data set."""

    def __init__(self, server: Server, dataset: str, caller: Caller, variables: Variables) -> None:
        self._server, self._dataset, self._variables = server, dataset, variables
        self._caller = caller
        self._cancelled: asyncio.Event = asyncio.Event()
        self._waiting = False

    def admitted(self) -> tuple[Caller, DataSet]:
        """The caller, if its token is still good, and its data set; every statement takes one from the limit of requests."""
        token = self._caller.token
        assert token is not None, "programs come with a token"
        found = self._server.tokens.by_id(token.id)
        if found is None:
            raise Failure(NOT_ADMITTED, "your token was revoked or has expired", "make a new one in the console", fatal=True)
        caller = Caller(found[0], found[1])
        self.take()
        if caller.account.role not in ASKING or not caller.may_use(self._dataset):
            raise Failure(NO_DATABASE, UNKNOWN, fatal=True)
        return caller, self._server.datasets.get(self._dataset, caller.account)

    def take(self) -> None:
        """Take one from the account's limit of requests; TooManyRequests if none is left."""
        if wait := self._server.request_limit.take(self._caller.account.name):
            raise TooManyRequests(wait)

    # ── free ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def parameter_kinds(self, text: str) -> list[Kind | None]:
        """The kinds of $1, $2, … in a question, from what they are compared with."""
        if "$" not in text:
            return []
        caller, data = self._caller, self._server.datasets.get(self._dataset, self._caller.account)
        return parameter_kinds(text, data.session(caller.account).catalog.tables, self._variables["discreet.dialect"])

    def budget(self, part: str) -> str:
        """What this account has spent, or the largest single question that its budget still admits."""
        caller, data = self.admitted()
        allowance = data.allowance(caller.account)
        return (allowance.spent if part == "spent" else allowance.remaining).written

    async def plan(self, statement: Statement, values: Sequence[Any] = ()) -> Question:
        """Plan a question at the price that it states, or that was set; it reads no private row and spends nothing."""
        caller, data = await asyncio.to_thread(self.admitted)
        return await asyncio.to_thread(self._planned, statement, values, caller, data)

    def _planned(self, statement: Statement, values: Sequence[Any], caller: Caller, data: DataSet) -> Question:
        named: dict[str, Any] = {"dialect": self._variables["discreet.dialect"]}
        named |= {"parameters": [plain(value) for value in values]} if values else {}
        body: dict[str, Any] = {"request": [["sql", [statement.text], named]], "verb": "release", "price": {}, "refine": [], "of": None}
        query = request_of(data.session(caller.account), Asked.read(body).chain)
        assert isinstance(query, Query), "a text is a question"
        stated = {"epsilon": query.question.epsilon, "delta": query.question.delta}
        clause = frozenset(name for name, amount in stated.items() if amount is not None)
        price = self._variables.price | statement.price(clause)
        body["price"] = {name: value for name, value in price.items() if name not in clause}  # what the question says itself comes first
        if not query.is_priced and "epsilon" not in price:
            raise Failure(INVALID_VALUE, NO_PRICE, HOW_TO_PAY)
        plan = self._server.asking.plan(data, caller.account, Asked.read(body))
        return Question(body, answer_columns(plan.steps, self._variables["discreet.intervals"] == "on"), plan)

    # ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────────

    async def answer(self, question: Question) -> Answer:
        """The answer: one that the account has received, or, in the mode that asks, one that leaves at the end of its slot."""
        caller, data = await asyncio.to_thread(self.admitted)
        if self._variables["discreet.mode"] == "ask":
            found = await self._server.begin(data, caller.account, question.body, None)
            match found:
                case Running():
                    outcome = await self._ended(found)
                case Job():
                    outcome = found.said
                case _:
                    outcome = found
        else:
            known = await self._server.received(data, caller.account, question.body)
            if known is None:
                raise Failure(WRONG_MODE, NOT_RECEIVED, HOW_TO_ASK)
            outcome = known
        if "error" in outcome:
            raise OutcomeFailure(outcome)
        return await asyncio.to_thread(_answer, str(outcome["release"]), bool(outcome.get("repeated")), question.columns)

    async def _ended(self, running: Running) -> dict[str, Any]:
        """Wait for the outcome of a job until its slot has ended. Who cancels no longer waits, and a job that has not begun is not done."""
        self._cancelled.clear()
        self._waiting = True
        stopped = asyncio.ensure_future(self._cancelled.wait())
        try:
            await asyncio.wait({running.task, stopped}, timeout=self._timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._waiting = False
            stopped.cancel()
        if running.task.done() and not running.task.cancelled():
            job = running.task.result()
            return job.said if job.state not in OPEN else {"error": "EngineError", "message": "the server is stopping; ask again later"}
        if await asyncio.to_thread(self._server.jobs.cancel, running.job.id):
            raise Failure(CANCELLED, "cancelled before it began, and nothing was charged")
        raise Failure(CANCELLED, "the question has begun and goes on; you no longer wait for it", "ask again to receive its answer")

    @property
    def _timeout(self) -> float | None:
        """How many seconds the client waits, if it has set a number of milliseconds."""
        said = self._variables["statement_timeout"]
        return int(said) / 1000 if said.isascii() and said.isdigit() and len(said) < 12 and int(said) else None

    def cancel(self) -> None:
        """Stop waiting for the answer, if there is one that is waited for."""
        if self._waiting:
            self._cancelled.set()


def _answer(text: str, repeated: bool, columns: Sequence[AnswerColumn]) -> Answer:
    release = release_of_text(text, repeated)
    if not isinstance(release, Release):
        raise Failure(NOT_SUPPORTED, "only the answers to questions are tables")
    return Answer(answer_rows(release, columns), [*([] if len(release) else [release.empty]), *release.small_print])
