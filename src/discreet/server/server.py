"""A server: its database, its data sets and its queue, opened and closed together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, final

from attrs import frozen

from discreet.errors import Error
from discreet.extras import require
from discreet.server.asked import Asked
from discreet.server.asking import Asking
from discreet.server.datasets import DataSet, DataSets
from discreet.server.limits import Limit
from discreet.server.logs import Log
from discreet.server.metrics import Metrics
from discreet.server.outcome import UNEXPECTED, Outcome
from discreet.server.provider import Provider
from discreet.server.queue import FairQueue
from discreet.server.runs import Runs
from discreet.server.settings import Settings
from discreet.server.store.accounts import Account, Accounts
from discreet.server.store.database import Database, open_database
from discreet.server.store.identities import Identities
from discreet.server.store.instances import RENEWED, Instance
from discreet.server.store.jobs import Job, Jobs
from discreet.server.store.logins import Logins
from discreet.server.store.tokens import Tokens

if TYPE_CHECKING:
    from discreet.server.oidc import Oidc


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
        try:
            self.instance = Instance(self.database)
        except BaseException:
            self.database.close()
            raise
        self.accounts = Accounts(self.database)
        self.tokens, self.logins = Tokens(self.database, self.accounts), Logins(self.database, self.accounts)
        self.oidc = None if settings.provider is None else _provider_logins(settings.provider, self.database, self.accounts)
        self.datasets = DataSets(settings.policies, self.log.engine_failed, self.instance, settings.limits)
        self.folders = dict(settings.folders)  # that wait for a policy
        self.jobs = Jobs(self.database, self.instance.id)
        self.queue = FairQueue(settings.clock, settings.seats, settings.most_waiting)
        self.asking, self.runs = Asking(self.jobs, self.queue, settings.rows, self.log.failed), Runs(self.queue)
        self.request_limit, self.login_limit = Limit(settings.requests_a_minute), Limit(settings.logins_a_minute)
        self.address_limit = Limit(10 * settings.logins_a_minute)
        self.ready = False
        self._tasks: set[asyncio.Task[Job]] = set()
        self._living: asyncio.Task[None] | None = None

    def owner_link(self) -> str | None:
        """The one-time link with which the first owner chooses a password; None if there is one already."""
        owners = [account for account in self.accounts.all() if account.role == "owner" and not account.disabled]
        if any(owner.has_password for owner in owners):
            return None
        owner = owners[0] if owners else self.accounts.add("owner", "owner", None)
        return f"{self.settings.address}/welcome/{self.accounts.link(owner.name, None)}"

    # ── jobs ─────────────────────────────────────────────────────────────────────────────────────────────────────────

    async def start(self) -> None:
        """Take up the jobs that were open when the server stopped, or another one that shares its database, and be ready."""
        await asyncio.to_thread(self._use_profiles)
        self._take_up(self._recovered())
        if not self.instance.is_alone:
            self._living = asyncio.create_task(self._live())
        self.ready = True

    def _use_profiles(self) -> None:
        """Let questions use the profiles that their accounts received in an earlier life of this server, which is free.

        Without them the same question would be another one, and be charged again.
        """
        for data in self.datasets:
            for account in (one for one in self.accounts.all() if one.role == "analyst" and not one.disabled and data.admits(one)):
                for job in self.jobs.profiles(account.name, data.name):
                    with suppress(Error):  # the policy may have changed since
                        self.asking.known(data, account, Asked.read(job.asked))

    async def _live(self) -> None:
        """Renew the lease of this server, and take up what servers leave that have died."""
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1, "discreet-lease") as thread:  # of its own, so that nothing keeps it waiting
            while True:
                await asyncio.sleep(RENEWED)
                try:
                    await loop.run_in_executor(thread, self.instance.renew)
                    self._take_up(await loop.run_in_executor(thread, self._recovered))
                except Exception as error:  # the database may be away for a while
                    self.log.failed("lease", error)

    def _recovered(self) -> list[tuple[Account, Job]]:
        """The jobs to run that another server, or an earlier life of this one, left open; those that were charged end as interrupted."""
        known, found = {data.name: data for data in self.datasets}, list[tuple[Account, Job]]()
        for job in self.instance.take_over():
            account, data = self.accounts.get(job.account), known.get(job.dataset)
            if account is None or data is None:
                self.jobs.end(job.id, "failed", {"error": "Invalid", "message": "its account or its data set is no longer here"})
            elif self.asking.recover(data, account, job):
                found.append((account, job))
        return found

    def _take_up(self, jobs: list[tuple[Account, Job]]) -> None:
        for account, job in jobs:
            self.run_later(account, job)

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
        asked = Asked.read(said)
        if (found := await self.received(data, account, said)) is not None:
            return found
        await asyncio.to_thread(self.asking.require_admitted, data, account, asked)
        job, new = await asyncio.to_thread(self.asking.add, data, account, said, once)
        return Running(job, self.run_later(account, job, arrived)) if new else job

    async def received(self, data: DataSet, account: Account, said: Mapping[str, Any]) -> Outcome | None:
        """The answer, if this account has received it before; None if it would have to be paid for."""
        look = partial(self.asking.received.get, data, account, said)
        again = look() if self.instance.is_alone else await asyncio.to_thread(look)  # others are found in the database
        if again is not None:
            return {"release": again, "repeated": True}
        asked = await asyncio.to_thread(self.asking.priced, data, account, Asked.read(said))
        return await asyncio.to_thread(self.asking.known, data, account, asked, said)

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
        if self._living is not None:
            self._living.cancel()
        self.queue.close()
        self.datasets.close()
        with suppress(Error):  # else its lease ends by itself
            self.instance.leave()
        self.database.close()
        self.log.event("stopped")


def _provider_logins(provider: Provider, database: Database, accounts: Accounts) -> Oidc:
    require("authlib")
    from discreet.server.oidc import Oidc

    return Oidc(provider, Identities(database, accounts))
