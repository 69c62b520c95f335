"""Answers: their pages, downloads, refinements, sharing; those of others are not here."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from server.clinic import COUNT, Served, make_server
from server.pages.people import Person, enter

from discreet.plots.table import Series
from discreet.server.app import application
from discreet.server.asking import Slot
from discreet.server.clock import Clock
from discreet.server.pages.shown import table_of
from discreet.server.store.jobs import OPEN
from discreet.session.saved import release_of_text


def number(page: Any) -> str:
    return str(page.url).rpartition("/")[2]


def test_an_answer_has_its_table_its_plot_its_receipt_and_files(ann: Person) -> None:
    page = ann.ask(COUNT, "0.5")
    for said in ("<td>eyes</td>", "± 24", "n by dept", "each person", "JSON with receipt"):
        assert said in page.text
    csv = ann.get(f"/jobs/{number(page)}/answer.csv")
    assert csv.text.splitlines()[0] == "dept,n,n_low,n_high"
    assert csv.headers["content-disposition"] == f'attachment; filename="clinic-{number(page)[:8]}.csv"'
    saved = release_of_text(ann.get(f"/jobs/{number(page)}/answer.json").text)
    assert [row["dept"] for row in saved.rows] == ["eyes", "heart", "skin"]
    assert ann.get(f"/jobs/{number(page)}/answer.exe").status_code == 404


def test_the_answers_of_others_look_like_none(ann: Person, bob: Person, owner: Person) -> None:
    mine = number(ann.ask(COUNT, "0.1"))
    for path in ("/jobs/{}", "/jobs/{}/answer.csv", "/jobs/{}/answer.json"):
        theirs, none = bob.get(path.format(mine)), bob.get(path.format("0" * 20))
        assert theirs.status_code == none.status_code == 404
        assert theirs.text == none.text
        assert owner.get(path.format(mine)).status_code == 404
    for verb in ("refine", "share", "cancel", "receive", "bias"):
        assert bob.send(f"/jobs/{mine}/{verb}", epsilon="0.1", account="bob").status_code == 404
    assert mine not in bob.get("/d/clinic/history").text


def test_a_refinement_combines_both(ann: Person) -> None:
    first = number(ann.ask(COUNT, "0.2"))
    page = ann.answered(str(ann.send(f"/jobs/{first}/refine", epsilon="0.2").url))
    assert 'Answer <span class="tag">more spent on it</span>' in page.text
    assert "± 60" not in page.text
    assert "must be a number" in ann.send(f"/jobs/{first}/refine", epsilon="x").text
    bias = ann.answered(str(ann.send(f"/jobs/{first}/bias", epsilon="0.1").url))
    assert 'Answer <span class="tag">how many are cut off</span>' in bias.text


def test_the_bias_of_a_question_with_parameters(served: Served, ann: Person) -> None:
    calls = [["sql", ["SELECT COUNT(*) AS n FROM visits WHERE dept = $1"], {"parameters": ["eyes"], "dialect": "postgres"}]]
    asked = ann.browser.post(
        "/api/v1/datasets/clinic/releases", json={"request": calls, "price": {"epsilon": 0.1}}, headers=served.header("ann")
    )
    page = ann.answered(str(ann.send(f"/jobs/{asked.headers['Discreet-Job']}/bias", epsilon="0.1").url))
    assert 'Answer <span class="tag">how many are cut off</span>' in page.text


def test_a_shared_answer_is_charged_on_looking(ann: Person, bob: Person) -> None:
    page = ann.ask(COUNT, "0.3")
    assert "no such account" in ann.send(f"/jobs/{number(page)}/share", account="eve").text
    assert "shared with bob" in ann.send(f"/jobs/{number(page)}/share", account="bob").text
    offered = bob.get(f"/jobs/{number(page)}")
    assert "Pay and look" in offered.text
    assert "<td>eyes</td>" not in offered.text
    assert bob.get(f"/jobs/{number(page)}/answer.csv").status_code == 404
    seen = bob.answered(str(bob.send(f"/jobs/{number(page)}/receive").url))
    assert "<td>eyes</td>" in seen.text
    assert "2.7" in bob.get("/d/clinic").text  # what is left of 3
    values = [json.loads(one.get(f"/jobs/{number(at)}/answer.json").text)["answers"] for one, at in ((ann, page), (bob, seen))]
    assert values[0] == values[1]


@pytest.mark.parametrize("refined", [False, True])
def test_what_was_asked_and_shared_here_is_received_here_and_by_programs(ann: Person, bob: Person, served: Served, refined: bool) -> None:
    page = ann.ask(COUNT, "0.5")
    if refined:
        page = ann.answered(str(ann.send(f"/jobs/{number(page)}/refine", epsilon="0.25").url))
    ann.send(f"/jobs/{number(page)}/share", account="bob")
    seen = bob.answered(str(bob.send(f"/jobs/{number(page)}/receive").url))
    said = bob.browser.get(f"/api/v1/jobs/{number(page)}/answer", headers=served.header("bob"))
    assert said.status_code == 200, said.text
    mine = json.loads(ann.get(f"/jobs/{number(page)}/answer.json").text)["answers"]
    assert mine == said.json()["release"]["answers"] == json.loads(bob.get(f"/jobs/{number(seen)}/answer.json").text)["answers"]
    budget = bob.browser.get("/api/v1/datasets/clinic/budget", headers=served.header("bob")).json()
    assert budget["spent"]["epsilon"] == ("0.75" if refined else "0.5")


def test_progress_is_a_part_that_says_when_there_is_a_new_page(ann: Person) -> None:
    page = ann.ask(COUNT, "0.1")
    part = ann.get(f"/jobs/{number(page)}", headers={"Discreet-Part": "1"})
    assert part.status_code == 286
    assert "<progress" in part.text
    assert "/jobs/" in ann.get("/d/clinic/history").text


def test_nothing_tells_an_analyst_what_others_asked(ann: Person, bob: Person, served: Served) -> None:
    ann.ask("SELECT COUNT(*) AS secret FROM visits", "0.1")
    for path in ("/", "/d/clinic", "/d/clinic/ask", "/d/clinic/history", "/d/clinic/synthetic", "/d/clinic/talk", "/tokens"):
        assert "secret FROM" not in bob.get(path).text
    for path in ("/api/v1/jobs", "/api/v1/datasets/clinic/history", "/api/v1/datasets/clinic"):
        assert "secret" not in bob.browser.get(path, headers=served.header("bob")).text
    assert "secret" in bob.browser.get("/api/v1/datasets/clinic/history", headers=served.header("ann")).text


def test_who_looks_again_and_again_learns_nothing_before_the_slot_ends(tmp_path: Path) -> None:
    served = make_server(tmp_path, Clock(first=2.0, longest=60.0))
    with TestClient(application(served.server)) as client:
        ann = enter(client, served, "ann")
        begin, page = time.monotonic(), ann.send("/d/clinic/ask", sql=COUNT, epsilon="0.1")
        seen = []
        while (at := time.monotonic() - begin) < 1.8:
            seen.append((at, served.server.jobs.get(number(page)).state, "On its way" in ann.get(str(page.url)).text))
            time.sleep(0.1)
        assert all(state in OPEN and waiting for at, state, waiting in seen if at < 1.8)
        assert "<td>eyes</td>" in ann.answered(str(page.url)).text


def test_what_it_cost_is_told_beside_what_is_left(ann: Person) -> None:
    page = ann.ask(COUNT, "0.5").text
    assert '<p><b class="one">ε = 0.5</b></p>' in page
    assert "<b>ε = 0.5</b> of 3 spent, <b>2.5 left</b>" in page


def test_an_answer_that_was_paid_for_elsewhere_costs_nothing_again(owner: Person, served: Served) -> None:
    account = served.server.accounts.get("owner")
    assert account is not None
    next(iter(served.server.datasets)).session(account).sql(COUNT).release(epsilon=0.5)  # not through the server
    page = owner.ask(COUNT, "0.5").text
    assert "<b>Nothing</b>: you had this answer already. It cost" in page
    assert '<span class="soft">free</span>' in owner.get("/d/clinic/history").text


def test_where_the_whole_budget_is_used_up_an_analyst_is_told_to_ask_the_owner(ann: Person, owner: Person) -> None:
    owner.ask(COUNT, "9")
    page = ann.ask(COUNT, "2").text
    assert "Not answered" in page
    assert "Your own budget would admit this." in page
    assert "of 3 spent, <b>3 left</b>" in page  # what others spent is not told
    assert "Your own budget would admit this." not in ann.send("/d/clinic/ask", sql=COUNT, epsilon="4").text


def test_a_key_that_is_missing_is_not_the_text_of_its_name() -> None:
    table = table_of([Series("dept", [None, "NULL"], is_key=True)], 2, 10, "")
    assert [(row[0].missing, row[0].value) for row in table.rows] == [(True, "–"), (False, "NULL")]


def test_the_last_rows_of_a_long_table_are_shown(ann: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.server.pages.shown._MOST_ROWS", 2)
    page = ann.ask("SELECT dept, COUNT(*) AS n FROM visits GROUP BY ROLLUP(dept)", "1").text
    assert "not shown … the downloads have all rows" in page
    assert "Total" in page


def test_progress_tells_the_slot_and_nothing_of_the_run(tmp_path: Path) -> None:
    served = make_server(tmp_path, clock=Clock(first=30.0, longest=120.0))
    job, _ = served.server.jobs.add("ann", "clinic", "x", {}, None)
    asking = served.server.asking
    assert asking.slot_of(job, 1000.0) is None  # it has not begun
    asking._begun[job.id] = 1000.0, 0
    told = [asking.slot_of(job, 1000.0 + after) for after in (0.0, 29.0, 31.0, 61.0, 500.0)]
    assert told == [Slot(1, 1000, 1030), Slot(1, 1000, 1030), Slot(2, 1030, 1060), Slot(3, 1060, 1120), Slot(6, 1480, 1960)]
    served.server.queue.close()
    served.server.datasets.close()
    served.server.database.close()
