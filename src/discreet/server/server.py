"""A server: its database, its data sets and its queue, opened and closed together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any, final

from attrs import frozen

from discreet.errors import Error
from discreet.server.asking import UNEXPECTED, Asked, Asking, Outcome
from discreet.server.datasets import DataSet, DataSets
from discreet.server.limits import Limit
from discreet.server.logs import Log
from discreet.server.metrics import Metrics
from discreet.server.queue import FairQueue
from discreet.server.runs import Runs
from discreet.server.settings import Settings
from discreet.server.store.accounts import Account, Accounts
from discreet.server.store.database import open_database
from discreet.server.store.jobs import Job, Jobs
from discreet.server.store.logins import Logins
from discreet.server.store.tokens import Tokens


@final
@frozen
class Running:
    """A job that was just begun."""

    job: Job
    task: asyncio.Task[Job]


@final
class Server:
    """Everything that requests are answered from."""

    def __init__(self, settings: Settings, log: Log | None = None) -> None:
        self.settings, self.log, self.metrics = settings, log or Log.quiet(), Metrics()
        self.database = open_database(settings.database)
        self.accounts = Accounts(self.database)
        self.tokens, self.logins = Tokens(self.database, self.accounts), Logins(self.database, self.accounts)
        self.datasets = DataSets(settings.policies, self.log.engine_failed)
        self.jobs = Jobs(self.database)
        self.queue = FairQueue(settings.clock, settings.seats, settings.most_waiting)
        self.asking, self.runs = Asking(self.jobs, self.queue, settings.rows, self.log.failed), Runs(self.queue)
        self.request_limit, self.login_limit = Limit(settings.requests_a_minute), Limit(settings.logins_a_minute)
        self.address_limit = Limit(10 * settings.logins_a_minute)
        self.ready = False
        self._tasks: set[asyncio.Task[Job]] = set()

    def owner_link(self) -> str | None:
        """The one-time link with which the first owner chooses a password; None if there is one already."""
        owners = [account for account in self.accounts.all() if account.role == "owner" and not account.disabled]
        if any(owner.has_password for owner in owners):
            return None
        owner = owners[0] if owners else self.accounts.add("owner", "owner", None)
        return f"{self.settings.address}/welcome/{self.accounts.link(owner.name, None)}"

    # ── jobs ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    async def start(self) -> None:
        """Take up the jobs that were open when the server stopped, and be ready."""
        known = {data.name: data for data in self.datasets}
        for job in self.jobs.open():
            account, data = self.accounts.get(job.account), known.get(job.dataset)
            if account is None or data is None:
                self.jobs.end(job.id, "failed", {"error": "Invalid", "message": "its account or its data set is no longer here"})
            elif self.asking.recover(data, account, job):
                self.run_later(account, job)
        self.ready = True

    async def ask(self, data: DataSet, account: Account, said: Mapping[str, Any], once: str | None, wait: float) -> Outcome | Job:
        """The answer, if this account has received it before; else a job, which has ended if that took less than `wait` seconds."""
        found = await self.begin(data, account, said, once)
        if not isinstance(found, Running):
            return found
        if wait:
            await asyncio.wait([found.task], timeout=wait)
        if found.task.done() and not found.task.cancelled():
            return found.task.result()
        return await asyncio.to_thread(self.jobs.get, found.job.id) or found.job

    async def begin(self, data: DataSet, account: Account, said: Mapping[str, Any], once: str | None) -> Outcome | Job | Running:
        """The answer, if this account has received it before, or the job that it asked for with the same key; else a new job that runs."""
        arrived = time.monotonic()
        if once is not None and (known := await asyncio.to_thread(self.jobs.known, account.name, data.name, said, once)) is not None:
            return known
        if once is not None:
            self.asking.bind(data, account, said, once)
        if (found := await self.received(data, account, said)) is not None:
            return found
        await asyncio.to_thread(self.asking.require_admitted, data, account, Asked.read(said))
        job, new = await asyncio.to_thread(self.asking.add, data, account, said, once)
        return Running(job, self.run_later(account, job, arrived)) if new else job

    async def received(self, data: DataSet, account: Account, said: Mapping[str, Any]) -> Outcome | None:
        """The answer, if this account has received it before; nothing is read or charged."""
        if (again := self.asking.received.get(data, account, said)) is not None:
            return {"release": again, "repeated": True}
        return await asyncio.to_thread(self.asking.known, data, account, said)

    def run_later(self, account: Account, job: Job, since: float | None = None) -> asyncio.Task[Job]:
        """Run a job in the background, in its turn; it ends even if nobody waits for it."""

        async def run() -> Job:
            try:
                return await self.asking.answer(self.datasets.get(job.dataset, account), account, job, since)
            except Error as error:  # too many waiting, or the data set was closed
                outcome = {"error": type(error).__name__, "message": str(error)}
            except Exception as error:  # a bug of ours: its text may contain data
                self.log.failed(job.id, error)
                outcome = {"error": "Error", "message": UNEXPECTED}
            await asyncio.to_thread(self.jobs.end, job.id, "failed", outcome)
            return job.ended_as("failed", outcome)

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def stop(self) -> None:
        """Let running jobs end, leave queued ones for the next start, and close everything."""
        self.ready = False
        self.queue.stop()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=30)
        for task in self._tasks:
            task.cancel()
        self.queue.close()
        self.datasets.close()
        self.database.close()
        self.log.event("stopped")
