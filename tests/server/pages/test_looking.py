"""Data sets, their pages and files; what is data is escaped."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path

import polars
from fastapi.testclient import TestClient
from server.clinic import Served, make_server
from server.pages.people import Person, enter

from discreet.server.app import application
from discreet.server.pages.rendering import FOLDER, STATIC, versioned
from discreet.server.store.accounts import Account

HOSTILE = '"><script>alert(1)</script>'


def test_the_first_page_lists_what_one_may_use(ann: Person, eve: Person, served: Served) -> None:
    assert 'href="/d/clinic/ask"' in ann.get("/").text
    assert "/d/clinic/ask" not in eve.get("/").text
    served.server.accounts.add("zoe", "analyst", "owner")
    zoe = enter(ann.browser, served, "zoe")
    assert "ask the owner" in zoe.get("/").text
    assert zoe.get("/d/clinic").status_code == zoe.get("/d/nothing").status_code == 404
    assert zoe.get("/d/clinic").text == zoe.get("/d/nothing").text


def test_a_data_set_shows_its_schema_its_facts_and_examples(ann: Person) -> None:
    page = ann.get("/d/clinic").text
    for said in ("each person", "0 … 500", "eyes, heart, skin", "at most 4 rows", "SELECT AVG(cost) AS mean FROM visits", "ε = 3"):
        assert said in page


def test_an_auditor_sees_the_schema_and_asks_nothing(eve: Person) -> None:
    assert eve.get("/d/clinic").status_code == 200
    for path in ("/d/clinic/ask", "/d/clinic/history", "/d/clinic/synthetic", "/d/clinic/talk", "/d/clinic/question"):
        assert eve.get(path).status_code == 403


def test_files_are_kept_by_browsers_and_there_are_no_others(client: TestClient) -> None:
    for name in STATIC:
        found = client.get(versioned(name))
        assert found.content == STATIC[name]
        assert "immutable" in found.headers["cache-control"]
    for name in ("../app.py", "..%2Fapp.py", "nothing.css"):
        assert client.get(f"/static/{name}").status_code == 404


def test_pages_have_no_inline_script_or_style(ann: Person, owner: Person) -> None:
    address = "/jobs/" + str(ann.ask("SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept", "0.1").url).rpartition("/")[2]
    pages = [ann.get(path) for path in ("/", "/d/clinic", "/d/clinic/ask", address)]
    for page in [*pages, owner.get("/owner/ledger/clinic"), owner.get("/owner/accounts")]:
        assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:|<script(?! src=\"/static/)", page.text)
    for template in (FOLDER / "templates").iterdir():
        text = template.read_text("utf-8")
        assert "|safe" not in text
        assert "autoescape" not in text


def test_names_and_keys_are_escaped_everywhere(tmp_path: Path) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    policy = f"""
[budget]
epsilon = 10
delta = 1e-6
[tables.visits]
source = "visits.parquet"
unit = "person"
contributions = {{ rows = 4 }}
[tables.visits.columns.'{hostile}']
keys = ['{HOSTILE}', "b"]
"""
    served = make_server(tmp_path)
    folder = tmp_path / "clinic"
    polars.DataFrame(
        {"person": list(range(400)), hostile: [HOSTILE] * 399 + ["b"], "cost": [1.0] * 400, "dept": ["eyes"] * 400}
    ).write_parquet(folder / "visits.parquet")
    (folder / "discreet.toml").write_text(policy)
    served.server.datasets.reload("clinic")
    with TestClient(application(served.server)) as client:
        ann, owner = enter(client, served, "ann"), enter(client, served, "owner")
        answer = ann.ask(f'SELECT "{hostile}", COUNT(*) AS "<i>n</i>" FROM visits GROUP BY 1', "1")
        paths = ("/", "/d/clinic", "/d/clinic/ask", "/d/clinic/question", "/d/clinic/synthetic", "/d/clinic/talk", "/d/clinic/history")
        pages = [answer, *(ann.get(path) for path in paths), owner.get("/owner/ledger/clinic"), owner.get("/owner/policy/clinic")]
        assert "&lt;script&gt;" in answer.text
        for page in pages:
            assert page.status_code == 200
            for tag in ("<script>", "<img src=x", "<i>n"):
                assert tag not in page.text


def test_pages_are_quick(ann: Person) -> None:
    ann.get("/d/clinic")
    begin = time.perf_counter()
    for _ in range(5):
        ann.get("/d/clinic")
    assert (time.perf_counter() - begin) / 5 < 0.1


def test_an_analyst_sees_a_profile_of_her_own_and_others_do_not(ann: Person, bob: Person, served: Served) -> None:
    said = {"request": [["profile", ["visits"], {}]], "price": {"epsilon": "1"}}
    job, _ = served.server.asking.add(next(iter(served.server.datasets)), account_of(served, "ann"), said, None)
    assert "Your own profile" not in ann.get("/d/clinic").text  # before it has left
    asyncio.run(served.server.asking.answer(next(iter(served.server.datasets)), account_of(served, "ann"), job))
    assert "Your own profile of visits" in ann.get("/d/clinic").text
    assert "rofile of visits" not in bob.get("/d/clinic").text


def account_of(served: Served, name: str) -> Account:
    found = served.server.accounts.get(name)
    assert found is not None
    return found
