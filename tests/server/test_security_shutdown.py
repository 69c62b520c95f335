"""Stopping: what was begun is answered or recovered, whether the server is told to stop or killed."""

from __future__ import annotations

import json
import signal
import sqlite3
import threading
import time
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from server.clinic import asked, write_clinic
from server.processes import Process

from discreet.ledger.ledger import open_ledger
from discreet.server.store.accounts import Accounts
from discreet.server.store.database import open_database
from discreet.server.store.tokens import Tokens


@pytest.fixture
def token(tmp_path: Path) -> str:
    """A clinic with an analyst, ann, before its first start; her token."""
    policy = write_clinic(tmp_path / "clinic")
    database = open_database(policy.with_suffix(".server"))
    accounts = Accounts(database)
    accounts.add("owner", "owner", None)
    accounts.add("ann", "analyst", "owner")
    _, text = Tokens(database, accounts).add("ann", "x", "ask", 1, None, "owner")
    database.close()
    return text


def serve(folder: Path, *words: object) -> Process:
    found = Process(folder, folder / "clinic", "--rows", "2000", *words)
    found.wait_until_it_answers()
    return found


def call(port: int, path: str, token: str, body: Any = None, **headers: str) -> Any:
    sent = None if body is None else json.dumps(body).encode()
    url = f"http://127.0.0.1:{port}/api/v1{path}"
    request = urllib.request.Request(url, sent, {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def grant(folder: Path) -> None:
    with closing(open_ledger(folder / "clinic" / "discreet.ledger")) as ledger:
        ledger.grant("ann", 3, "1e-7")


def states(folder: Path) -> list[str]:
    with closing(sqlite3.connect(folder / "clinic" / "discreet.server")) as database:
        return [row[0] for row in database.execute("SELECT state FROM jobs ORDER BY created")]


def test_told_to_stop_while_a_question_runs(tmp_path: Path, token: str) -> None:
    """The one that runs is answered to whoever waits for it; those that wait for a seat are answered after the next start."""
    with serve(tmp_path, "--seats", "1", "--slot", "1.5") as first:
        grant(tmp_path)
        answers: list[Any] = []
        waits = threading.Thread(target=lambda: answers.append(call(first.port, "/datasets/clinic/releases", token, asked())))
        waits.start()
        while not states(tmp_path):
            time.sleep(0.02)
        later = call(first.port, "/datasets/clinic/releases", token, asked(epsilon=0.2), Prefer="respond-async")
        assert first.stop() == -signal.SIGTERM  # after everything else was done
        waits.join(30)
    assert answers[0]["release"]["answers"]
    assert states(tmp_path) in (["done", "queued"], ["done", "done"])  # a seat may have become free before the connections ended
    with serve(tmp_path) as second:
        while (state := call(second.port, f"/jobs/{later['job']}", token)["state"]) in ("queued", "running"):
            time.sleep(0.05)
        assert state == "done"
        assert call(second.port, f"/jobs/{later['job']}/answer", token)["release"]["answers"]
        assert call(second.port, "/datasets/clinic/budget", token)["spent"]["epsilon"] == "0.3"
        assert second.stop(signal.SIGINT) in (0, 130, -signal.SIGINT)
    events = [json.loads(line)["event"] for line in (tmp_path / "err.txt").read_text().splitlines()]
    assert events.count("started") == events.count("stopped") == 2


def test_killed_while_questions_wait(tmp_path: Path, token: str) -> None:
    with serve(tmp_path, "--seats", "1", "--slot", "30") as first:
        grant(tmp_path)
        jobs = [
            call(first.port, "/datasets/clinic/releases", token, asked(epsilon=epsilon), Prefer="respond-async")["job"]
            for epsilon in (0.1, 0.2)
        ]
        time.sleep(0.5)
        first.stop(signal.SIGKILL)
    assert states(tmp_path)[1] == "queued"
    with serve(tmp_path) as second:
        while set(found := [call(second.port, f"/jobs/{job}", token)["state"] for job in jobs]) & {"queued", "running"}:
            time.sleep(0.05)
        assert set(found) <= {"done", "interrupted"}
        assert found[1] == "done"
        second.stop()
