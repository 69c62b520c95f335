"""PostgreSQL: several instances share one database."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg

from discreet.server.store import audit
from discreet.server.store.accounts import Accounts
from discreet.server.store.database import open_database


def test_several_instances_open_an_empty_database_at_once(postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute("DROP SCHEMA IF EXISTS discreet_server CASCADE")
    with ThreadPoolExecutor(4) as threads:
        opened = list(threads.map(open_database, [postgres] * 4))
    for number, one in enumerate(opened):
        Accounts(one).add(f"account {number}", "analyst", None)
    assert len(Accounts(opened[0]).all()) == 4
    assert audit.verify(opened[3]) == 4
    for one in opened:
        one.close()
