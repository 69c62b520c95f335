"""The errors that discreet raises. Each message says what to do, and none contains data.

Error
├── Invalid           an argument is not valid
│   └── PolicyError   the policy (privacy unit, budget, bounds, tables) is not valid, or differs from the ledger's
├── Refused           a query that cannot be answered privately as written, with one that can
│   ├── WrongType     a column has another type than the query needs
│   └── NotEnoughData what was not declared could not be discovered at this price; only the discovery was charged
├── BudgetExceeded    the remaining privacy budget is too small
├── LedgerError       the ledger cannot be used or fails verification
├── EngineError       the engine failed; its own message is withheld because it may contain data
├── Unreachable       the server of a remote session cannot be reached
└── RandomnessFailed  the operating system returned no randomness; nothing was released
"""

__all__ = [
    "BudgetExceeded",
    "EngineError",
    "Error",
    "Invalid",
    "LedgerError",
    "NotEnoughData",
    "PolicyError",
    "RandomnessFailed",
    "Refused",
    "Unreachable",
    "WrongType",
]


class Error(Exception):
    """Any error that discreet raises on purpose."""


class Invalid(Error, ValueError):
    """An argument is not valid; the message names it and says which values are."""


class PolicyError(Invalid):
    """The policy is not valid, or differs from the one the ledger was opened with."""


class Refused(Error):
    """A query that cannot be answered privately as written; the message names the clause, the reason and a query that works."""


class WrongType(Refused):
    """A column has another type than the query needs; the message says which, and how to declare it."""


class NotEnoughData(Refused):
    """What was not declared could not be discovered at this price; only the discovery was charged, and asking again is free."""


class BudgetExceeded(Error):
    """The remaining privacy budget is too small; nothing was charged and nothing was read."""


class LedgerError(Error):
    """The ledger cannot be used or fails verification; nothing was released."""


class EngineError(Error):
    """The engine failed; the debit stands. The engine's own message is withheld because it may contain data."""


class Unreachable(Error, OSError):
    """The server cannot be reached, or the connection was lost; what it answered before is free to ask again."""


class RandomnessFailed(Error, OSError):
    """The operating system returned no randomness, or too little; nothing was released."""
