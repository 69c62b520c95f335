"""A release of any kind is opened by what it says of itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from session.clinic import clinic

from discreet.errors import Invalid
from discreet.session.profile.profile import Profile
from discreet.session.release import Release
from discreet.session.saved import open_release, release_of_text


def test_the_text_says_its_kind(tmp_path: Path) -> None:
    with clinic() as db:
        count, profile = db.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1), db.profile("visits", epsilon=1)
    for release, kind in ((count, Release), (profile, Profile)):
        release.save(tmp_path / "a.json")
        for found in (release_of_text(release.to_text()), open_release(tmp_path / "a.json")):
            assert type(found) is kind
            assert (found.rows, found.repeated) == (release.rows, False)
        assert release_of_text(release.to_text(), repeated=True).repeated


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"kind": "other"}', '{"kind": ["question"]}', "null"])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(Invalid, match="no release"):
        release_of_text(text)
