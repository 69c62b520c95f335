"""One's own tokens."""

from __future__ import annotations

import re

from server.clinic import Served
from server.pages.people import Person


def test_a_token_is_shown_once_works_and_is_revoked(ann: Person, served: Served) -> None:
    page = ann.send("/tokens", label="my <laptop>", scope="read", days="3", dataset="clinic").text
    text = re.search(r"disc_\w+", page)
    assert text is not None
    assert "my &lt;laptop&gt;" in page
    header = {"Authorization": f"Bearer {text.group()}"}
    assert ann.browser.get("/api/v1/me", headers=header).json()["scope"] == "read"
    assert text.group() not in ann.get("/tokens").text
    mine = next(one for one in served.server.tokens.of("ann") if one.label == "my <laptop>")
    assert mine.datasets == ("clinic",)
    assert ann.send(f"/tokens/{mine.id}/revoke").status_code == 200
    assert ann.browser.get("/api/v1/me", headers=header).status_code == 401


def test_wrong_tokens_are_refused_and_others_cannot_be_revoked(ann: Person, bob: Person, served: Served) -> None:
    for fields in ({"scope": "everything"}, {"days": "0"}, {"days": "many"}, {"label": ""}):
        assert ann.send("/tokens", **({"label": "x", "scope": "ask", "days": "1"} | fields)).status_code == 400
    theirs = served.server.tokens.of("bob")[0]
    assert ann.send(f"/tokens/{theirs.id}/revoke").status_code == 400
    assert served.server.tokens.of("bob")[0].live


def test_a_new_token_is_narrow_unless_somebody_widens_it(ann: Person) -> None:
    page = ann.get("/tokens").text
    assert 'name="days" value="30"' in page
    assert '<input type="checkbox" name="dataset" value="clinic" checked>' in page
    assert '<select id="scope" name="scope"><option value="ask">' in page
