"""A whole session, and then a search of everything that was written: no secret in the database, nothing typed or private in the log."""

from __future__ import annotations

import io
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import polars
import pytest
from attrs import frozen
from fastapi.testclient import TestClient
from server.clinic import Served, asked, make_server

from discreet.server.access import COOKIE
from discreet.server.app import application
from discreet.server.logs import Log
from discreet.server.store import audit

PASSWORD = "correct horse battery staple"
LITERAL = "a very private illness"
D = "/api/v1/datasets/clinic"


@frozen(eq=False)
class Written:
    """All that a session left behind."""

    served: Served
    secrets: dict[str, str]
    typed: dict[str, str]  # what was typed and is public to nobody
    log: str
    failures: str
    folder: Path

    def files(self) -> Iterator[tuple[str, bytes]]:
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and path.suffix != ".parquet":
                yield path.name, path.read_bytes()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    folder = tmp_path_factory.mktemp("session")
    out, failures = io.StringIO(), folder / "failures"
    served = make_server(folder, log=Log(out, failures))
    server, secrets = served.server, {f"token of {name}": text.split("_")[2] for name, text in served.tokens.items()}
    with TestClient(application(server), raise_server_exceptions=False) as client:
        ann, owner = served.header("ann"), served.header("owner")
        question = f"SELECT COUNT(*) AS n FROM visits WHERE dept = '{LITERAL}'"
        assert client.post(f"{D}/releases", json=asked(question), headers=ann).status_code == 200
        assert client.post(f"{D}/releases", json=asked("SELECT person FROM visits"), headers=ann).status_code == 422
        assert client.post(f"{D}/releases", json=asked(epsilon=1000), headers=ann).status_code == 402
        client.get(f"/api/v1/jobs/{LITERAL}", headers=ann)
        client.get("/api/v1/me", params={"q": LITERAL}, headers=ann)
        client.get(f"/{LITERAL}", headers=ann)
        made = client.post("/api/v1/tokens", json={"label": "notebook"}, headers=ann).json()
        secrets["new token"] = made["token"].split("_")[2]
        client.get("/api/v1/me", headers={"Authorization": f"Bearer disc_{made['id']}_wrongwrongwrong"})
        secrets["wrong token"] = "wrongwrongwrong"
        client.delete(f"/api/v1/tokens/{made['id']}", headers=ann)
        link = client.post("/api/v1/accounts/ann/links", headers=owner).json()["link"].rsplit("/", 1)[1]
        secrets["link"] = link
        account = server.accounts.choose_password(link, PASSWORD)
        secrets["password"] = PASSWORD
        assert server.accounts.with_password("ann", PASSWORD) is not None
        server.logins.failed(PASSWORD)
        secrets["cookie"], secrets["form"] = server.logins.begin(account)
        client.get("/", headers={"Cookie": f"{COOKIE}={secrets['cookie']}"})
        client.post(f"{D}/grants", json={"account": "bob", "epsilon": 4, "delta": "1e-7"}, headers=owner)
        client.delete("/api/v1/accounts/eve", headers=owner)
        break_engine(served, client, ann)
        again = server.owner_link()
        assert again is not None
        secrets["first link"] = again.rsplit("/", 1)[1]
        assert audit.verify(server.database) > 10
    told = out.getvalue()
    typed = {"literal": LITERAL, "question": "SELECT", "column": "cost", "key": "heart", "file": "visits.parquet", "folder": str(folder)}
    return Written(served, secrets, typed, told, failures.read_text(encoding="utf-8"), folder)


def break_engine(served: Served, client: TestClient, header: dict[str, str]) -> None:
    """An engine that fails after paying and says why, with a private value in its message."""
    data: Any = next(iter(served.server.datasets))

    def fail(*_: object) -> Any:
        raise RuntimeError("cannot cast the value 'Maria Huber'")
        yield

    engine = data._owner._engine
    engine.batches, kept = fail, engine.batches
    answer = client.post(f"{D}/releases", json=asked("SELECT AVG(cost) AS m FROM visits"), headers=header)
    engine.batches = kept
    assert answer.status_code == 503
    assert answer.json()["error"] == "EngineError"
    assert "Maria" not in answer.text


def test_no_secret_is_in_any_file(written: Written) -> None:
    for name, content in written.files():
        for secret, text in written.secrets.items():
            assert text.encode() not in content, f"{secret} is in {name}"


def test_the_log_has_neither_secrets_nor_what_was_typed_nor_data(written: Written) -> None:
    for what, text in (written.secrets | written.typed).items():
        assert text not in written.log, what
    assert "Maria" not in written.log


def test_the_log_is_lines_of_known_facts(written: Written) -> None:
    facts = {"at", "event", "method", "route", "status", "account", "ms", "job", "error", "dataset"}
    lines = [json.loads(line) for line in written.log.splitlines()]
    assert len(lines) > 10
    assert {name for line in lines for name in line} <= facts
    assert {line["event"] for line in lines} == {"request", "job failed", "engine failed", "stopped"}
    assert {line.get("account") for line in lines} <= {None, "owner", "ann", "bob", "eve"}
    routes = {line["route"] for line in lines if "route" in line}
    assert "/api/v1/jobs/{number}" in routes
    assert "(none)" in routes


def test_the_audit_log_has_neither_secrets_nor_questions(written: Written) -> None:
    raw = next(content for name, content in written.files() if name == "server.db")
    assert b"logged in" in raw  # it can be searched
    with closing(sqlite3.connect(written.folder / "server.db")) as database:
        said = repr(database.execute("SELECT * FROM audit").fetchall())
    assert not [name for name, text in (written.secrets | written.typed).items() if text in said]
    assert all(event in said for event in ("account added", "token made", "token revoked", "budget granted", "login refused", "logged in"))


def test_rows_are_in_no_file(written: Written) -> None:
    """The private table is read, and nothing of it is kept: no value of a row that was not released is found anywhere."""
    costs = [
        str(cost) for cost in polars.read_parquet(written.folder / "clinic" / "visits.parquet")["cost"].to_list() if len(str(cost)) > 5
    ]
    everything = b"".join(content for _, content in written.files()) + written.log.encode()
    assert sum(f" {cost} ".encode() in everything for cost in costs) == 0


def test_the_owner_can_look_up_why_the_engine_failed(written: Written) -> None:
    assert "cannot cast the value 'Maria Huber'" in written.failures
    assert "engine of clinic" in written.failures
    for name, content in written.files():
        assert name == "failures" or b"Maria" not in content, name
