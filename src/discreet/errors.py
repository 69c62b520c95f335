"""The errors a person may meet; each message says what to do and none contains data.

Error
├── Invalid           an argument is not what it must be
│   └── PolicyError   the policy (who is protected, budget, bounds, tables) is not what it must be, or not what it was
├── Refused           a question that cannot be answered privately as it stands, with one that could
├── BudgetExceeded    the privacy budget does not admit this
├── LedgerError       the ledger cannot be used or cannot be trusted
├── EngineError       the engine failed; what it said is not repeated, for it may contain data
└── RandomnessFailed  the operating system gave no randomness; nothing was released
"""


class Error(Exception):
    """Any error that discreet raises on purpose."""


class Invalid(Error, ValueError):
    """An argument is not what it must be; the message names it and says what would do."""


class PolicyError(Invalid):
    """The policy is not what it must be, or differs from the one the ledger was opened with."""


class Refused(Error):
    """A question that cannot be answered privately as it stands; the message names the piece, the reason and what would work."""


class BudgetExceeded(Error):
    """The privacy budget does not admit this spend; nothing was charged and nothing was read."""


class LedgerError(Error):
    """The ledger cannot be used or cannot be trusted; nothing was released."""


class EngineError(Error):
    """The engine failed; the debit stands. What it said may contain data, so it is not repeated."""


class RandomnessFailed(Error, OSError):
    """The operating system's randomness failed or came up short; nothing was released."""
