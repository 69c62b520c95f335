"""What can be checked for nothing: requests, releases, and intervals of another confidence."""

from __future__ import annotations

from typing import Any

from fastapi.testclient import TestClient
from server.clinic import COUNT, Served, asked

PLACE = "/api/v1/datasets/clinic"


def post(client: TestClient, served: Served, what: str, body: Any, who: str = "ann") -> Any:
    return client.post(f"{PLACE}/{what}", json=body, headers=served.header(who))


def test_a_request_is_read_and_not_planned(client: TestClient, served: Served) -> None:
    said = post(client, served, "requests", {"request": [["sql", [COUNT], {}]]})
    assert said.json() == {"shown": f"Query({COUNT})", "html": said.json()["html"], "priced": False}
    assert post(client, served, "requests", {"request": [["sql", ["SELECT * FROM visits"], {}]]}).status_code == 422
    assert post(client, served, "requests", {"request": [["close", [], {}]]}).status_code == 400
    assert post(client, served, "requests", {"request": [["sql", [COUNT], {}]], "price": {}}).status_code == 422
    assert post(client, served, "requests", {"request": [["sql", [COUNT], {}]]}, "eve").status_code == 403


def test_intervals_of_an_answer_that_one_has(client: TestClient, served: Served) -> None:
    body = asked() | {"confidence": 0.5}
    assert post(client, served, "confidences", body).status_code == 400
    first = post(client, served, "releases", asked()).json()
    said = post(client, served, "confidences", body).json()
    assert said["level"] == "1/2"
    assert said["columns"][1]["values"] == first["release"]["answers"]["columns"][1]["values"]
    spent = client.get(f"{PLACE}/budget", headers=served.header("ann")).json()["spent"]["epsilon"]
    assert spent == "0.1"


def test_releases_are_compared_with_the_ledger(client: TestClient, served: Served) -> None:
    text = post(client, served, "releases", asked()).text
    release = text[text.index('"release":') + len('"release":') : -1]
    assert post(client, served, "verifications", {"release": release}).json() == {"verified": True}
    for wrong in (release.replace('"n"', '"m"', 1), "{}", "", release[:-10]):
        assert post(client, served, "verifications", {"release": wrong}).status_code == 400
