"""The entries of an older ledger as entries of this format, once the old chain is verified: its seals, its state and its witness.

Formats are numbered by what a storage accepts. Format 4 admits the entry "receive", and changes nothing else. So entries of format 3 stay
byte for byte what they are, with the terms that say format 3: their hashes are the same, and with them receipts, witnesses and checkpoints
stay valid. Entries of format 2 are written anew, with prices on the grid, rounded up; budgets and grants are rounded down, and decimals
that people type do not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from discreet import exact
from discreet.errors import BudgetExceeded, LedgerError
from discreet.ledger.chain import BEFORE_ALL, Entry, seal
from discreet.ledger.history import History, Step, untrusted
from discreet.ledger.replay import Replay
from discreet.ledger.storage import Storage
from discreet.ledger.terms import FORMAT
from discreet.ledger.witness import Witness
from discreet.loss.charge import Charge
from discreet.loss.loss import ZERO

OLDER = (2, 3)


def carry(version: int, entries: Sequence[Entry], state: Sequence[Any], storage: Storage, watch: str | None) -> int:
    """Verify an old chain and write it to a storage, inside `writing`; return the number of new entries."""
    _check_state(entries, state)
    _check_witness(entries, watch)
    return _rewritten(entries, storage) if version == 2 else _unchanged(entries, storage)


def keeps_hashes(version: int) -> bool:
    """Whether entries of this format are carried over unchanged, so that their witness stays valid."""
    return version == FORMAT


def _unchanged(entries: Sequence[Entry], storage: Storage) -> int:
    """Write entries of format 3 as they are."""
    Replay().follow(entries)
    history = History()
    for entry in entries:
        _append(storage, history, history.judge(entry))
    return history.length


def _append(storage: Storage, history: History, step: Step) -> None:
    storage.append(step.entry, step.standing.text)
    history.accept(step)


def _check_state(entries: Sequence[Entry], state: Sequence[Any]) -> None:
    """The state must match the last entry: otherwise the chain was truncated."""
    if not entries or len(state) != 1:
        raise untrusted("its entries or its state are missing")
    sequence, head, _ = state[0]
    if (sequence, head) != (entries[-1].sequence, entries[-1].hash):
        raise untrusted("its state does not match its entries")


def _check_witness(entries: Sequence[Entry], watch: str | None) -> None:
    if watch is None:
        if entries[0].body.get("witnessed"):
            raise LedgerError("this ledger has a witness, without which an older copy could be accepted: pass the file of the witness")
        return
    witness = Witness(watch)
    witness.read_new()
    witness.check(len(entries), lambda sequence: entries[sequence].hash)


# ── format 2 ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _rewritten(entries: Sequence[Entry], storage: Storage) -> int:
    """Write entries of format 2 anew."""
    history = History()
    places: dict[int, int] = {}  # old sequence of a spend → new sequence
    questions: dict[int, str] = {}
    for entry, body in _on_the_grid(entries):
        if entry.kind == "release":
            body = {"spend": places[body["spend"]], "question": questions[body["spend"]], "release": body["release"]}
        new = seal(history.length, entry.kind, body, history.head, entry.at)
        try:
            step = history.judge(new)
        except BudgetExceeded:
            raise LedgerError(
                "this ledger has used up its budget, which is not a multiple of the price grid: keep it, and create a new ledger"
            ) from None
        _append(storage, history, step)
        if entry.kind == "spend":
            places[entry.sequence], questions[entry.sequence] = new.sequence, body["question"]
        if history.due:
            _append(storage, history, history.judge(seal(history.length, "checkpoint", history.summary, history.head)))
    return history.length


def _on_the_grid(entries: Iterable[Entry]) -> Iterator[tuple[Entry, dict[str, Any]]]:
    """Old entries with their bodies in the new format."""
    head = BEFORE_ALL
    for place, entry in enumerate(entries):
        if entry.sequence != place or entry.previous != head or not entry.sound:
            raise untrusted(f"entry {place} was changed")
        head = entry.hash
        body = entry.body
        match entry.kind:
            case "terms":
                body = body | {"format": FORMAT}
                body |= {name: exact.short(exact.grid_down(Fraction(body[name]))) for name in ("epsilon", "delta")}
            case "grant":
                body |= {name: exact.short(exact.grid_down(Fraction(body[name]))) for name in ("epsilon", "delta")}
            case "spend":
                body |= {"charge": _on_grid(body["charge"]), "whole": None}
        yield entry, body


def _on_grid(charge: dict[str, Any]) -> dict[str, Any]:
    epsilon, mass = charge["basic"]
    prices = Charge((_up(epsilon), _up(mass) or ZERO), _up(charge["rho"]), _up(charge["mu_squared"]), _up(charge["delta"]) or ZERO)
    return prices.to_json()


def _up(price: str | None) -> Fraction | None:
    return None if price is None else exact.grid_up(Fraction(price))
