"""Turns at a ledger file: everybody is served, and a damaged queue stops nobody."""

from __future__ import annotations

import json
import time
from pathlib import Path

from ledger.racing import side_by_side

from discreet.ledger.ledger import open_ledger
from discreet.ledger.terms import Terms
from discreet.loss.leaves import Pure

TERMS = Terms(2, "1e-6", "id")


def test_twenty_four_processes_each_get_their_turn(place: Path) -> None:
    """In two seconds nobody goes empty, and the cap is met exactly."""
    open_ledger(place / "a", Terms(10**6, 0, "id")).close()

    def work(number: int) -> int:
        ledger, until, done = open_ledger(place / "a"), time.monotonic() + 4, 0
        while time.monotonic() < until:
            ledger.spend(Pure(1), question=f"{number} {done}")
            done += 1
        return done

    done = side_by_side(work, 24)
    assert min(done) >= max(done) / 4
    assert open_ledger(place / "a").spent.epsilon == sum(done)
    numbers = (place / "a-turns").read_bytes()
    assert len(numbers) == 16, "the queue does not grow"


def test_a_queue_that_was_scribbled_on_stops_nobody(place: Path) -> None:
    ledger = open_ledger(place / "a", TERMS)
    for rubbish in (b"", b"x", b"\xff" * 16, b"\xff" * 7 + b"\x7f" + b"\x00" * 8, json.dumps({}).encode()):
        (place / "a-turns").write_bytes(rubbish)
        ledger.spend(Pure("1/100"), question=f"{rubbish!r}")
    (place / "a-turns").unlink()
    ledger.spend(Pure("1/100"), question="gone")
    assert ledger.verify().spends == 6
