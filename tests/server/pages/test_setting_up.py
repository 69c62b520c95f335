"""The owner's first pages: from a folder of files to a data set that is served, through HTTP."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from server.clinic import Served
from server.pages.new_clinic import ODD, new_clinic
from server.pages.people import Person, enter

from discreet.server.app import application
from discreet.server.store import audit

SETUP = "/owner/setup/clinic"
FILE = {"file": "visits.parquet"}
WHO = FILE | {"unit0": "column:patient_id", "rows0": "2"}
BUDGET = WHO | {"epsilon": "2", "delta": "1e-6"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    found = new_clinic(tmp_path)
    yield found
    found.server.queue.close()
    found.server.datasets.close()
    found.server.database.close()


@pytest.fixture
def client(served: Served) -> Iterator[TestClient]:
    with TestClient(application(served.server), raise_server_exceptions=False) as found:
        yield found


def text_of(page: Any) -> str:
    """The policy in the text area."""
    found = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", page.text, re.DOTALL)
    assert found is not None, page.text
    return html.unescape(found.group(1))


def drafted(owner: Person, **more: str) -> str:
    return text_of(owner.send(SETUP, do="policy", **(BUDGET | more)))


def test_from_a_folder_to_a_data_set_that_is_served(owner: Person, client: TestClient, served: Served) -> None:
    assert "Set up clinic" in owner.get("/").text
    first = owner.get(SETUP).text
    assert "visits.parquet" in first
    assert "more/rooms.csv" in first
    who = owner.send(SETUP, do="who", **FILE).text
    assert '<option value="column:patient_id" selected>' in who
    assert "1e-6 is usual" in owner.send(SETUP, do="budget", **WHO).text
    text = drafted(owner)
    assert 'unit = "patient_id"' in text
    assert "contributions = { rows = 2 }" in text
    assert "epsilon = 2\ndelta = 1e-6 " in text
    assert "CHECK: the version of the data" in text
    checked = owner.send(SETUP, do="check", text=text.replace("\n", "\r\n"), **BUDGET)
    assert "This policy can be served. Lines marked CHECK" in checked.text
    assert text_of(checked) == text
    saved = owner.send(SETUP, do="save", text=text.replace("\n", "\r\n"), **BUDGET)
    assert "clinic is served" in saved.text
    assert (served.folder / "clinic" / "discreet.toml").read_text() == text
    owner.send("/owner/grants", account="ann", dataset="clinic", epsilon="1", delta="1e-7", every="")
    answer = enter(client, served, "ann").ask("SELECT COUNT(*) AS n FROM visits", "0.5")
    assert "What it cost" in answer.text
    assert ("owner", "data set set up", "clinic") in [
        (one.account, one.event, one.detail) for one in audit.entries(served.server.database, 9)
    ]
    assert "Set up clinic" not in owner.get("/").text
    again = owner.send(SETUP, do="save", text="", **BUDGET)  # the form of a page that is still open elsewhere
    assert "clinic is served" in again.text
    assert (served.folder / "clinic" / "discreet.toml").read_text() == text


def test_a_profile_is_bought_with_it(owner: Person, served: Served) -> None:
    saved = owner.send(SETUP, do="save", text=drafted(owner), profile="0.5", **BUDGET)
    assert "clinic is served" in saved.text
    [job] = served.server.jobs.of("owner", "clinic")
    assert "what later questions use" in owner.answered(f"/jobs/{job.id}").text
    assert [float(one["epsilon"]) for one in next(iter(served.server.datasets)).session(job_owner(served)).history()] == [0.5]


def job_owner(served: Served) -> Any:
    return served.server.accounts.get("owner")


@pytest.mark.parametrize("profile", ["much", "99"])
def test_a_profile_that_cannot_be_bought_is_told(owner: Person, served: Served, profile: str) -> None:
    told = owner.send(SETUP, do="save", text=drafted(owner), profile=profile, **BUDGET)
    assert told.status_code == 400
    assert 'role="alert"' in told.text
    assert (served.folder / "clinic" / "discreet.toml").exists() is (profile == "99")  # saved, and then too expensive


@pytest.mark.parametrize("name", ["ann", "eve"])
def test_only_owners_reach_it(client: TestClient, served: Served, name: str) -> None:
    person = enter(client, served, name)
    assert person.get(SETUP).status_code == 403
    assert person.send(SETUP, do="save", text="x").status_code == 403
    assert "clinic" not in person.get("/").text
    assert client.get(SETUP, follow_redirects=False).headers["location"].startswith("/login")


def test_names_of_columns_are_text(owner: Person) -> None:
    for page in (
        owner.send(SETUP, do="who", **FILE).text,
        owner.send(SETUP, do="policy", **BUDGET).text,
        owner.send(SETUP, do="check", text=drafted(owner, unit0=f"column:{ODD}"), **BUDGET).text,
        owner.send(SETUP, do="who", file="</select>" + ODD).text,
    ):
        assert "<img src=x" not in page
    assert html.escape(ODD, quote=False).partition(" ")[0] in owner.send(SETUP, do="who", **FILE).text


@pytest.mark.parametrize(
    "path",
    ["../elsewhere.csv", "more/../../elsewhere.csv", "/etc/passwd", "link.csv", "no.csv", "..", "discreet.server", "a\0.csv", "~/x.csv"],
)
def test_no_file_elsewhere_is_read(owner: Person, served: Served, path: str) -> None:
    (served.folder / "clinic" / "link.csv").symlink_to(served.folder / "elsewhere.csv")
    for fields in ({"file": path}, {"typed": path}):
        page = owner.send(SETUP, do="who", **fields)
        assert page.status_code == 400
        assert "there is no such CSV or Parquet file below" in page.text  # the same words, whether it exists or not
        assert "secret" not in page.text.replace("client_secret", "")


def test_problems_are_shown_one_by_one_and_answers_are_kept(owner: Person) -> None:
    text = drafted(owner).replace('version = "1"', "version = 1").replace('type = "real"', 'type = "reel"')
    page = owner.send(SETUP, do="save", text=text, **BUDGET)
    assert page.status_code == 400
    assert "<li>version: must be a non-empty text</li>" in page.text
    assert "<li>tables.visits.columns.cost.type" in page.text
    assert text_of(page) == text
    kept = owner.send(SETUP, do="policy", **(BUDGET | {"epsilon": "much"}))
    assert kept.status_code == 400
    assert 'value="much"' in kept.text
    assert 'name="unit0" value="column:patient_id"' in kept.text
    for do, fields in (
        ("who", {}),
        ("budget", FILE),
        ("budget", FILE | {"unit0": "public"}),
        ("budget", FILE | {"unit0": "column:none"}),
        ("policy", BUDGET | {"rows0": "-1"}),
        ("policy", BUDGET | {"epsilon": "0"}),
        ("policy", BUDGET | {"delta": "2"}),
        ("check", BUDGET | {"text": "not TOML"}),
    ):
        assert 'role="alert"' in owner.send(SETUP, do=do, **fields).text, (do, fields)
    assert owner.send(SETUP, do="dance", **BUDGET).status_code == 404
    assert owner.get("/owner/setup/nowhere").status_code == 404
    assert owner.send("/owner/setup/nowhere", do="save").status_code == 404


def test_numbers_are_typed_as_people_type_them(owner: Person) -> None:
    text = drafted(owner, epsilon="0,5", delta=".00001")
    assert "epsilon = 0.5\ndelta = 0.00001 " in text


def test_a_table_without_a_column_that_looks_like_a_person(owner: Person, served: Served) -> None:
    (served.server.folders["clinic"] / "wages.csv").write_text("nr,wage\n1,2.5\n")
    who = owner.send(SETUP, do="who", file="wages.csv")
    assert who.status_code == 200
    assert '<option value="column:nr">' in who.text  # offered, and not chosen for the owner


def test_two_files_one_of_which_is_public(owner: Person) -> None:
    both = {"file": ["visits.parquet", "more/rooms.csv"], "delimiter": ";", "epsilon": "1", "delta": "0"}
    both |= {"unit0": "each row", "unit1": "public"}
    text = text_of(owner.send(SETUP, do="policy", **both))
    assert 'unit = "each row"' in text
    assert "public = true" in text
    assert 'delimiter = ";"' in text
    assert "can be served" in owner.send(SETUP, do="check", text=text, **both).text
