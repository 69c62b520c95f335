"""Between analysts: what is another's looks like what is not there, and what others asked shows nowhere."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from server.clinic import COUNT, Served, asked

RELEASES = "/api/v1/datasets/clinic/releases"
WATCH = {"request": [["watch", [], {"threshold": 100}]], "price": {"epsilon": 0.1}}


def told(answer: Any) -> tuple[int, bytes, set[tuple[str, str]]]:
    """Everything that an answer tells, but for its date."""
    return answer.status_code, answer.content, {(name, text) for name, text in answer.headers.items() if name != "date"}


@pytest.fixture
def job(client: TestClient, served: Served) -> str:
    """An answered question of ann's."""
    answer = client.post(RELEASES, json=asked(), headers=served.header("ann"))
    assert answer.status_code == 200
    return answer.headers["discreet-job"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("GET", "", None), ("GET", "/answer", None), ("DELETE", "", None), ("POST", "/shares", {"account": "bob"})],
)
@pytest.mark.parametrize("other", ["bob", "owner"])
def test_anothers_job_looks_like_none(client: TestClient, served: Served, job: str, method: str, path: str, body: Any, other: str) -> None:
    header = served.header(other)
    theirs = client.request(method, f"/api/v1/jobs/{job}{path}", json=body, headers=header)
    none = client.request(method, f"/api/v1/jobs/{'0' * len(job)}{path}", json=body, headers=header)
    assert theirs.status_code == 400
    assert told(theirs) == told(none)


def test_anothers_run_looks_like_none(client: TestClient, served: Served) -> None:
    run = client.post("/api/v1/datasets/clinic/runs", json=WATCH, headers=served.header("ann")).json()["run"]
    for method, body in (("POST", {"step": "state"}), ("POST", {"step": "ask", "arguments": {}}), ("DELETE", None)):
        theirs, none = (
            client.request(method, f"/api/v1/runs/{number}", json=body, headers=served.header("bob")) for number in (run, "0" * len(run))
        )
        assert theirs.status_code == 400
        assert told(theirs) == told(none)
    assert client.post(f"/api/v1/runs/{run}", json={"step": "state"}, headers=served.header("ann")).status_code == 200


def test_anothers_token_looks_like_none(client: TestClient, served: Served) -> None:
    made, text = served.server.tokens.add("ann", "x", "all", 1, None, "owner")
    theirs, none = (client.delete(f"/api/v1/tokens/{number}", headers=served.header("bob")) for number in (made.id, "0" * len(made.id)))
    assert told(theirs) == told(none)
    assert served.server.tokens.holder(text) is not None
    assert made.id not in client.get("/api/v1/tokens", headers=served.header("bob")).text


def test_lists_are_ones_own(client: TestClient, served: Served, job: str) -> None:
    header = served.header("bob")
    assert client.get("/api/v1/jobs", headers=header).json() == {"jobs": [], "shared": []}
    assert client.get("/api/v1/datasets/clinic/budget", headers=header).json()["spent"]["epsilon"] == "0"
    assert job not in client.get("/api/v1/datasets/clinic", headers=header).text


def test_an_idempotency_key_is_ones_own(client: TestClient, served: Served) -> None:
    first = client.post(RELEASES, json=asked(), headers=served.header("ann", **{"Idempotency-Key": "key"}))
    other = client.post(RELEASES, json=asked(epsilon=0.2), headers=served.header("bob", **{"Idempotency-Key": "key"}))
    assert first.status_code == other.status_code == 200
    assert first.headers["discreet-job"] != other.headers["discreet-job"]
    reused = client.post(RELEASES, json=asked(epsilon=0.3), headers=served.header("ann", **{"Idempotency-Key": "key"}))
    assert reused.status_code == 400


def test_a_shared_answer_is_charged_to_who_looks(client: TestClient, served: Served, job: str) -> None:
    assert client.post(f"/api/v1/jobs/{job}/shares", json={"account": "bob"}, headers=served.header("ann")).status_code == 200
    assert client.delete(f"/api/v1/jobs/{job}", headers=served.header("bob")).status_code == 403
    assert client.post(f"/api/v1/jobs/{job}/shares", json={"account": "owner"}, headers=served.header("bob")).status_code == 400
    seen = client.get(f"/api/v1/jobs/{job}/answer", headers=served.header("bob"))
    assert seen.status_code == 200
    assert client.get("/api/v1/datasets/clinic/budget", headers=served.header("bob")).json()["spent"]["epsilon"] == "0.1"


@pytest.mark.parametrize("account", ["eve", "nobody", "new"])
def test_answers_are_shared_only_with_who_may_use_the_data(client: TestClient, served: Served, job: str, account: str) -> None:
    served.server.accounts.add("new", "analyst", "owner")  # without a grant
    answer = client.post(f"/api/v1/jobs/{job}/shares", json={"account": account}, headers=served.header("ann"))
    assert (answer.status_code, answer.json()["message"]) == (400, "there is no such account that may use this data set")


def test_an_account_without_a_grant_learns_nothing(client: TestClient, served: Served) -> None:
    served.server.accounts.add("new", "analyst", "owner")
    _, token = served.server.tokens.add("new", "x", "all", 1, None, "owner")
    header = {"Authorization": f"Bearer {token}"}
    assert client.get("/api/v1/datasets", headers=header).json() == {"datasets": []}
    for path in ("", "/budget", "/history", "/profile"):
        theirs, none = (client.get(f"/api/v1/datasets/{name}{path}", headers=header) for name in ("clinic", "nowhere"))
        assert theirs.status_code == 400
        assert told(theirs) == told(none)


def test_a_shared_refinement_is_received_and_charged_whole(client: TestClient, served: Served) -> None:
    for owner_of_it, other, question in (("ann", "bob", COUNT), ("owner", "ann", COUNT.replace("n FROM", "visits FROM"))):
        address, header = "/api/v1/datasets/clinic", served.header(owner_of_it)
        spent = float(client.get(f"{address}/budget", headers=served.header(other)).json()["spent"]["epsilon"])
        client.post(f"{address}/releases", json=asked(question, 0.5, delta=0), headers=header)
        refined = asked(question, 0.5, delta=0) | {
            "verb": "refine",
            "refine": [{"epsilon": 0.25, "delta": 0}, {"epsilon": 0.125, "delta": 0}],
        }
        for count in (1, 2):
            step = refined | {"refine": refined["refine"][:count]}
            mine = client.post(f"{address}/releases", json=step, headers=header)
            assert mine.status_code == 200, mine.json()
        number = mine.json()["job"]
        assert client.post(f"/api/v1/jobs/{number}/shares", json={"account": other}, headers=header).status_code == 200
        drawn = [entry.kind for entry in next(iter(served.server.datasets)).ledger.entries()].count("spend")
        for _ in range(2):  # the second time is free
            theirs = client.get(f"/api/v1/jobs/{number}/answer", headers=served.header(other))
            assert theirs.status_code == 200, theirs.json()
            assert theirs.json()["release"]["answers"] == mine.json()["release"]["answers"]
            assert "ledger entry" not in theirs.text
            now = float(client.get(f"{address}/budget", headers=served.header(other)).json()["spent"]["epsilon"])
            assert now - spent == pytest.approx(0.875)
        assert [entry.kind for entry in next(iter(served.server.datasets)).ledger.entries()].count("spend") == drawn  # nothing was drawn


def test_a_shared_refinement_beyond_the_budget_is_not_received_in_part(client: TestClient, served: Served) -> None:
    address, header = "/api/v1/datasets/clinic", served.header("owner")
    client.post(f"{address}/releases", json=asked(COUNT, 2, delta=0), headers=header)
    body = asked(COUNT, 2, delta=0) | {"verb": "refine", "refine": [{"epsilon": 2, "delta": 0}]}
    number = client.post(f"{address}/releases", json=body, headers=header).json()["job"]
    client.post(f"/api/v1/jobs/{number}/shares", json={"account": "ann"}, headers=header)
    assert client.get(f"/api/v1/jobs/{number}/answer", headers=served.header("ann")).status_code == 402
    assert client.get(f"{address}/budget", headers=served.header("ann")).json()["spent"]["epsilon"] == "0"


def test_an_answer_priced_by_its_error_makes_one_job(client: TestClient, served: Served) -> None:
    body = {"request": asked()["request"], "price": {"error": {"n": 30}}}
    address, header = "/api/v1/datasets/clinic/releases", served.header("ann")
    first = client.post(address, json=body, headers=header)
    assert first.status_code == 200
    client.post(f"/api/v1/jobs/{first.json()['job']}/shares", json={"account": "bob"}, headers=header)
    for name in ("ann", "bob"):
        for _ in range(3):
            said = client.get(f"/api/v1/jobs/{first.json()['job']}/answer", headers=served.header(name))
            assert said.json()["release"]["answers"] == first.json()["release"]["answers"]
            assert client.post(address, json=body, headers=served.header(name)).json()["repeated"]
        assert len(client.get("/api/v1/jobs", headers=served.header(name)).json()["jobs"]) == 1
    too_much = body | {"price": {"error": {"n": 0.5}}}
    assert client.post(address, json=too_much, headers=header).status_code == 402
    assert len(client.get("/api/v1/jobs", headers=header).json()["jobs"]) == 1  # refused before it takes a seat
