"""The interface of mechanisms."""

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
    """A randomised algorithm as a frozen value: its fields are public, its input may be private.

    Private values leave only through `release`. A `Private` answer never causes an error that depends on its contents: each mechanism
    documents how it reads values that are not numbers. A plain answer belongs to the caller, so an invalid one is reported instead.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def loss(self) -> Loss:
        """The privacy loss of one release for one unit."""

    @abstractmethod
    def error(self, confidence: Number = 0.95, size: int = 1) -> float:
        """A bound on the error of the release at this confidence; each mechanism defines its error."""

    @abstractmethod
    def sample(self, answer: Any, bits: Bits) -> Out:
        """The release as a function of the answer and the random bits. It is total; proofs and tests are about this function."""

    def sealed(self) -> Self:
        """The mechanism for private answers, which decides nothing by their type."""
        return self

    def check(self, answer: Any) -> None:
        """Raise Invalid for a plain answer that is not valid."""

    def loss_at(self, group: int) -> Loss:
        """The privacy loss of one release for a group of this many units."""
        return self.loss.group(whole(group, "the group's size"))

    @final
    def release(self, answer: Any, bits: SystemBits | None = None) -> Out:
        """Release a randomised answer, with fresh random bits from the operating system."""
        if bits is not None and type(bits) is not SystemBits:
            raise Invalid("a release takes its randomness from the operating system only: leave bits out")
        if isinstance(answer, Private):
            with np.errstate(all="ignore"):  # a warning or an error about an overflow would reveal something about the answer
                return self.sealed().sample(reveal(answer), bits or SystemBits())
        self.check(answer)
        return self.sample(answer, bits or SystemBits())

    @final
    def then(self, function: Callable[[Out], New]) -> Processed[New]:
        """Post-process the release, at no privacy cost.

        Theorem (post-processing).
            If M satisfies any of the guarantees here, so does f ∘ M, as long as f does not look at the data again.
        """
        return Processed(self, function)


@final
@frozen
class Processed(Mechanism[New]):
    """A mechanism followed by a function of its output.

    Theorem (post-processing; Dwork, McSherry, Nissim & Smith 2006).
        The loss of f ∘ M is at most that of M.

    Accuracy.
        It depends on f. `error` is that of M, before f.
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
