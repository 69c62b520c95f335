"""Open a saved release of any kind; the file states its kind."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from discreet.errors import Invalid
from discreet.ledger.receipt import Kind
from discreet.session.batch.release import BatchRelease
from discreet.session.estimate.estimate import Estimate
from discreet.session.feeds.days import Days
from discreet.session.graphs.release import GraphRelease
from discreet.session.profile.profile import Profile
from discreet.session.release import Release
from discreet.session.released import MALFORMED, Released
from discreet.session.synthesize.synthetic import Synthetic
from discreet.session.transcript import Transcript

RELEASES: tuple[type[Released], ...] = (Release, BatchRelease, Synthetic, Estimate, Days, GraphRelease, Profile, Transcript)
_BEGINS = re.compile(r'\{"format":\d+,"kind":"([a-z ]+)",')
_BY_KIND: dict[Kind, type[Released]] = {kind: released for released in RELEASES for kind in released.KINDS}


def open_release(path: str | os.PathLike[str]) -> Released:
    """Read what any release's `save` wrote."""
    try:
        released = _kind_of(Path(path).read_text(encoding="utf-8"))
    except (OSError, *MALFORMED):
        raise Invalid(f"{os.fspath(path)} holds no release: give a file that `save` wrote") from None
    return released.open(path)


def release_of_text(text: str, repeated: bool = False) -> Released:
    """Read what any release's `to_text` gave."""
    try:
        released = _kind_of(text)
    except MALFORMED:
        raise Invalid("this is no release: give what `to_text` gave") from None
    return released.from_text(text, repeated)


def _kind_of(text: str) -> type[Released]:
    begins = _BEGINS.match(text)  # as `to_text` writes it, so that a long text is not read twice
    kind: Any = json.loads(text)["kind"] if begins is None else begins[1]
    return _BY_KIND[kind]
