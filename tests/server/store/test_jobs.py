"""Jobs: durable, one for each idempotency key, with one outcome."""

from __future__ import annotations

import pytest

from discreet.errors import Invalid
from discreet.server.store.accounts import Accounts
from discreet.server.store.database import Database
from discreet.server.store.jobs import Jobs

ASKED = {"request": [["sql", ["SELECT COUNT(*) AS n FROM visits"], {}]], "price": {"epsilon": 0.1}}


@pytest.fixture
def jobs(database: Database, accounts: Accounts) -> Jobs:
    accounts.add("bob", "analyst", "owner")
    return Jobs(database, "this one")


def test_a_job_from_the_queue_to_its_end(jobs: Jobs) -> None:
    job, new = jobs.add("ann", "clinic", "a title", ASKED, None)
    assert new
    assert job.asked == ASKED
    assert jobs.get(job.id) == job
    assert jobs.open() == [job]
    assert jobs.begin(job.id, 7)
    assert not jobs.begin(job.id, 8)  # once
    jobs.progress(job.id, "noise", 0.5)
    running = jobs.get(job.id)
    assert running is not None
    assert (running.state, running.entries, running.step, running.progress) == ("running", 7, "noise", 0.5)
    jobs.end(job.id, "done", {"release": "x"})
    jobs.end(job.id, "failed", {"error": "y"})  # the first outcome stays
    ended = jobs.get(job.id)
    assert ended is not None
    assert (ended.state, ended.said) == ("done", {"release": "x"})
    assert jobs.open() == []
    assert not jobs.cancel(job.id)


def test_an_idempotency_key_belongs_to_an_account_and_a_request(jobs: Jobs) -> None:
    first, _ = jobs.add("ann", "clinic", "", ASKED, "key")
    assert jobs.add("ann", "clinic", "", ASKED, "key") == (first, False)
    assert jobs.known("ann", "clinic", ASKED, "key") == first
    assert jobs.known("ann", "clinic", ASKED, "other") is None
    for dataset, request in (("clinic", ASKED | {"price": {"epsilon": 1}}), ("school", ASKED)):
        with pytest.raises(Invalid, match="idempotency key"):
            jobs.add("ann", dataset, "", request, "key")
        with pytest.raises(Invalid, match="idempotency key"):
            jobs.known("ann", dataset, request, "key")
    assert jobs.known("bob", "clinic", ASKED, "key") is None
    assert jobs.add("bob", "clinic", "", ASKED, "key")[1]
    assert jobs.add("ann", "clinic", "", ASKED, None)[0] != jobs.add("ann", "clinic", "", ASKED, None)[0]


def test_cancelling(jobs: Jobs) -> None:
    job, _ = jobs.add("ann", "clinic", "", ASKED, None)
    assert jobs.cancel(job.id)
    assert not jobs.cancel(job.id)
    assert not jobs.begin(job.id, 0)
    found = jobs.get(job.id)
    assert found is not None
    assert "nothing was charged" in found.said["message"]


def test_a_job_is_queued_again(jobs: Jobs) -> None:
    job, _ = jobs.add("ann", "clinic", "", ASKED, None)
    jobs.begin(job.id, 1)
    jobs.requeue(job.id)
    assert jobs.open()[0].state == "queued"
    jobs.end(job.id, "failed", {})
    jobs.requeue(job.id)
    assert jobs.open() == []


def test_jobs_of_an_account_and_shares(jobs: Jobs) -> None:
    mine = [jobs.add("ann", name, "", ASKED, None)[0] for name in ("clinic", "school", "clinic")]
    jobs.add("bob", "clinic", "", ASKED, None)
    assert {job.id for job in jobs.of("ann")} == {job.id for job in mine}
    assert [job.id for job in jobs.of("ann", "school")] == [mine[1].id]
    assert len(jobs.of("ann", most=2)) == 2
    assert jobs.shared_with("bob") == []
    jobs.share(mine[0].id, "bob")
    jobs.share(mine[0].id, "bob")
    assert [job.id for job in jobs.shared_with("bob")] == [mine[0].id]
    assert jobs.is_shared(mine[0].id, "bob")
    assert not jobs.is_shared(mine[1].id, "bob")


def test_numbers_cannot_be_guessed(jobs: Jobs) -> None:
    job, _ = jobs.add("ann", "clinic", "", ASKED, None)
    assert len(job.id) == 20  # 100 random bits
    assert jobs.get("") is None
    assert jobs.get("%") is None
