"""The data sets of a server: each is a policy with its engine and ledger, and a session for each account."""

from __future__ import annotations

import glob
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import Any, final

from discreet.address import is_address, without_credentials
from discreet.errors import Invalid
from discreet.ledger.ledger import Ledger
from discreet.ledger.purchases import own_purchases
from discreet.ledger.standing import OWNER, Allowance
from discreet.server.answer_limits import AnswerLimits
from discreet.server.in_progress import Before, InProgress
from discreet.server.store.accounts import Account
from discreet.server.store.instances import Instance
from discreet.session.project import ledger_of, open_project, read_project, sources_of
from discreet.session.session import Session
from discreet.tables.catalog import Catalog
from discreet.tables.problems import Problems

UNKNOWN = "there is no such data set, or you may not use it"


@final
class DataSet:
    """One policy that is open. Every account asks through a session of its own, on the same engine and ledger."""

    def __init__(
        self,
        name: str,
        path: Path,
        failed: Callable[[str, Exception], object] | None = None,
        instance: Instance | None = None,
        limits: AnswerLimits | None = None,
        before: DataSet | None = None,
    ) -> None:
        """`failed` gets the errors of the engine, which may contain data; `instance` is the server, if there may be several.

        `before` is the same data set under its old policy: what is being answered there stays hidden here.
        """
        self.name, self.path, self.limits = name, path, limits or AnswerLimits()
        self._lock = threading.Lock()
        self._owner = open_project(path, None, OWNER, limits=self.limits.engine)
        if failed is not None:
            self._owner.tell_owner(lambda error: failed(name, error))
        self._sessions: dict[str, Session] = {}
        self._in_progress: InProgress = InProgress(name, instance) if before is None else before._in_progress

    @property
    def ledger(self) -> Ledger:
        """The ledger that all accounts pay from."""
        return self._owner.ledger

    @property
    def catalog(self) -> Catalog:
        """What is declared and profiled."""
        return self._owner.catalog

    def session(self, account: Account) -> Session:
        """The session of an account; each is charged for what it receives, whoever asked first."""
        if account.role == "auditor":
            raise Invalid("an auditor reads the ledger and asks nothing: use an analyst's account")
        if account.payer == OWNER:
            return self._owner
        with self._lock:
            if account.payer not in self._sessions:
                self._sessions[account.payer] = self._owner.for_account(account.payer, partial(self.allowance, account))
            return self._sessions[account.payer]

    def allowance(self, account: Account) -> Allowance:
        """What an account was granted, has spent and may still spend; an analyst's own budget alone, which tells nothing about others."""
        before = self._in_progress.before(account)
        return self._allowance(account) if before is None else before.allowance

    def _allowance(self, account: Account) -> Allowance:
        found = self.ledger.allowance(account.payer)
        return found.own if account.role == "analyst" else found

    def history(self, account: Account) -> list[dict[str, Any]]:
        """What an account paid for and received; an owner sees all payments."""
        before = self._in_progress.before(account)
        return self.session(account).history() if before is None else own_purchases(self.ledger, account.payer, before.entries)

    def in_progress(self, account: Account, questions: Iterable[str]) -> AbstractAsyncContextManager[Callable[[], None]]:
        """While these questions are answered, an account sees its budget, its history and what it knows as they were before.

        That ends with the block, or when the function is called that the block gets.
        """
        return self._in_progress.during(account, questions, lambda: Before(self._allowance(account), self.ledger.length))

    def hides(self, account: Account, question: str) -> bool:
        """Whether an answer must not be shown to an account yet, because its slot has not ended."""
        return self._in_progress.hides(account, question)

    def profiled(self) -> None:
        """Let all sessions use a profile that was just bought."""
        with self._lock:
            self._owner = self._owner.for_account(OWNER)  # reads the newest profiles
            self._sessions.clear()

    def admits(self, account: Account) -> bool:
        """Whether an account may use this data set: analysts need a grant."""
        return account.role != "analyst" or self.ledger.has_grant(account.name)

    def close(self) -> None:
        """Close engine and ledger."""
        self._owner.close()


@final
class DataSets:
    """All data sets of a server, by name."""

    def __init__(
        self,
        policies: Mapping[str, Path],
        failed: Callable[[str, Exception], object] | None = None,
        instance: Instance | None = None,
        limits: AnswerLimits | None = None,
    ) -> None:
        require_apart(policies)
        self._with, self._open = (failed, instance, limits), dict[str, DataSet]()
        self._replaced: list[DataSet] = []
        try:
            for name, path in policies.items():
                self._open[name] = DataSet(name, path, *self._with)
            _require_distinct(self._open.values())
        except BaseException:
            self.close()
            raise

    def get(self, name: str, account: Account) -> DataSet:
        """The data set of this name; Invalid, whether it does not exist or this account may not use it."""
        found = self._open.get(name)
        if found is None or not found.admits(account):
            raise Invalid(UNKNOWN)
        return found

    def of(self, account: Account) -> list[DataSet]:
        """The data sets that an account may use."""
        return [one for one in self._open.values() if one.admits(account)]

    def __iter__(self) -> Any:
        return iter(self._open.values())

    def add(self, name: str, path: Path) -> None:
        """Serve one more policy, at once."""
        require_apart({one.name: one.path for one in self._open.values()} | {name: path})
        self._serve(DataSet(name, path, *self._with))

    def reload(self, name: str) -> None:
        """Read a policy again; logins, tokens and jobs stay. The old one goes on if the new one has problems."""
        before = self._open[name]
        require_apart({one.name: one.path for one in self._open.values()})
        self._serve(DataSet(name, before.path, *self._with, before))
        self._replaced.append(before)  # what runs on it was paid for, and ends there

    def _serve(self, one: DataSet) -> None:
        after = self._open | {one.name: one}  # a new dict: others may be iterating
        try:
            _require_distinct(after.values())
        except Invalid:
            one.close()
            raise
        self._open = after

    def close(self) -> None:
        """Close all."""
        for one in (*self._open.values(), *self._replaced):
            one.close()
        self._open.clear()


def _require_distinct(datasets: Iterable[DataSet]) -> None:
    """Raise Invalid if two data sets with one ledger declare the same: a question to one would find the answer of the other."""
    seen: dict[tuple[str, str], str] = {}
    for one in datasets:
        first = seen.setdefault((one.ledger.entry(0).hash, one.catalog.digest), one.name)
        if first != one.name:
            raise Invalid(f'{first} and {one.name} declare the same in one ledger: give one of them another version, as in version = "2"')


def named(paths: Iterable[str | os.PathLike[str]]) -> dict[str, Path]:
    """Policies by name: that of the file, or of its folder where the file is a discreet.toml."""
    found: dict[str, Path] = {}
    for one in paths:
        place, _ = read_project(one)
        name = place.parent.name if place.name == "discreet.toml" else place.stem
        if not name.isidentifier() or name in found:
            raise Invalid(f"the data set {name!r} needs a name of its own, of letters and digits: rename its file or its folder")
        found[name] = place
    return found


def require_apart(policies: Mapping[str, Path]) -> None:
    """Raise Invalid if two policies read the same private source and pay from different ledgers: their losses would not add up."""
    ledgers: dict[str, tuple[str, str]] = {}
    for name, path in policies.items():
        place, policy = read_project(path)
        ledger, _ = ledger_of(policy, place)
        if ledger == ":memory:":
            raise Invalid(f"the ledger of {name} is in memory, and a restart would forget what was spent: name a file under [ledger]")
        ledger = without_credentials(ledger) if is_address(ledger) else os.path.realpath(ledger)
        public = {table.name for table in policy.tables if table.unit is None}
        for table, source in sources_of(policy, place, Problems()).items():
            for where in () if table in public else places(source):
                first, other = ledgers.setdefault(where, (ledger, name))
                if first != ledger:
                    raise Invalid(
                        f"{other} and {name} read the same table and pay from different ledgers, so nobody would count both: "
                        "give both policies the same ledger"
                    )


def places(source: Any) -> list[str]:
    """Where a table is, as far as it can be told apart: its files, or its database and name."""
    if isinstance(source, tuple):
        address, table = source
        return [f"{without_credentials(address)}#{table}"]
    path = os.fspath(source)
    if "://" in path:
        return [without_credentials(path) if is_address(path) else path]
    matching = glob.glob(path, recursive=True, include_hidden=True) or [path]  # as the engine reads it
    files = [inner for found in matching for inner in ([found, *_below(found)] if os.path.isdir(found) else [found])]
    return [os.path.realpath(one) for one in files]


def _below(folder: str) -> list[str]:
    return [os.path.join(here, name) for here, _, names in os.walk(folder) for name in names]
