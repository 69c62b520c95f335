"""Answers that accounts have received, as they are sent again: a question that is repeated is neither planned nor looked up again."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, TypeAlias, final

from attrs import frozen

from discreet.server.datasets import DataSet
from discreet.server.store.accounts import Account
from discreet.server.store.secret import digest
from discreet.tables.catalog import Catalog

_MOST = 16_000_000  # characters of all answers together
_Key: TypeAlias = tuple[str, str, str]


@final
@frozen(eq=False)
class _Answer:
    catalog: Catalog  # under which it was asked: with another one, the same text may be another question
    question: str
    release: str


@final
class Received:
    """A memory of the newest answers. It holds nothing that its account could not ask for again, free of charge."""

    def __init__(self, most: int = _MOST) -> None:
        self._most, self._size, self._lock = most, 0, threading.Lock()
        self._answers: OrderedDict[_Key, _Answer] = OrderedDict()

    def get(self, data: DataSet, account: Account, body: Mapping[str, Any]) -> str | None:
        """The release that this account received for this body; None if it is not remembered, or must not be seen yet."""
        key = _key(data, account, body)
        with self._lock:
            found = self._answers.get(key)
            if found is None:
                return None
            self._answers.move_to_end(key)
        current = found.catalog is data.session(account).catalog
        return found.release if current and not data.hides(account, found.question) else None

    def keep(
        self, data: DataSet, account: Account, body: Mapping[str, Any], question: str, release: str, catalog: Catalog | None = None
    ) -> None:
        """Remember an answer that an account has received, under the current catalog or another one; the oldest are forgotten."""
        key, answer = _key(data, account, body), _Answer(catalog or data.session(account).catalog, question, release)
        with self._lock:
            before = self._answers.pop(key, None)
            self._size += len(release) - (0 if before is None else len(before.release))
            self._answers[key] = answer
            while self._size > self._most:
                self._size -= len(self._answers.popitem(last=False)[1].release)

    def forget(self) -> None:
        """Forget all: a grant was changed, and with it what a question costs that does not state its δ."""
        with self._lock:
            self._answers.clear()
            self._size = 0


def _key(data: DataSet, account: Account, body: Mapping[str, Any]) -> _Key:
    return data.name, account.payer, digest(json.dumps(body))  # in its order, which is that of the columns of some answers
