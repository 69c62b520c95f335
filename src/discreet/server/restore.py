"""Restore a backup: only if nothing that was spent, revoked or disabled since would be forgotten, or if the owner says so."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

from discreet.address import is_address
from discreet.errors import Error, Invalid, LedgerError
from discreet.ledger.ledger import open_ledger
from discreet.ledger.witness import Witness
from discreet.server.backup import Chain, Manifest, audit_of, audit_of_copy, copy_file, opened_copy
from discreet.server.store import audit
from discreet.server.store.database import open_database
from discreet.session.project import ledger_of, read_project


def restore(folder: Path, policies: Mapping[str, Path], database: str, older: bool = False) -> list[str]:
    """Put the files of a backup in their places, and keep aside what was there; what was done, in sentences.

    With `older`, also a backup that a witness, the ledger or the audit log in place is ahead of: what was spent or revoked since is then
    forgotten. Stop the server before.
    """
    manifest = Manifest.read(folder)
    if missing := sorted(set(policies) - set(manifest.ledgers)):
        raise Invalid(f"this backup has no data set {missing[0]}: name the policies that were backed up")
    done: list[str] = []
    moves: list[Callable[[], None]] = []
    for name, policy in policies.items():
        moves += _ledger(folder, name, manifest.ledgers[name], policy, older, done)
    if manifest.audit is not None and manifest.audit.file is not None:
        moves += _accounts(folder, manifest.audit, manifest.made, database, older, done)
    for move in moves:  # nothing was changed before everything was checked
        move()
    return done


def _ledger(folder: Path, name: str, chain: Chain, policy: Path, older: bool, done: list[str]) -> list[Callable[[], None]]:
    if chain.file is None:
        done.append(f"{name}: its ledger is in PostgreSQL, which was not touched")
        return []
    place, declared = read_project(policy)
    ledger, witness = ledger_of(declared, place)
    if is_address(ledger) or ledger == ":memory:":
        raise Invalid(f"the ledger of {name} was a file and is none in this policy: correct the policy")
    with opened_copy(folder, chain) as copy:
        report = copy.verify()
        if (report.entries, report.head) != (chain.length, chain.head):
            raise LedgerError(f"the ledger of {name} in this backup is not the one of its manifest: use another backup")
        heads = {entry.sequence: entry.hash for entry in copy.entries()}
    behind = _behind(name, heads, ledger, witness)
    if behind and not older:
        raise LedgerError(f"{behind}. What was spent since would be forgotten: restore a newer backup, or say --older if there is none")
    kept = f"{chain.length:,} entries" + (f"; {behind}, and what was spent since is forgotten" if behind else "")
    done.append(f"{name}: {kept}" + ("" if witness else "; without a witness nobody can tell whether this is the newest copy"))
    moves = [lambda: _replace(folder / str(chain.file), Path(ledger))]
    if witness is not None and chain.witness is not None and (behind or Witness(witness).empty):
        moves.append(lambda: _replace(folder / str(chain.witness), Path(str(witness))))
    return moves


def _behind(name: str, heads: Mapping[int, str], ledger: str, witness: str | None) -> str | None:
    """Who knows of more than this backup; None if nobody does."""
    if witness is not None and not Witness(witness).empty:
        seen = Witness(witness)
        seen.read_new()
        try:
            seen.check(len(heads), lambda sequence: heads.get(sequence, ""))
        except LedgerError:
            return f"{name}: its witness knows of entries that this backup lacks"
    if os.path.exists(ledger):
        try:
            with closing(open_ledger(ledger, witness=witness)) as present:
                if present.length > len(heads):
                    return f"{name}: the ledger in place has {present.length - len(heads):,} entries more than this backup"
        except Error:
            return None  # it is damaged, which is why it is restored
    return None


def _accounts(folder: Path, chain: Chain, made: float, database: str, older: bool, done: list[str]) -> list[Callable[[], None]]:
    if is_address(database):
        raise Invalid("this backup holds a file of accounts, and the server's database is in PostgreSQL: name the file with --database")
    copy = audit_of_copy(folder, str(chain.file))
    if (copy.length, copy.head) != (chain.length, chain.head):
        raise LedgerError("the accounts of this backup are not those of its manifest: use another backup")
    if os.path.exists(database):
        try:
            newer = audit_of(database).length - chain.length
        except Error:
            newer = 0  # it is damaged
        if newer > 0 and not older:
            raise LedgerError(
                f"the audit log in place has {newer:,} events more than this backup: tokens revoked and accounts disabled since would be "
                "good again. Restore a newer backup, or say --older if there is none"
            )

    def move() -> None:
        _replace(folder / str(chain.file), Path(database))
        opened = open_database(database)
        try:
            with opened.writing() as run:
                run("DELETE FROM logins")
                run("DELETE FROM links")
                audit.add(run, None, "restored", time.strftime("from a backup of %Y-%m-%dT%H:%M:%SZ", time.gmtime(made)))
        finally:
            opened.close()

    done.append(f"accounts: {chain.length:,} events of the audit log; everybody logs in again; check which tokens should be revoked")
    return [move]


def _replace(source: Path, target: Path) -> None:
    """Copy a file to its place; what was there is kept beside it."""
    if target.exists():
        beside = target.with_name(f"{target.name}.before-restore-{time.strftime('%Y%m%d%H%M%S', time.gmtime())}")
        while beside.exists():
            beside = beside.with_name(f"{beside.name}x")
        os.rename(target, beside)
    copy_file(source, target)
