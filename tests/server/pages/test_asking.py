"""The plan beside the question, and paying for it."""

from __future__ import annotations

from server.clinic import COUNT, Served
from server.pages.people import Person

PART = {"Discreet-Part": "1"}


def spent(served: Served, name: str) -> float:
    data = next(iter(served.server.datasets))
    return float(data.ledger.allowance(name).spent.epsilon or 0)


def test_the_plan_is_free_and_drawn_as_epsilon_moves(ann: Person, served: Served) -> None:
    small, large = (ann.send("/d/clinic/plan", sql=COUNT, epsilon=epsilon).text for epsilon in ("0.1", "1"))
    assert "± 120" in small
    assert "± 12" in large
    assert "n: expected error" in small
    assert "Who is protected" in small
    assert "this request takes up to 0.1" in small
    assert spent(served, "ann") == 0
    part = ann.browser.post("/d/clinic/plan", data={"form": ann.secret, "sql": COUNT, "epsilon": "0.1"}, headers=PART).text
    assert part.startswith("<h2>Before you spend")


def test_what_is_refused_says_why_on_the_page(ann: Person) -> None:
    for path in ("/d/clinic/plan", "/d/clinic/ask", "/d/clinic/try"):
        page = ann.send(path, sql="SELECT person FROM visits", epsilon="0.1")
        assert 'role="alert"' in page.text
        assert "SELECT person FROM visits</textarea>" in page.text
        assert 'role="alert"' in ann.send(path, sql=COUNT, epsilon="lots").text
    assert "more than what is left" in ann.send("/d/clinic/plan", sql=COUNT, epsilon="5").text


def test_an_epsilon_is_found_for_an_error(ann: Person) -> None:
    page = ann.send("/d/clinic/plan", sql=COUNT, epsilon="0.1", want="error", wanted_error="12", output="n").text
    assert 'name="epsilon" value="0.999"' in page or 'name="epsilon" value="1"' in page or "± 12" in page
    assert "± 12" in page
    assert 'role="alert"' in ann.send("/d/clinic/plan", sql=COUNT, epsilon="0.1", want="error", wanted_error="12", output="m").text


def test_a_question_is_paid_once_and_then_free(ann: Person, served: Served) -> None:
    first = ann.ask(COUNT, "0.2")
    assert first.status_code == 200
    assert "± 60" in first.text
    assert ann.ask(COUNT, "0.2").url == first.url
    assert spent(served, "ann") == 0.2
    assert "asking again is free" in ann.send("/d/clinic/plan", sql=COUNT, epsilon="0.2").text
    assert COUNT in ann.get(f"/d/clinic/ask?job={str(first.url).rpartition('/')[2]}").text


def test_trying_on_made_up_rows_is_free(ann: Person, served: Served) -> None:
    page = ann.send("/d/clinic/try", sql=COUNT, epsilon="0.2").text
    assert "These numbers mean nothing" in page
    assert spent(served, "ann") == 0


def test_more_than_is_left_is_not_answered(ann: Person, served: Served) -> None:
    page = ann.send("/d/clinic/ask", sql=COUNT, epsilon="5")
    assert page.status_code == 400
    assert "does not admit this" in page.text
    assert COUNT in page.text  # it can be changed at once
    assert spent(served, "ann") == 0
    assert served.server.jobs.of("ann") == []


def test_the_same_question_in_other_words_is_the_same_answer(ann: Person, served: Served) -> None:
    first = ann.ask(COUNT, "0.2")
    again = ann.ask(COUNT.lower().replace(" from", "\n  from") + " -- once more", "0.20")
    assert again.url == first.url
    assert len(served.server.jobs.of("ann")) == 1
    assert ann.get("/d/clinic/history").text.count("/jobs/") == 1
    assert spent(served, "ann") == 0.2


def test_another_version_of_the_data_is_asked_anew(ann: Person, served: Served) -> None:
    first = ann.ask(COUNT, "0.2")
    policy = served.folder / "clinic" / "discreet.toml"
    policy.write_text('version = "2"\n' + policy.read_text())
    served.server.datasets.reload("clinic")
    assert ann.ask(COUNT, "0.2").url != first.url
    assert spent(served, "ann") == 0.4
