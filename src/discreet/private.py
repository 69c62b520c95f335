"""Private[T]: a value that can be transformed but not read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, NoReturn, TypeVar, final

from discreet.errors import Error

T = TypeVar("T")
S = TypeVar("S")
K = TypeVar("K")


def _closed(self: object, *_: object, **__: object) -> NoReturn:
    raise Error("this value is private: pass it to a mechanism's release(), or transform it with .map()")


@final
class Private(Generic[T]):
    """Hold a value that only a mechanism can read.

    It prevents accidental disclosure, not a hostile process: printing, comparing, iterating, converting or pickling it fails.

    >>> salaries = Private([1200, 3100, 2050])
    >>> salaries
    Private(…)
    >>> salaries.map(len)
    Private(…)
    >>> salaries.map(sum) > 10
    Traceback (most recent call last):
    discreet.errors.Error: this value is private: pass it to a mechanism's release(), or transform it with .map()
    """

    __slots__ = ("_value",)

    def __init__(self, value: T) -> None:
        self._value = value

    def map(self, function: Callable[[T], S]) -> Private[S]:
        """Apply a function to the value; the result is private too."""
        return Private(function(self._value))

    @staticmethod
    def together(parts: Mapping[K, Private[S]]) -> Private[Mapping[K, S]]:
        """Combine several private values into one."""
        return Private({name: part._value for name, part in parts.items()})

    def __repr__(self) -> str:
        return "Private(…)"

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _closed
    __bool__ = __len__ = __iter__ = __getitem__ = __contains__ = _closed
    __int__ = __float__ = __index__ = __complex__ = __format__ = __array__ = _closed
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _closed
    __floordiv__ = __mod__ = __pow__ = __neg__ = __pos__ = __abs__ = __round__ = _closed
    __reduce_ex__ = _closed
    __hash__ = None  # type: ignore[assignment]


def reveal(value: Private[T] | T) -> T:
    """Read a private value. Only `mechanisms/` may call this; an architecture test checks it."""
    return value._value if isinstance(value, Private) else value
