"""Instances: one server a file, several on one PostgreSQL; only what the dead leave is taken up."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from discreet.errors import Invalid
from discreet.server.store.accounts import Accounts
from discreet.server.store.database import Database, open_database
from discreet.server.store.instances import LEASE, RENEWED, Instance
from discreet.server.store.jobs import Jobs

ASKED = {"request": [["sql", ["SELECT COUNT(*) AS n FROM visits"], {}]], "price": {"epsilon": 0.1}}


@pytest.fixture
def shared(postgres: str, request: pytest.FixtureRequest) -> Iterator[Database]:
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute("DROP SCHEMA IF EXISTS discreet_server CASCADE")
    found = open_database(postgres)
    Accounts(found).add("ann", "analyst", None)
    yield found
    found.close()


def die(database: Database, instance: Instance) -> None:
    """Its lease ends, as if nobody had renewed it."""
    with database.writing() as run:
        run("UPDATE instances SET seen = seen - ? WHERE id = ?", 2 * LEASE, instance.id)


def test_a_file_has_one_server(tmp_path: object) -> None:
    first, second = open_database(f"{tmp_path}/server.db"), open_database(f"{tmp_path}/server.db")
    Instance(first)
    with pytest.raises(Invalid, match="another server is using this database: stop it first"):
        Instance(second)
    first.close()
    assert Instance(second).is_alone  # a lock ends with its holder
    second.close()


def test_a_file_s_next_server_takes_up_everything_at_once(tmp_path: object) -> None:
    first = open_database(f"{tmp_path}/server.db")
    Accounts(first).add("ann", "analyst", None)
    jobs = Jobs(first, Instance(first).id)
    made = [jobs.add("ann", "clinic", "", ASKED, None)[0] for _ in range(3)]
    jobs.begin(made[0].id, 0)
    first.close()  # as a kill does: its lease has not ended
    second = open_database(f"{tmp_path}/server.db")
    assert [job.id for job in Instance(second).take_over()] == [job.id for job in made]
    second.close()


def test_jobs_of_the_living_are_their_own(shared: Database) -> None:
    one, other = Instance(shared), Instance(shared)
    jobs = Jobs(shared, one.id)
    running, queued = (jobs.add("ann", "clinic", "", ASKED, None)[0] for _ in range(2))
    jobs.begin(running.id, 0)
    assert other.take_over() == one.take_over() == []
    die(shared, one)
    one.renew()  # it was late, and nobody looked
    assert other.take_over() == []
    die(shared, one)
    assert [job.id for job in other.take_over()] == [running.id, queued.id]
    assert other.take_over() == []


def test_who_was_taken_for_dead_changes_nothing_more(shared: Database) -> None:
    one, other = Instance(shared), Instance(shared)
    late, job = Jobs(shared, one.id), Jobs(shared, one.id).add("ann", "clinic", "", ASKED, None)[0]
    die(shared, one)
    other.take_over()
    assert not late.begin(job.id, 0)
    late.end(job.id, "failed", {"error": "x"})
    assert Jobs(shared, other.id).begin(job.id, 0)
    late.end(job.id, "failed", {"error": "x"})
    Jobs(shared, other.id).end(job.id, "done", {"release": "y"})
    found = late.get(job.id)
    assert found is not None
    assert found.state == "done"


def test_who_leaves_leaves_its_jobs_at_once(shared: Database) -> None:
    one, other = Instance(shared), Instance(shared)
    job, _ = Jobs(shared, one.id).add("ann", "clinic", "", ASKED, None)
    one.leave()
    assert [found.id for found in other.take_over()] == [job.id]


def test_an_account_is_answered_by_one_at_a_time(shared: Database) -> None:
    one, other = Instance(shared), Instance(shared)
    assert one.claim("ann", "clinic")
    assert one.claim("ann", "clinic")
    assert not other.claim("ann", "clinic")
    assert other.is_elsewhere("ann", "clinic")
    assert not one.is_elsewhere("ann", "clinic")
    assert not other.is_elsewhere("ann", "school")
    other.release("ann", "clinic")  # only its own
    assert other.is_elsewhere("ann", "clinic")
    one.release("ann", "clinic")
    assert other.claim("ann", "clinic")
    die(shared, other)
    assert not one.is_elsewhere("ann", "clinic")
    assert one.claim("ann", "clinic")


def test_a_lease_is_renewed_several_times_before_it_ends() -> None:
    assert RENEWED <= LEASE / 4
