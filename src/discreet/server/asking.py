"""Ask on behalf of an account: plan for free, or release as a job whose answer leaves at the end of its slot."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any, final

from attrs import evolve, frozen

from discreet.errors import BudgetExceeded, Error, Invalid
from discreet.ledger.receipt import CONFIDENCE
from discreet.ledger.standing import OWNER
from discreet.parameter import price_epsilon
from discreet.server.asked import Asked
from discreet.server.clock import rows_of, steps_of
from discreet.server.datasets import DataSet
from discreet.server.in_progress import EVERYTHING
from discreet.server.outcome import INTERRUPTED, NO_JOB, UNEXPECTED, Outcome, as_outcome, state_of
from discreet.server.perform import called, fixed, held, perform, refinable, use_profile, verify
from discreet.server.queue import FairQueue
from discreet.server.received import Received
from discreet.server.replay import request_of
from discreet.server.store.accounts import Account
from discreet.server.store.jobs import REUSED, Job, Jobs
from discreet.server.store.secret import digest
from discreet.session.first_step import first_step_of
from discreet.session.plan import Plan
from discreet.session.query import Query
from discreet.session.remote.wire import plain
from discreet.session.saved import release_of_text

_QUESTIONS = ("sql", "table")  # whose answers are sent again as they are
_KEYS = 10_000  # idempotency keys that are remembered beside those of jobs


@final
@frozen
class Slot:
    """The slot at whose end an answer leaves, if it is ready by then: the how many-th of its run, and its begin and end."""

    number: int
    begin: float
    end: float


@final
class Asking:
    """Everything that accounts ask of the data sets goes through here."""

    def __init__(self, jobs: Jobs, queue: FairQueue, rows: float, failed: Callable[[str, BaseException], None]) -> None:
        """`rows` is how many a table is taken to have about which nothing is declared or profiled."""
        self.jobs, self.queue, self._rows, self._failed, self.received = jobs, queue, rows, failed, Received()
        self._begun: dict[str, tuple[float, int]] = {}  # when jobs that run have begun, and the number of their first slot
        self._bound: OrderedDict[tuple[str, str], str] = OrderedDict()  # idempotency keys, and what they were used for

    # ── free ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def plan(self, data: DataSet, account: Account, asked: Asked) -> Any:
        """The plan of a request at its price; it reads no private row."""
        found = called(request_of(data.session(account), asked.chain).plan, self.priced(data, account, asked).price)
        data.limits.require_small(found)
        return found

    def priced(self, data: DataSet, account: Account, asked: Asked) -> Asked:
        """The same request with an epsilon where it has a target error, so that it shows whether it is known, and admitted."""
        if asked.price.get("error") is None:
            return asked
        request = request_of(data.session(account), asked.chain)
        if not hasattr(request, "price") or "epsilon" in asked.price:
            raise Invalid("only questions have a price for an error, instead of epsilon: give one of them")
        kept = {name: asked.price[name] for name in ("delta", "confidence") if name in asked.price}
        return evolve(asked, price=kept | {"epsilon": called(request.price, asked.price)})

    def known(self, data: DataSet, account: Account, asked: Asked, body: Mapping[str, Any] | None = None) -> Outcome | None:
        """The answer, if this account has received it before or nothing is read for it: then it leaves at once.

        Under `body`, as which it was asked, it is remembered.
        """
        session = data.session(account)
        catalog = session.catalog
        if asked.verb == "dry_run":
            if (question := getattr(request_of(session, asked.chain), "question", None)) is not None:
                usual = {} if question.epsilon is not None else {"epsilon": 1}
                self.plan(data, account, evolve(asked, price=usual | asked.price))
            return {"release": perform(session, asked).to_text()}
        if asked.verb == "bias" and asked.of is not None:  # now: in a run it would tell whether another one has ended
            verify(session, release_of_text(asked.of), partial(data.hides, account))
        if asked.verb == "refine" and asked.refined:
            refinable(session, asked, partial(data.hides, account))
        if asked.verb in ("refine", "receive"):
            found = held(session, asked, partial(data.hides, account))
            return None if found is None else {"release": found.to_text(), "repeated": True}
        request = request_of(session, asked.chain) if asked.verb == "release" and "error" not in asked.price else None
        plan = self.plan(data, account, asked) if request is not None and hasattr(request, "release") else None
        if plan is None or data.hides(account, plan.priced.question) or (text := session.stored(plan)) is None:
            return None
        if asked.chain.steps[0][0] == "synthesize":  # of as many rows as are asked for now
            return {"release": perform(session, asked).to_text(), "repeated": True}
        if asked.chain.steps[0][0] == "profile":
            use_profile(session, asked)
        # as it is stored; for an account without the numbers of ledger entries
        told = text if account.payer == OWNER else release_of_text(text).without_entries().to_text()
        if body is not None and asked.chain.steps[0][0] in _QUESTIONS:
            self.received.keep(data, account, body, plan.priced.question, told, catalog)
        return {"release": told, "repeated": True}

    def require_admitted(self, data: DataSet, account: Account, asked: Asked) -> None:
        """Raise BudgetExceeded, before a seat is taken, if the account's own budget does not admit a request."""
        if asked.verb not in ("release", "receive"):
            return
        allowance = data.allowance(account)
        plan = self.plan(data, account, asked)
        if asked.verb == "release" and allowance.admits(plan.loss):
            return
        session = data.session(account)
        has_first = asked.verb == "receive" and held(session, evolve(self.priced(data, account, asked), refined=())) is not None
        more = sum((price_epsilon(one.get("epsilon", 0)) for one in asked.refined), Fraction(0))  # received whole, or not at all
        left = allowance.remaining.epsilon
        if left is not None and more + (0 if has_first else plan.epsilon) > left:
            raise BudgetExceeded(allowance.refusal)

    def require_receivable(self, data: DataSet, account: Account, asked: Asked) -> None:
        """Raise BudgetExceeded if an answer that was shared is neither known to this account nor within its budget."""
        if account.payer != OWNER and self.known(data, account, self.priced(data, account, asked)) is None:
            self.require_admitted(data, account, asked)

    def bind(self, data: DataSet, account: Account, body: Mapping[str, Any], once: str) -> None:
        """Bind an idempotency key to a request, for one that is free has no job; Invalid if it was used for another."""
        said = digest(f"{data.name}\n{json.dumps(body)}")
        if self._bound.setdefault((account.name, once), said) != said:
            raise Invalid(REUSED)
        while len(self._bound) > _KEYS:
            self._bound.popitem(last=False)

    def slot(self, data: DataSet, asked: Asked) -> int:
        """The number of the slot at whose end an answer leaves, by public facts alone."""
        return self.queue.clock.chosen(self.rows_of(data), steps_of(asked.chain.steps[0][0]))

    def rows_of(self, data: DataSet) -> float:
        """The rows of the largest private table, as far as they are public."""
        return rows_of(data.catalog.tables, self._rows)

    # ── jobs ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def add(self, data: DataSet, account: Account, body: Mapping[str, Any], once: str | None) -> tuple[Job, bool]:
        """A job for a request, and whether it is new."""
        return self.jobs.add(account.name, data.name, Asked.read(body).title, body, once)

    async def answer(self, data: DataSet, account: Account, job: Job, since: float | None = None) -> Job:
        """Run a job in its turn; the job as it ended, at the end of its slot. `since` is when it was asked for."""
        # with the δ with which it is planned now: what runs later is what is hidden, and what others receive if it is shared
        asked = await asyncio.to_thread(lambda: fixed(data.session(account), Asked.read(job.asked)))
        catalog = data.session(account).catalog
        plan = await asyncio.to_thread(self._planned, data, account, asked)
        questions, slot = {EVERYTHING} if plan is None else _questions(plan), self.slot(data, asked)

        def work() -> Outcome:
            if not self.jobs.begin(job.id, data.ledger.length):
                return {"error": "Refused", "message": "cancelled before it began; nothing was charged"}
            self._begun[job.id] = time.time(), slot
            return self._outcome(data, account, asked, job)

        async with data.in_progress(account, questions) as show:

            def record(outcome: Outcome) -> None:
                # only when the slot closes: who looks at the job again and again learns no earlier that it has ended
                show()
                if asked.chain.steps[0][0] == "profile" and "release" in outcome:
                    self._use_profile(data, account, asked)
                self.jobs.end(job.id, state_of(outcome), outcome)
                if plan is not None and "release" in outcome and asked.chain.steps[0][0] in _QUESTIONS:
                    self.received.keep(data, account, job.asked, plan.priced.question, outcome["release"], catalog)

            try:
                outcome = await self.queue.run(account.name, slot, work, record, since)
            finally:
                self._begun.pop(job.id, None)
        return job.ended_as(state_of(outcome), outcome)

    def _use_profile(self, data: DataSet, account: Account, asked: Asked) -> None:
        """From now on, later questions use a profile: everybody's, if the owner bought it."""
        if account.payer == OWNER:
            data.profiled()
        else:
            use_profile(data.session(account), asked)

    def _planned(self, data: DataSet, account: Account, asked: Asked) -> Any:
        """The plan of a request; None if it follows only later what is asked at which price, or its answer refers to another one."""
        return None if asked.verb != "release" or "error" in asked.price else self.plan(data, account, asked)

    def slot_of(self, job: Job, now: float) -> Slot | None:
        """The slot in which a job that runs is now, by the clock alone; None if it waits or has ended, or there are no slots."""
        begun, first = self._begun.get(job.id, (0.0, -1))
        if first < 0 or self.queue.clock.off:
            return None
        shortest, end = self.queue.clock.slots[first], self.queue.clock.leaves(first, now - begun)
        return Slot(round(math.log2(end / shortest)) + 1, begun + (end / 2 if end > shortest else 0.0), begun + end)

    def own_job(self, account: Account, number: str) -> Job:
        """A job of this account, or one that was shared with it; the same error if it is somebody else's and if there is none."""
        job = self.jobs.get(number)
        if job is None or (job.account != account.name and not self.jobs.is_shared(number, account.name)):
            raise Invalid(NO_JOB)
        return job

    def _outcome(self, data: DataSet, account: Account, asked: Asked, job: Job) -> Outcome:
        try:
            session = data.session(account)
            # steps end when private rows let them: an owner may watch that
            progress = partial(self.jobs.progress, job.id) if account.payer == OWNER else lambda _step, _share: None
            found = perform(session, asked, progress)
            price = {"price": plain(asked.price), "refine": [plain(one) for one in asked.refined]}
            return {"release": found.to_text(), "repeated": found.repeated} | price
        except Error as error:
            self._failed(job.id, error)
            return as_outcome(error)
        except Exception as error:  # a bug of ours: its text may contain data
            self._failed(job.id, error)
            return {"error": "Error", "message": UNEXPECTED}

    def recover(self, data: DataSet, account: Account, job: Job) -> bool:
        """After a restart: whether an unfinished job is to be queued again; one that was charged ends as interrupted."""
        if job.state == "running" and self._was_charged(data, account, job):
            self.jobs.end(job.id, "interrupted", {"error": "EngineError", "message": INTERRUPTED})
            return False
        self.jobs.requeue(job.id)
        return True

    def _was_charged(self, data: DataSet, account: Account, job: Job) -> bool:
        """Whether the ledger has a payment for it without an answer. If its question is not known, any later one of the account counts."""
        mine = [entry for entry in data.ledger.pending() if entry.body["analyst"] in (None, account.payer)]
        later, asked = [entry for entry in mine if entry.sequence >= job.entries], Asked.read(job.asked)
        if not later or asked.verb != "release" or "error" in asked.price:
            return bool(later)
        try:
            request = request_of(data.session(account), asked.chain)
            usual = {"delta": request.pipeline.default_delta} if isinstance(request, Query) and asked.price.get("delta") is None else {}
            # after a charge it may be planned with another δ than before
            plans = [self.plan(data, account, one) for one in (asked, evolve(asked, price=asked.price | usual))]
            questions = set().union(*map(_questions, plans))
        except Error:  # the policy has changed since
            return True
        return any(entry.body["question"] in questions for entry in later)


def _questions(plan: Any) -> set[str]:
    """The names under which the ledger charges a request: its own, and that of what is discovered first."""
    own, first = plan.priced.question, getattr(plan, "discovery", None)
    found = {own, first_step_of(own)} | (set() if first is None else {first.priced.question})
    return found | {first_step_of(plan.priced_at(CONFIDENCE).question)} if isinstance(plan, Plan) else found
