"""A server that is killed under load: no answer without a debit, no second debit with retries, and jobs that recover."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from server.clinic import make_server

import discreet
from discreet.session.saved import release_of_text

LANES = 4  # connections at once


class Killed:
    """`discreet serve` in a process of its own, which can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        made = make_server(folder)
        self.tokens, self.policy = made.tokens, folder / "clinic" / "discreet.toml"
        made.server.datasets.close()
        made.server.database.close()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._command = [sys.executable, "-m", "discreet", "serve", str(self.policy), "--port", str(self.port)]
        self._command += ["--database", str(folder / "server.db"), "--slot", "0.05", "--rows", "2000"]

    def start(self) -> None:
        self.process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ))
        while True:
            assert self.process.poll() is None, "the server did not start"
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def ask(self, account: str, number: int) -> dict[str, Any] | None:
        """What the server says; None if the connection was lost. The same number is the same question and the same key."""
        body = {"request": [["sql", [f"SELECT COUNT(*) AS n FROM visits WHERE cost > {number}.5"], {}]], "price": {"epsilon": "0.001"}}
        headers = {"Authorization": f"Bearer {self.tokens[account]}", "Idempotency-Key": str(number), "Content-Type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request("POST", "/api/v1/datasets/clinic/releases", json.dumps(body), headers)
            answer = connection.getresponse()
            said: dict[str, Any] = json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            return None
        finally:
            connection.close()
        return None if answer.status == 202 else said | {"status": answer.status}


def killed_under_load(folder: Path, kills: int) -> None:
    server, coins = Killed(folder), random.Random(0)
    outcomes: dict[int, dict[str, Any]] = {}
    numbers, asked = iter(range(10**9)), list[int]()
    for _ in range(kills):
        server.start()
        over = threading.Event()
        lanes = [threading.Thread(target=_lane, args=(server, outcomes, asked, numbers, over)) for _ in range(LANES)]
        for lane in lanes:
            lane.start()
        time.sleep(coins.uniform(0.1, 0.8))
        server.kill()
        over.set()
        for lane in lanes:
            lane.join()
    server.start()
    for number in asked:  # whoever lost the connection asks again, with the same key
        while outcomes.get(number) is None:
            if (said := server.ask("ann", number)) is not None:
                outcomes[number] = said
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(60) in (0, -signal.SIGTERM)
    _checked(server.policy, outcomes)


def _lane(server: Killed, outcomes: dict[int, dict[str, Any]], asked: list[int], numbers: Any, over: threading.Event) -> None:
    while not over.is_set():
        number = next(numbers)
        asked.append(number)
        if (said := server.ask("ann", number)) is not None:
            outcomes[number] = said


def _checked(policy: Path, outcomes: dict[int, dict[str, Any]]) -> None:
    """Every answer was paid for once; what was paid for and not answered was said to be so."""
    with discreet.connect(policy, analyst="owner") as db:
        entries = db.ledger.entries()
        spends = [entry for entry in entries if entry.kind == "spend"]
        assert len({entry.body["question"] for entry in spends}) == len(spends), "a question was charged twice"
        pending = {entry.sequence for entry in db.ledger.pending()}
        answered = 0
        for said in outcomes.values():
            if said["status"] == 200:
                release = release_of_text(json.dumps(said["release"], separators=(",", ":"), ensure_ascii=False))
                db.verify(release)
                answered += 1
            else:
                assert "after this was charged" in said["message"], said
        assert answered + len(pending) == len(spends) == len(outcomes)
        assert db.ledger.verify() is not None


def test_a_server_that_is_killed_twice_charges_each_question_once(tmp_path: Path) -> None:
    killed_under_load(tmp_path, 2)


@pytest.mark.slow
def test_a_server_that_is_killed_two_hundred_times_charges_each_question_once(tmp_path: Path) -> None:
    killed_under_load(tmp_path, 200)
