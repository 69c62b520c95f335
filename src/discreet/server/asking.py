"""Ask on behalf of an account: plan for free, or release as a job whose answer leaves at the end of its slot."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias, final

from attrs import evolve, frozen

from discreet.errors import BudgetExceeded, Error, Invalid
from discreet.ledger.receipt import CONFIDENCE
from discreet.ledger.standing import OWNER
from discreet.server.clock import rows_of, steps_of
from discreet.server.datasets import DataSet
from discreet.server.in_progress import EVERYTHING
from discreet.server.queue import FairQueue
from discreet.server.received import Received
from discreet.server.replay import request_of
from discreet.server.store.accounts import Account
from discreet.server.store.jobs import REUSED, Job, Jobs, State
from discreet.server.store.secret import digest
from discreet.session.first_step import first_step_of
from discreet.session.plan import Plan
from discreet.session.refine import Asked as AnsweredQuestion
from discreet.session.release import Release
from discreet.session.released import Released
from discreet.session.remote.wire import Chain, value
from discreet.session.saved import release_of_text
from discreet.session.session import Session

Outcome: TypeAlias = dict[str, Any]
VERBS = ("release", "refine", "bias", "dry_run")
_PRICE = frozenset({"epsilon", "delta", "confidence", "error", "size", "at", "assume"})
_KEYS = 10_000  # idempotency keys that are remembered beside those of jobs
_ONLY_QUESTIONS = "only the answer to a question can be refined"
NO_JOB = "there is no such job"
UNEXPECTED = "something unexpected failed on the server; its owner can look up the reason"
INTERRUPTED = "the server stopped after this was charged and before it was answered: asking again draws and charges again"


@final
@frozen
class Asked:
    """A request as it came over the wire: the chain of calls, the price, and what is done with it."""

    chain: Chain
    verb: str
    price: dict[str, Any]
    refined: tuple[dict[str, Any], ...] = ()  # the price of each refinement
    of: str | None = None  # a release, to which bias() refers

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> Asked:
        """Read a body; Invalid if it is none."""
        verb = body.get("verb", "release")
        if verb not in VERBS:
            raise Invalid(f"verb is one of {', '.join(VERBS)}")
        said = body.get("refine") or []
        price, *refined = (value(one) for one in (body.get("price") or {}, *([said] if isinstance(said, dict) else said)))
        if not all(isinstance(one, dict) for one in (price, *refined)):
            raise Invalid('the price is written as {"epsilon": 0.1}')
        if unknown := {str(name) for one in (price, *refined) for name in one} - _PRICE:
            raise Invalid(f"a price has no {sorted(unknown)[0][:50]!r}: it has {', '.join(sorted(_PRICE))}")
        return cls(Chain.from_json(body.get("request")), verb, price, tuple(refined), body.get("of"))

    @property
    def title(self) -> str:
        """What was asked, for people."""
        first = self.chain.steps[0]
        return str(first[1][0]) if first[0] == "sql" and first[1] else repr(self.chain)


@final
class Asking:
    """Everything that accounts ask of the data sets goes through here."""

    def __init__(self, jobs: Jobs, queue: FairQueue, rows: float, failed: Callable[[str, BaseException], None]) -> None:
        """`rows` is how many a table is taken to have about which nothing is declared or profiled."""
        self.jobs, self.queue, self._rows, self._failed, self.received = jobs, queue, rows, failed, Received()
        self._bound: OrderedDict[tuple[str, str], str] = OrderedDict()  # idempotency keys, and what they were used for

    # ── free ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    def plan(self, data: DataSet, account: Account, asked: Asked) -> Any:
        """The plan of a request at its price; it reads no private row."""
        return _called(request_of(data.session(account), asked.chain).plan, asked.price)

    def known(self, data: DataSet, account: Account, body: Mapping[str, Any]) -> Outcome | None:
        """The answer, if this account has received it before or nothing is read for it: then it leaves at once."""
        asked, session = Asked.read(body), data.session(account)
        if asked.verb == "dry_run":
            return {"release": _run(session, asked).to_text()}
        if asked.verb == "refine":
            found = held(session, asked, partial(data.hides, account))
            return None if found is None else {"release": found.to_text(), "repeated": True}
        request = request_of(session, asked.chain) if asked.verb == "release" and "error" not in asked.price else None
        plan = _called(request.plan, asked.price) if request is not None and hasattr(request, "release") else None
        if plan is None or data.hides(account, plan.priced.question) or (text := session.stored(plan)) is None:
            return None
        if asked.chain.steps[0][0] == "synthesize":  # of as many rows as are asked for now
            return {"release": _run(session, asked).to_text(), "repeated": True}
        if asked.chain.steps[0][0] == "profile":
            _run(session, asked)  # free: later questions of this session use it
        # as it is stored; for an account without the numbers of ledger entries
        told = text if account.payer == OWNER else release_of_text(text).without_entries().to_text()
        self.received.keep(data, account, body, plan.priced.question, told)
        return {"release": told, "repeated": True}

    def require_admitted(self, data: DataSet, account: Account, asked: Asked) -> None:
        """Raise BudgetExceeded, before a seat is taken, if the account's own budget does not admit a request."""
        if asked.verb != "release" or "error" in asked.price:
            return
        allowance = data.allowance(account)
        plan = self.plan(data, account, asked)
        if not allowance.admits(plan.loss) and plan.epsilon > (allowance.remaining.epsilon or 0):
            raise BudgetExceeded(allowance.refusal)

    def bind(self, data: DataSet, account: Account, body: Mapping[str, Any], once: str) -> None:
        """Bind an idempotency key to a request, for one that is free has no job; Invalid if it was used for another."""
        said = digest(f"{data.name}\n{json.dumps(body, sort_keys=True)}")
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
        asked = Asked.read(job.asked)
        questions = await asyncio.to_thread(self._hidden, data, account, asked)

        def work() -> Outcome:
            if not self.jobs.begin(job.id, data.ledger.length):
                return {"error": "Refused", "message": "cancelled before it began; nothing was charged"}
            return self._outcome(data, account, asked, job)

        async with data.in_progress(account, questions) as show:

            def record(outcome: Outcome) -> None:
                # only when the slot closes: who looks at the job again and again learns no earlier that it has ended
                show()
                self.jobs.end(job.id, state_of(outcome), outcome)

            outcome = await self.queue.run(account.name, self.slot(data, asked), work, record, since)
        return job.ended_as(state_of(outcome), outcome)

    def _hidden(self, data: DataSet, account: Account, asked: Asked) -> set[str]:
        """The names of what is not to be seen before its slot ends."""
        if asked.verb != "release" or "error" in asked.price:
            return {EVERYTHING}
        return _questions(self.plan(data, account, asked))

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
            found = _run(session, asked, progress)
            if asked.chain.steps[0][0] == "profile" and account.payer == OWNER:  # whose profiles are published
                data.profiled()
            return {"release": found.to_text(), "repeated": found.repeated}
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
            questions = _questions(self.plan(data, account, asked))
        except Error:  # the policy has changed since
            return True
        return any(entry.body["question"] in questions for entry in later)


def _questions(plan: Any) -> set[str]:
    """The names under which the ledger charges a request: its own, and that of what is discovered first."""
    own, first = plan.priced.question, getattr(plan, "discovery", None)
    found = {own, first_step_of(own)} | (set() if first is None else {first.priced.question})
    return found | {first_step_of(plan.priced_at(CONFIDENCE).question)} if isinstance(plan, Plan) else found


def state_of(outcome: Outcome) -> State:
    """The state of a job that ended with this outcome."""
    return "failed" if "error" in outcome else "done"


def as_outcome(error: Error) -> Outcome:
    """An error as it is told: its kind, its message and its notes, none of which contains data."""
    notes = [str(note) for note in getattr(error, "__notes__", ())]
    return {"error": type(error).__name__, "message": str(error), "notes": notes}


def held(session: Session, asked: Asked, hides: Callable[[str], bool] = lambda _: False) -> Released | None:
    """The answer that this account has received before, with its refinements; None if it has none, or it is hidden. Nothing is charged."""
    request = request_of(session, asked.chain)
    if not hasattr(request, "release") or "error" in asked.price:
        return None
    price = {name: one for name, one in asked.price.items() if name in ("epsilon", "delta", "confidence")}
    plan = _called(request.plan, price)
    if hides(plan.priced.question) or session.stored(plan) is None:
        return None
    found = _as_released(_called(request.release, asked.price))
    for one in asked.refined:
        question = found.question if isinstance(found, Release) else None
        if not isinstance(question, AnsweredQuestion):
            raise Invalid(_ONLY_QUESTIONS)
        if not _called(question.has_refined, {"first": found} | one):
            return None
        found = _as_released(_called(question.refine, {"first": found} | one))
    return found


def _run(session: Session, asked: Asked, progress: Callable[[str, float], None] | None = None) -> Released:
    """Do what was asked, in this thread."""
    request = request_of(session, asked.chain)
    if not hasattr(request, "release"):
        raise Invalid("this is opened, not released: use the interface for conversations, streams and feeds")
    if asked.verb in ("bias", "dry_run"):
        if not hasattr(request, asked.verb):
            raise Invalid(f"only questions have {asked.verb}()")
        return _as_released(_called(getattr(request, asked.verb), asked.price | _referring(session, asked)))
    if asked.verb == "refine":
        return _refined(session, asked)
    (first, given, named), *_ = asked.chain.steps
    more = {} if progress is None or first not in ("synthesize", "profile") else {"progress": progress}
    if first == "profile" and "epsilon" in asked.price:  # by the session, whose later questions use it
        return _as_released(_called(session.profile, dict(zip(("table",), given, strict=False)) | named | asked.price | more))
    return _as_released(_called(request.release, asked.price | more))


def _refined(session: Session, asked: Asked) -> Released:
    """Refine an answer that this account has: what comes before the last refinement is never bought here."""
    if not asked.refined:
        raise Invalid('a refinement has a price: give refine=[{"epsilon": 0.1}]')
    first = held(session, evolve(asked, refined=asked.refined[:-1]))
    if first is None:
        raise Invalid("there is no answer to refine at this price: release the question first, and state its delta")
    if not isinstance(first, Release):
        raise Invalid(_ONLY_QUESTIONS)
    return _as_released(_called(first.refine, asked.refined[-1]))


def _referring(session: Session, asked: Asked) -> dict[str, Any]:
    """The release that bias() refers to; it must be one of this ledger."""
    if asked.of is None:
        return {}
    found = release_of_text(asked.of)
    session.verify(found)
    return {"of": found}


def _as_released(found: Any) -> Released:
    assert isinstance(found, Released), "every request releases one"
    return found


def _called(method: Callable[..., Any], price: Mapping[str, Any]) -> Any:
    try:
        return method(**price)
    except (TypeError, OverflowError):
        raise Invalid(
            f"{method.__name__}() does not take these: {', '.join(map(str, price))[:200]}; give epsilon, and delta if needed"
        ) from None
