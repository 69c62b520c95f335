"""The tables of the server's database, as numbered migrations: each list of statements is applied once, in order."""

from __future__ import annotations

from typing import Any

from discreet.errors import Invalid

# Times are seconds since 1970, UTC. Secrets are stored as hashes only. SQL that SQLite and PostgreSQL share.
_FIRST = (
    """CREATE TABLE accounts (
    name TEXT PRIMARY KEY,
    role TEXT NOT NULL CHECK (role IN ('owner', 'analyst', 'auditor')),
    password TEXT,
    created DOUBLE PRECISION NOT NULL,
    disabled INTEGER NOT NULL DEFAULT 0
)""",
    """CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL,
    account TEXT NOT NULL REFERENCES accounts (name),
    label TEXT NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('read', 'ask', 'all')),
    datasets TEXT,
    created DOUBLE PRECISION NOT NULL,
    expires DOUBLE PRECISION NOT NULL,
    revoked INTEGER NOT NULL DEFAULT 0
)""",
    """CREATE TABLE links (
    hash TEXT PRIMARY KEY,
    account TEXT NOT NULL REFERENCES accounts (name),
    expires DOUBLE PRECISION NOT NULL
)""",
    """CREATE TABLE logins (
    hash TEXT PRIMARY KEY,
    account TEXT NOT NULL REFERENCES accounts (name),
    created DOUBLE PRECISION NOT NULL,
    seen DOUBLE PRECISION NOT NULL
)""",
    """CREATE TABLE jobs (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL REFERENCES accounts (name),
    dataset TEXT NOT NULL,
    title TEXT NOT NULL,
    request TEXT NOT NULL,
    body TEXT NOT NULL,
    once TEXT,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled', 'interrupted')),
    entries INTEGER NOT NULL DEFAULT 0,
    progress DOUBLE PRECISION NOT NULL DEFAULT 0,
    step TEXT NOT NULL DEFAULT '',
    outcome TEXT,
    created DOUBLE PRECISION NOT NULL,
    ended DOUBLE PRECISION
)""",
    "CREATE UNIQUE INDEX one_job_a_key ON jobs (account, once)",
    "CREATE INDEX jobs_of_an_account ON jobs (account, dataset, created)",
    "CREATE INDEX unfinished_jobs ON jobs (state)",
    """CREATE TABLE shares (
    job TEXT NOT NULL REFERENCES jobs (id),
    account TEXT NOT NULL REFERENCES accounts (name),
    created DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (job, account)
)""",
    """CREATE TABLE audit (
    sequence INTEGER PRIMARY KEY,
    at DOUBLE PRECISION NOT NULL,
    account TEXT,
    event TEXT NOT NULL,
    detail TEXT NOT NULL,
    previous TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL
)""",
)

# logins through a provider
_IDENTITIES = (
    """CREATE TABLE identities (
    hash TEXT PRIMARY KEY,
    account TEXT NOT NULL UNIQUE REFERENCES accounts (name)
)""",
    """CREATE TABLE provider_logins (
    hash TEXT PRIMARY KEY,
    following TEXT NOT NULL,
    expires DOUBLE PRECISION NOT NULL
)""",
)

# servers that share a database, and whose a job is
_INSTANCES = (
    """CREATE TABLE instances (
    id TEXT PRIMARY KEY,
    seen DOUBLE PRECISION NOT NULL
)""",
    "ALTER TABLE jobs ADD COLUMN instance TEXT",
    """CREATE TABLE claims (
    account TEXT NOT NULL REFERENCES accounts (name),
    dataset TEXT NOT NULL,
    instance TEXT NOT NULL,
    PRIMARY KEY (account, dataset)
)""",
)

# Logins of PostgreSQL's clients by SCRAM: a verifier for each token, and a value from which the salts of all names follow.
_SCRAM = (
    "ALTER TABLE tokens ADD COLUMN scram TEXT",
    "CREATE TABLE salts (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_FIRST, _IDENTITIES, _INSTANCES, _SCRAM)


def migrate(run: Any) -> None:
    """Bring the tables to the newest version; inside `writing`."""
    run("CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY)")
    done = int(run("SELECT coalesce(max(number), 0) FROM migrations")[0][0])
    if done > len(MIGRATIONS):
        raise Invalid("the server's database was written by a newer version of discreet: update discreet")
    for number, statements in enumerate(MIGRATIONS[done:], start=done + 1):
        for statement in statements:
            run(statement)
        run("INSERT INTO migrations (number) VALUES (?)", number)
