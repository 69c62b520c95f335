"""The servers that share a database: each has a lease, which it renews while it lives, and takes up the jobs of those that died.

A file has one server at a time: a lock on a file beside it, which ends with the process, refuses a second one.
"""

from __future__ import annotations

import math
from typing import final

from discreet.server.store.database import Database
from discreet.server.store.jobs import COLUMNS, Job
from discreet.server.store.secret import new_secret

LEASE, RENEWED = 10.0, 2.0  # seconds that a lease lasts, and after which it is renewed


@final
class Instance:
    """One server, and what it may take up."""

    def __init__(self, database: Database) -> None:
        self.id, self._database = new_secret(100), database
        database.reserve()
        self.renew()

    @property
    def is_alone(self) -> bool:
        """Whether no other one can use this database."""
        return not self._database.is_shared

    def renew(self) -> None:
        """Go on living, by the clock of the database, so that the clocks of machines need not agree."""
        now = self._database.now()
        with self._database.writing() as run:
            run("DELETE FROM instances WHERE seen < ?", now - LEASE)
            run("INSERT INTO instances (id, seen) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET seen = excluded.seen", self.id, now)

    def leave(self) -> None:
        """End: others may take up what is left."""
        with self._database.writing() as run:
            run("DELETE FROM instances WHERE id = ?", self.id)

    def take_over(self) -> list[Job]:
        """The open jobs of instances that are gone, oldest first; they are this one's now."""
        alive = math.inf if self.is_alone else self._database.now() - LEASE
        with self._database.writing() as run:
            rows = run(
                "UPDATE jobs SET instance = ? WHERE state IN ('queued', 'running') AND (instance IS NULL OR (instance <> ? "
                f"AND NOT EXISTS (SELECT 1 FROM instances WHERE id = jobs.instance AND seen >= ?))) RETURNING {COLUMNS}",
                *(self.id, self.id, alive),
            )
        return sorted((Job(*row) for row in rows), key=lambda job: job.created)

    # ── an account's questions about a data set are answered by one instance at a time ───────────────────────────────

    def claim(self, account: str, dataset: str) -> bool:
        """Whether no other living instance answers questions of this account; from now on this one does."""
        alive = self._database.now() - LEASE
        with self._database.writing() as run:
            run(
                "DELETE FROM claims WHERE account = ? AND dataset = ? "
                "AND NOT EXISTS (SELECT 1 FROM instances WHERE id = claims.instance AND seen >= ?)",
                *(account, dataset, alive),
            )
            run(
                "INSERT INTO claims (account, dataset, instance) VALUES (?, ?, ?) ON CONFLICT (account, dataset) DO NOTHING",
                *(account, dataset, self.id),
            )
            return bool(run("SELECT 1 FROM claims WHERE account = ? AND dataset = ? AND instance = ?", account, dataset, self.id))

    def release(self, account: str, dataset: str) -> None:
        """Its questions have been answered."""
        with self._database.writing() as run:
            run("DELETE FROM claims WHERE account = ? AND dataset = ? AND instance = ?", account, dataset, self.id)

    def is_elsewhere(self, account: str, dataset: str) -> bool:
        """Whether another living instance answers questions of this account."""
        sql = "SELECT 1 FROM claims JOIN instances ON id = instance WHERE account = ? AND dataset = ? AND id <> ? AND seen >= ?"
        return bool(self._database.rows(sql, account, dataset, self.id, self._database.now() - LEASE))
