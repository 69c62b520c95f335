"""The whole chain is replayed: keys pay once, spends have one release, and prices are compared."""

from __future__ import annotations

from fractions import Fraction

import pytest
from ledger.shelves import Shelf

from discreet.errors import LedgerError
from discreet.ledger.chain import seal
from discreet.ledger.ledger import open_ledger
from discreet.ledger.replay import Replay
from discreet.ledger.terms import Terms
from discreet.loss.charge import Charge
from discreet.loss.leaves import Pure

ONE = Terms(1, 0, "id")


def test_a_spend_that_an_older_version_priced_otherwise_is_counted_and_stands(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = open_ledger(shelf.at("a"), ONE)
    with monkeypatch.context() as older:
        older.setattr(Charge, "of", lambda *_, **__: Charge((Fraction(1, 2), Fraction(0)), None, None, Fraction(0)))
        ledger.spend(Pure(0.1), question="q")
    again = open_ledger(shelf.at("a"), ONE)
    assert (again.verify().repriced, again.spent.epsilon) == (1, Fraction(1, 2))


def test_a_replay_knows_keys_and_first_releases() -> None:
    ledger = open_ledger(":memory:", ONE)
    spends = [ledger.spend(Pure(0.1), question="q", key=f"k{number}") for number in range(2)]
    releases = [ledger.store(spend, {"n": number}) for number, spend in enumerate(spends)]
    replay = Replay()
    replay.follow(ledger.entries())
    assert replay.keys == {"k0": spends[0].sequence, "k1": spends[1].sequence}
    assert releases[0] is not None
    assert replay.released == {"q": releases[0].sequence}
    assert replay.repriced == 0


def test_two_spends_of_a_key_and_two_releases_of_a_spend_are_refused() -> None:
    ledger = open_ledger(":memory:", ONE)
    spend = ledger.spend(Pure(0.1), question="q", key="k")
    ledger.store(spend, {"n": 1})
    entries = ledger.entries()
    for kind, body in (("spend", spend.body), ("release", entries[2].body)):
        replay = Replay()
        replay.follow(entries)
        with pytest.raises(LedgerError, match="entry 3 is not valid at its place"):
            replay.follow([seal(3, kind, body, entries[2].hash)])  # type: ignore[arg-type]
