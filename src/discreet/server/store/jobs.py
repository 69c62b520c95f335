"""Jobs: everything that was asked of the server and costs budget, durable before it runs, with its outcome.

A job has one of six states. `queued` and `running` jobs survive a restart: one that was not charged is queued again, one that was charged
and has no stored answer is `interrupted`: it was paid for, and asking again would draw and charge again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, final

from attrs import evolve, frozen

from discreet.errors import Invalid
from discreet.server.store.database import Database
from discreet.server.store.secret import digest, new_secret

State: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
OPEN: tuple[State, ...] = ("queued", "running")
COLUMNS = "id, account, dataset, title, request, state, entries, progress, step, outcome, created, ended"
REUSED = "this idempotency key was used for another request: use a new key"


@final
@frozen
class Job:
    """One request at its price, and what became of it."""

    id: str
    account: str
    dataset: str
    title: str
    request: str  # as JSON
    state: State
    entries: int  # entries of the ledger before it ran
    progress: float
    step: str
    outcome: str | None  # as JSON: where the answer is stored, or the error
    created: float
    ended: float | None

    @property
    def asked(self) -> dict[str, Any]:
        """The request."""
        found: dict[str, Any] = json.loads(self.request)
        return found

    @property
    def said(self) -> dict[str, Any]:
        """The outcome."""
        found: dict[str, Any] = json.loads(self.outcome or "{}")
        return found

    def ended_as(self, state: State, outcome: Mapping[str, Any]) -> Job:
        """The same job, ended."""
        return evolve(self, state=state, outcome=json.dumps(outcome), ended=time.time(), progress=1.0 if state == "done" else 0.0)


@final
class Jobs:
    """The jobs of one server."""

    def __init__(self, database: Database, instance: str) -> None:
        """`instance` is the server whose jobs these are; the others' can be looked at."""
        self._database, self._instance = database, instance

    def add(self, account: str, dataset: str, title: str, request: Mapping[str, Any], once: str | None) -> tuple[Job, bool]:
        """A new job, and whether it is new: an idempotency key of the same account and request gives the first one."""
        text = json.dumps(request)  # in its order, which is that of the columns of some answers
        body = _digest(dataset, request)
        with self._database.writing() as run:
            known = run(f"SELECT {COLUMNS}, body FROM jobs WHERE account = ? AND once = ?", account, once) if once is not None else []
            if known:
                if known[0][-1] != body:
                    raise Invalid(REUSED)
                return Job(*known[0][:-1]), False
            job = Job(new_secret(100), account, dataset, title[:300], text, "queued", 0, 0.0, "", None, time.time(), None)
            run(
                "INSERT INTO jobs (id, account, dataset, title, request, body, once, state, created, instance) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?)",
                *(job.id, account, dataset, job.title, text, body, once, job.created, self._instance),
            )
        return job, True

    def known(self, account: str, dataset: str, request: Mapping[str, Any], once: str) -> Job | None:
        """The job of an idempotency key, if there is one; Invalid if the key was used for another request."""
        rows = self._database.rows(f"SELECT {COLUMNS}, body FROM jobs WHERE account = ? AND once = ?", account, once)
        if not rows:
            return None
        if rows[0][-1] != _digest(dataset, request):
            raise Invalid(REUSED)
        return Job(*rows[0][:-1])

    def get(self, number: str) -> Job | None:
        """A job by its number."""
        rows = self._database.rows(f"SELECT {COLUMNS} FROM jobs WHERE id = ?", number)
        return Job(*rows[0]) if rows else None

    def of(self, account: str, dataset: str | None = None, most: int = 200) -> list[Job]:
        """The jobs of an account, newest first."""
        more, values = ("", ()) if dataset is None else (" AND dataset = ?", (dataset,))
        rows = self._database.rows(
            f"SELECT {COLUMNS} FROM jobs WHERE account = ?{more} ORDER BY created DESC LIMIT ?", account, *values, most
        )
        return [Job(*row) for row in rows]

    def profiles(self, account: str, dataset: str) -> list[Job]:
        """The profiles that an account received, oldest first."""
        rows = self._database.rows(
            f"SELECT {COLUMNS} FROM jobs WHERE account = ? AND dataset = ? AND state = 'done' AND title LIKE ? ORDER BY created",
            account,
            dataset,
            "profile of %",
        )
        return [job for row in rows if (job := Job(*row)).asked["request"][0][0] == "profile"]

    def open(self) -> list[Job]:
        """The jobs that have not ended, oldest first."""
        return [
            Job(*row) for row in self._database.rows(f"SELECT {COLUMNS} FROM jobs WHERE state IN ('queued', 'running') ORDER BY created")
        ]

    def begin(self, number: str, entries: int) -> bool:
        """Mark a queued job as running; False if it was cancelled or taken over meanwhile. `entries` is the length of the ledger now."""
        with self._database.writing() as run:
            sql = "UPDATE jobs SET state = 'running', entries = ? WHERE id = ? AND state = 'queued' AND instance = ? RETURNING id"
            return bool(run(sql, entries, number, self._instance))

    def requeue(self, number: str) -> None:
        """Queue a job again that ran when the server stopped and was not charged."""
        with self._database.writing() as run:
            run("UPDATE jobs SET state = 'queued', progress = 0, step = '' WHERE id = ? AND state IN ('queued', 'running')", number)

    def progress(self, number: str, step: str, share: float) -> None:
        """Record how far a job is: a step of its plan, never the engine's own progress."""
        with self._database.writing() as run:
            run("UPDATE jobs SET step = ?, progress = ? WHERE id = ? AND state = 'running'", step[:200], min(max(share, 0.0), 1.0), number)

    def end(self, number: str, state: State, outcome: Mapping[str, Any]) -> None:
        """Record what became of a job; the first outcome stays, and so does what another instance does that took it over."""
        with self._database.writing() as run:
            run(
                "UPDATE jobs SET state = ?, outcome = ?, ended = ?, progress = ? "
                "WHERE id = ? AND state IN ('queued', 'running') AND instance = ?",
                *(state, json.dumps(outcome), time.time(), 1.0 if state == "done" else 0.0, number, self._instance),
            )

    def cancel(self, number: str) -> bool:
        """Cancel a job that has not begun; one that runs may have been charged, and goes on."""
        with self._database.writing() as run:
            sql = "UPDATE jobs SET state = 'cancelled', ended = ?, outcome = ? WHERE id = ? AND state = 'queued' RETURNING id"
            return bool(
                run(sql, time.time(), json.dumps({"error": "Refused", "message": "cancelled before it began; nothing was charged"}), number)
            )

    # ── sharing ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def share(self, number: str, account: str) -> None:
        """Let another account see a finished job; it is charged when it first looks."""
        with self._database.writing() as run:
            run(
                "INSERT INTO shares (job, account, created) VALUES (?, ?, ?) ON CONFLICT (job, account) DO NOTHING",
                number,
                account,
                time.time(),
            )

    def is_shared(self, number: str, account: str) -> bool:
        """Whether a job was shared with an account."""
        return bool(self._database.rows("SELECT 1 FROM shares WHERE job = ? AND account = ?", number, account))

    def shared_with(self, account: str) -> list[Job]:
        """The jobs that others shared with an account, newest first."""
        columns = ", ".join(f"jobs.{name}" for name in COLUMNS.split(", "))
        sql = f"SELECT {columns} FROM jobs JOIN shares ON shares.job = jobs.id WHERE shares.account = ? ORDER BY shares.created DESC"
        return [Job(*row) for row in self._database.rows(sql, account)]


def _digest(dataset: str, request: Mapping[str, Any]) -> str:
    return digest(f"{dataset}\n{json.dumps(request)}")
