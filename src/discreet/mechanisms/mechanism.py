"""What every mechanism promises."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, final

import numpy as np
from attrs import frozen

from discreet.errors import Invalid
from discreet.exact import Number, whole
from discreet.loss.loss import Loss
from discreet.noise.bits import Bits, SystemBits
from discreet.private import Private, reveal

Out = TypeVar("Out")
New = TypeVar("New")


class Mechanism(ABC, Generic[Out]):
    """A randomised algorithm as a frozen value: its fields are public, the answer it is given may be private.

    `release` is the only way out. A `Private` answer never causes an error that depends on its contents: what is not a number counts
    as documented by each mechanism. A plain answer is the caller's own, so a slip in it is reported instead.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """What one release costs one protected unit."""

    @abstractmethod
    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        """How far off the release may be, with this confidence; each mechanism says in what sense."""

    @abstractmethod
    def sample(self, answer: Any, bits: Bits) -> Out:
        """The release as a function of the answer and the coins. It is total, and it is what proofs and tests look at."""

    def sealed(self) -> Self:
        """The mechanism as it treats private answers: nothing is decided by their type."""
        return self

    def check(self, answer: Any) -> None:
        """Report a slip in a plain answer."""

    def loss_at(self, group: int) -> Loss:
        """What one release costs a group of so many units together."""
        return self.loss.group(whole(group, "the group's size"))

    @final
    def release(self, answer: Any, bits: SystemBits | None = None) -> Out:
        """Let a randomised answer out, with fresh coins from the operating system."""
        if bits is not None and type(bits) is not SystemBits:
            raise Invalid("a release takes its randomness from the operating system only")
        if isinstance(answer, Private):
            with np.errstate(all="ignore"):  # whatever the process makes of overflows: a warning or an error would tell of the answer
                return self.sealed().sample(reveal(answer), bits or SystemBits())
        self.check(answer)
        return self.sample(answer, bits or SystemBits())

    @final
    def then(self, function: Callable[[Out], New]) -> Processed[New]:
        """Post-process what is released; that costs nothing.

        Theorem (post-processing).
            If M satisfies any of the guarantees here, so does f ∘ M, as long as f does not look at the data again.
        """
        return Processed(self, function)


@final
@frozen
class Processed(Mechanism[New]):
    """A mechanism followed by a function of its output.

    Theorem (post-processing; Dwork, McSherry, Nissim & Smith 2006).
        f ∘ M costs no more than M.

    Accuracy.
        Not known here: it depends on f. `error` is that of M, before f.
    """

    mechanism: Mechanism[Any]
    function: Callable[[Any], New]

    @property
    def loss(self) -> Loss:
        return self.mechanism.loss

    def loss_at(self, group: int) -> Loss:
        return self.mechanism.loss_at(group)

    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        return self.mechanism.error(confidence, size)

    def sealed(self) -> Processed[New]:
        return Processed(self.mechanism.sealed(), self.function)

    def check(self, answer: Any) -> None:
        self.mechanism.check(answer)

    def sample(self, answer: Any, bits: Bits) -> New:
        return self.function(self.mechanism.sample(answer, bits))
