"""What owners do to a data set: grant parts of its budget, take them back, and read its policy again; the audit log records all."""

from __future__ import annotations

from typing import Any

from discreet.errors import Invalid
from discreet.ledger.standing import Allowance
from discreet.server.datasets import DataSet
from discreet.server.server import Server
from discreet.server.store import audit
from discreet.server.store.accounts import Account


def grant_budget(server: Server, data: DataSet, name: str, epsilon: Any, delta: Any, every: str | None, by: Account) -> Allowance:
    """Limit what an analyst may learn from a data set, in all or in each week or month."""
    account = server.accounts.get(name)
    if account is None or account.role != "analyst":
        raise Invalid("there is no analyst of this name: add the account first")
    before = data.ledger.analysts().get(account.name)
    data.ledger.grant(account.name, epsilon, delta, every)
    server.asking.received.forget()
    with server.database.writing() as run:
        renews = "" if every is None else f" each {every}"
        instead = "" if before is None else f", instead of {before.limit}"
        audit.add(run, by.name, "budget granted", f"{account.name} on {data.name}: epsilon {epsilon}, delta {delta}{renews}{instead}")
    return data.ledger.allowance(account.name)


def revoke_budget(server: Server, data: DataSet, name: str, by: Account) -> None:
    """Take back what an analyst may still learn from a data set; what was spent stays spent."""
    data.ledger.revoke(name)
    server.asking.received.forget()
    with server.database.writing() as run:
        audit.add(run, by.name, "budget taken back", f"{name} on {data.name}")


def reload_policy(server: Server, name: str, by: Account) -> None:
    """Read a policy again, after its file was edited; the old one goes on if the new one has problems."""
    server.datasets.reload(name)
    with server.database.writing() as run:
        audit.add(run, by.name, "policy read again", name)
