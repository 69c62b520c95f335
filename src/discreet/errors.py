"""The errors a person may meet; each message says what to do and none contains data.

Error
├── Invalid           an argument is not what it must be
├── BudgetExceeded    the privacy budget does not admit this
└── RandomnessFailed  the operating system gave no randomness; nothing was released
"""


class Error(Exception):
    """Any error that discreet raises on purpose."""


class Invalid(Error, ValueError):
    """An argument is not what it must be; the message names it and says what would do."""


class BudgetExceeded(Error):
    """The privacy budget does not admit this spend; nothing was charged and nothing was read."""


class RandomnessFailed(Error, OSError):
    """The operating system's randomness failed or came up short; nothing was released."""
