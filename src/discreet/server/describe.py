"""What an account may know about a data set for free: what is declared, profiled and documented, and its own budget."""

from __future__ import annotations

from typing import Any

from discreet.server.datasets import DataSet
from discreet.server.store.accounts import Account
from discreet.session import about


def describe(data: DataSet, account: Account) -> dict[str, Any]:
    """A data set, as this account sees it."""
    return schema(data) | ({} if account.role == "auditor" else {"budget": budget(data, account)})


def schema(data: DataSet) -> dict[str, Any]:
    """What is declared and profiled, and examples."""
    return about.about(data.name, data.catalog) | {"limits": data.limits.to_json()}


def budget(data: DataSet, account: Account) -> dict[str, Any]:
    """What an account was granted, has spent, and may still spend."""
    return about.budget_of(data.allowance(account))
