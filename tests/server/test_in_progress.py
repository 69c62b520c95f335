"""Until its slot ends, an answer cannot be seen by any other road, nor what it cost, nor how far its run is."""

from __future__ import annotations

import json
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from server.clinic import COUNT, POLICY, Served, asked, make_server, write_clinic

from discreet.errors import Refused
from discreet.ledger.chain import digest
from discreet.server.app import application
from discreet.server.asked import Asked
from discreet.server.clock import Clock
from discreet.server.in_progress import Before, InProgress
from discreet.server.perform import fixed

SLOT = 2.0
D = "/api/v1/datasets/clinic"
UNDECLARED = POLICY.replace("[tables.visits.columns.cost]\nbounds = [0, 500]\n", "")  # bounds are discovered first, in a step of its own


@pytest.fixture
def served(tmp_path: Path) -> Served:
    return make_server(tmp_path, Clock(first=SLOT))


@pytest.fixture
def begun(client: TestClient, served: Served) -> dict[str, Any]:
    """A job whose run has ended and whose slot has not."""
    job = client.post(f"{D}/releases", json=asked(), headers=served.header("ann", Prefer="respond-async"))
    assert job.status_code == 202
    data = next(iter(served.server.datasets))
    end = time.monotonic() + SLOT
    while not any(entry.kind == "release" for entry in data.ledger.entries()) and time.monotonic() < end:
        time.sleep(0.01)
    assert time.monotonic() < end, "the run took longer than its slot"
    return dict(job.json())


def test_the_answer_is_known_by_no_road_before_its_slot_ends(client: TestClient, served: Served, begun: dict[str, Any]) -> None:
    header = served.header("ann")
    assert client.post(f"{D}/confidences", json=asked() | {"confidence": 0.9}, headers=header).status_code == 400
    assert client.get(f"{D}/history", headers=header).json() == {"history": []}
    assert client.get(f"{D}/budget", headers=header).json()["spent"]["epsilon"] == "0"
    assert client.get(f"/api/v1/jobs/{begun['job']}", headers=header).json()["state"] == "running"
    assert client.get(f"/api/v1/jobs/{begun['job']}", headers=header).json()["step"] == ""
    begin = time.monotonic()
    again = client.post(f"{D}/releases", json=asked(), headers=header)  # a second time, while the first is in progress
    assert again.status_code == 200
    assert time.monotonic() - begin >= SLOT
    budget = client.get(f"{D}/budget", headers=header).json()
    assert budget["spent"]["epsilon"] == "0.1"
    assert len(client.get(f"{D}/history", headers=header).json()["history"]) == 1
    assert client.get(f"{D}/budget", headers=served.header("owner")).json()["spent"]["epsilon"] == "0.1"


def test_others_are_not_concerned(client: TestClient, served: Served, begun: dict[str, Any]) -> None:
    assert client.get(f"{D}/budget", headers=served.header("bob")).json()["spent"]["epsilon"] == "0"
    assert client.get(f"{D}/budget", headers=served.header("owner")).json()["spent"]["epsilon"] == "0.1"  # owners see everything


def test_the_steps_of_a_question_are_not_seen_in_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.clinic.write_clinic", partial(write_clinic, policy=UNDECLARED))
    served = make_server(tmp_path, Clock(first=SLOT))
    header, seen, sql = served.header("ann"), set(), "SELECT AVG(cost) AS m FROM visits"
    with TestClient(application(served.server)) as client:
        job = client.post(f"{D}/releases", json=asked(sql, 1), headers=served.header("ann", Prefer="respond-async")).json()["job"]
        while client.get(f"/api/v1/jobs/{job}", headers=header).json()["state"] in ("queued", "running"):
            seen.add(client.get(f"{D}/budget", headers=header).json()["spent"]["epsilon"])
        ended = client.get(f"{D}/budget", headers=header).json()["spent"]["epsilon"]
        assert len([entry for entry in next(iter(served.server.datasets)).ledger.entries() if entry.kind == "spend"]) == 2
    assert seen <= {"0", ended}
    assert ended == "1"


def test_a_repeat_names_no_entry_of_the_ledger(client: TestClient, served: Served) -> None:
    client.post(f"{D}/releases", json=asked(), headers=served.header("ann"))
    for _ in range(2):
        receipt = client.post(f"{D}/releases", json=asked(), headers=served.header("bob")).json()["release"]["receipt"]
        assert [paid["sequence"] for paid in receipt["payments"]] == [None]


def test_what_the_own_budget_does_not_admit_takes_no_seat(client: TestClient, served: Served) -> None:
    begin = time.monotonic()
    answer = client.post(f"{D}/releases", json=asked(COUNT, 50), headers=served.header("ann"))
    assert answer.status_code == 402
    assert time.monotonic() - begin < SLOT
    assert client.get("/api/v1/jobs", headers=served.header("ann")).json()["jobs"] == []


def test_a_run_is_shown_as_it_was_before_its_step(client: TestClient, served: Served) -> None:
    header = served.header("ann")
    watch = {"request": [["watch", [], {"threshold": 1, "rounds": 2}]], "price": {"epsilon": 0.5}}
    run = client.post(f"{D}/runs", json=watch, headers=header).json()
    before = client.post(f"/api/v1/runs/{run['run']}", json={"step": "state"}, headers=header).json()
    after = client.post(
        f"/api/v1/runs/{run['run']}", json={"step": "ask", "arguments": {"question": "SELECT COUNT(*) FROM visits"}}, headers=header
    )
    assert after.status_code == 200
    assert after.json()["spent"] != before["spent"]
    opened = served.server.runs.get(run["run"], served.server.accounts.get("ann"))  # type: ignore[arg-type]
    opened.steps["all"] += 1  # as while a step is taken
    opened.seen["spent"] = "as before"
    assert client.post(f"/api/v1/runs/{run['run']}", json={"step": "state"}, headers=header).json()["spent"] == "as before"
    opened.steps["all"] -= 1


def test_an_account_holds_at_most_half_of_the_seats(tmp_path: Path) -> None:
    few = make_server(tmp_path, Clock(first=1.0), seats=2)
    with TestClient(application(few.server)) as client:
        begin = time.monotonic()
        for number in range(3):
            sql = f"SELECT COUNT(*) AS n FROM visits WHERE cost > {number}"
            client.post(f"{D}/releases", json=asked(sql), headers=few.header("ann", Prefer="respond-async"))
        assert client.post(f"{D}/releases", json=asked(), headers=few.header("bob")).status_code == 200
        assert time.monotonic() - begin < 3.0  # bob did not wait for ann's three


# ── found by a second attacker ───────────────────────────────────────────────────────────────────────────────────────


def test_a_profile_is_used_when_its_slot_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.clinic.write_clinic", partial(write_clinic, policy=UNDECLARED))
    served = make_server(tmp_path, Clock(first=SLOT))
    header, data = served.header("ann"), next(iter(served.server.datasets))
    mean = asked("SELECT AVG(cost) AS m FROM visits", 0.5)
    with TestClient(application(served.server)) as client:

        def title() -> str:
            return str(client.post(f"{D}/plans", json=mean, headers=header).json()["title"])

        before = title()
        profile = {"request": [["profile", ["visits"], {}]], "price": {"epsilon": 1}}
        job = client.post(f"{D}/releases", json=profile, headers=served.header("ann", Prefer="respond-async")).json()["job"]
        end = time.monotonic() + SLOT
        while not any(entry.kind == "release" for entry in data.ledger.entries()) and time.monotonic() < end:
            time.sleep(0.01)
        seen = title()
        still = client.get(f"/api/v1/jobs/{job}", headers=header).json()["state"]
        while client.get(f"/api/v1/jobs/{job}", headers=header).json()["state"] in ("queued", "running"):
            time.sleep(0.05)
        assert still == "running"
        assert seen == before
        assert title() != before


def test_plans_follow_the_budget_as_it_is_shown(client: TestClient, served: Served, begun: dict[str, Any]) -> None:
    ann, data = served.server.accounts.get("ann"), next(iter(served.server.datasets))
    assert ann is not None
    assert data.ledger.allowance("ann").spent.epsilon
    assert not data.session(ann).spent.epsilon


def test_what_runs_is_what_is_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that states no δ has the one with which it was planned, also if the budget has changed when its turn comes."""
    monkeypatch.setattr("server.clinic.write_clinic", partial(write_clinic, policy=POLICY.partition("[tables.visits.columns.dept]")[0]))
    served, sql = make_server(tmp_path), COUNT
    ann, data = served.server.accounts.get("ann"), next(iter(served.server.datasets))
    assert ann is not None
    asking = served.server.asking
    said = fixed(data.session(ann), Asked.read(asked(sql)))
    planned = asking.plan(data, ann, said).priced.question
    data.ledger.grant("ann", 3, "1e-8")  # the default one is another now
    assert asking.plan(data, ann, Asked.read(asked(sql))).priced.question != planned
    assert asking.plan(data, ann, said).priced.question == planned


def test_reloading_shows_nothing_before_its_slot_ends(client: TestClient, served: Served, begun: dict[str, Any]) -> None:
    assert client.post(f"{D}/reload", headers=served.header("owner")).status_code == 200
    assert client.get(f"{D}/budget", headers=served.header("ann")).json()["spent"]["epsilon"] == "0"
    again = client.post(f"{D}/releases", json=asked(), headers=served.header("ann", Prefer="respond-async"))
    assert again.status_code == 202


def test_a_made_up_receipt_does_not_tell_that_a_run_has_ended(client: TestClient, served: Served) -> None:
    header, ann, data = served.header("ann"), served.server.accounts.get("ann"), next(iter(served.server.datasets))
    assert ann is not None
    other = client.post(f"{D}/releases", json=asked(epsilon=0.2), headers=header).json()["release"]
    hidden = served.server.asking.plan(data, ann, Asked.read(asked())).priced.question
    receipt = other["receipt"] | {"payments": [other["receipt"]["payments"][0] | {"question": hidden}]}
    receipt["hash"] = digest({name: one for name, one in receipt.items() if name != "hash"})
    forged = json.dumps(other | {"receipt": receipt})

    def told() -> list[Any]:
        verified = client.post(f"{D}/verifications", json={"release": forged}, headers=header)
        bias = client.post(f"{D}/releases", json=asked(epsilon=0.01) | {"verb": "bias", "of": forged}, headers=header)
        refined = client.post(f"{D}/releases", json=asked() | {"verb": "refine", "refine": [{"epsilon": 0.01}]}, headers=header)
        return [one.json()["message"] for one in (verified, bias, refined)]

    before = told()
    client.post(f"{D}/releases", json=asked(), headers=served.header("ann", Prefer="respond-async"))
    end = time.monotonic() + SLOT
    while data.ledger.find(hidden) is None and time.monotonic() < end:
        time.sleep(0.01)
    begin = time.monotonic()
    assert told() == before
    assert time.monotonic() - begin < SLOT  # at once, without a job


def test_a_claim_is_given_back_if_nothing_begins() -> None:
    class Other:
        is_alone, claimed = False, False

        def claim(self, *_: str) -> bool:
            self.claimed = True
            return True

        def release(self, *_: str) -> None:
            self.claimed = False

    def fail() -> Before:
        raise Refused("there is no budget any more")

    other = Other()
    hidden = InProgress("clinic", other)  # type: ignore[arg-type]
    with pytest.raises(Refused):
        hidden._begin("ann", [""], fail)
    assert not other.claimed
