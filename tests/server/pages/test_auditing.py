"""The ledger, the audit log, the policy and the profile."""

from __future__ import annotations

from server.clinic import COUNT, Served
from server.pages.people import Person


def test_the_ledger_says_who_spent_what(ann: Person, owner: Person, eve: Person) -> None:
    ann.ask(COUNT, "0.25")
    for person in (owner, eve):
        page = person.get("/owner/ledger/clinic").text
        assert "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept" in page
        assert '<td class="number">0.25</td>' in page
        gauges = person.get("/owner/ledger/clinic", headers={"Discreet-Part": "1"}).text
        assert gauges.startswith("<h2>The whole budget")
    assert ann.get("/owner/ledger/clinic").status_code == 403


def test_the_audit_log_is_verified(owner: Person, served: Served) -> None:
    assert "are there and unchanged" in owner.get("/owner/audit").text
    with served.server.database.writing() as run:
        run("UPDATE audit SET detail = 'nothing' WHERE sequence = 1")
    assert "cannot be trusted" in owner.get("/owner/audit").text


def test_an_auditor_reads_the_policy_and_changes_nothing(eve: Person) -> None:
    page = eve.get("/owner/policy/clinic").text
    assert "Values are clipped to these" in page
    assert "Buy it" not in page
    assert eve.send("/owner/policy/clinic/profile", table="visits", epsilon="1").status_code == 403
    assert eve.get("/owner/accounts").status_code == 403


def test_a_profile_is_planned_bought_and_seen_by_analysts(owner: Person, ann: Person) -> None:
    planned = owner.send("/owner/policy/clinic/profile", table="visits", epsilon="1", do="plan")
    assert "Before you spend" in planned.text
    bought = owner.answered(str(owner.send("/owner/policy/clinic/profile", table="visits", epsilon="1", do="buy").url))
    assert "what later questions use" in bought.text
    assert "Profile of visits" in ann.get("/d/clinic").text
    assert 'role="alert"' in owner.send("/owner/policy/clinic/profile", table="none", epsilon="1", do="plan").text


def test_a_policy_is_read_again_and_the_old_one_goes_on_if_it_has_problems(owner: Person, served: Served) -> None:
    path = served.folder / "clinic" / "discreet.toml"
    good = path.read_text()
    path.write_text(good.replace("bounds = [0, 500]", "bounds = [500, 0]"))
    refused = owner.send("/owner/policy/clinic/reload")
    assert "bounds" in refused.text
    assert 'role="alert"' in refused.text
    assert "0 … 500" in owner.get("/d/clinic").text
    path.write_text("adjacency = 1\n" + good.replace("epsilon = 10", 'epsilon = "much"'))
    several = owner.send("/owner/policy/clinic/reload").text
    assert "\\n" not in several
    assert several.count("<li>budget.epsilon") == 1
    path.write_text(good)
    again = owner.send("/owner/policy/clinic/reload")
    assert again.status_code == 200
    assert 'role="status"><p>The policy was read again, and is in force.' in again.text
