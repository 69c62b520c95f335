"""The console in a browser: by keyboard, while ε moves, without scripts, in the dark, on a phone, and as axe-core sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from server.clinic import COUNT, listening, make_server
from server.pages.browser import chromium, violations
from server.pages.people import PASSWORD, choose_password


@frozen(eq=False)
class Console:
    """A server that listens, a browser, and what its pages complained about."""

    address: str
    browser: Any
    complaints: list[str]

    def enter(self, name: str, **context: Any) -> Any:
        """A page on which somebody has logged in, in a window of her own."""
        page = self.browser.new_context(**context).new_page()
        page.on("console", lambda said: self.complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(f"{self.address}/login")
        page.fill("#name", name)
        page.fill("#password", PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url(f"{self.address}/")
        return page


@pytest.fixture(scope="module")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Console]:
    with chromium() as browser:
        served = make_server(tmp_path_factory.mktemp("console"), logins_a_minute=60)
        for name in ("ann", "bob", "owner", "eve"):
            choose_password(served, name)
        with listening(served.server) as address:
            yield Console(address, browser, [])


def ask(page: Any, address: str, sql: str, epsilon: str) -> str:
    """Ask on the page, by keyboard where that is natural; the address of the answer."""
    page.goto(f"{address}/d/clinic/ask")
    page.fill("#sql", sql)
    page.fill("#epsilon", epsilon)
    page.click("text=Pay and ask")
    page.wait_for_selector("text=What it cost")
    return str(page.url)


def test_the_plan_follows_epsilon_and_the_question(console: Console) -> None:
    page = console.enter("ann")
    page.goto(f"{console.address}/d/clinic/ask")
    page.fill("#sql", COUNT)
    page.fill("#epsilon", "0.1")
    page.wait_for_selector("#plan .big >> text=± 120")
    page.focus("#slide")
    page.keyboard.press("End")
    page.wait_for_selector("#plan .big >> text=± 1.2")
    assert page.input_value("#epsilon") == "10"
    assert page.locator("#plan >> text=more than what is left").count() == 1
    assert page.locator(".editor pre .sql-keyword").first.inner_text() == "SELECT"
    assert page.locator(".editor pre").inner_text().strip() == COUNT
    assert console.complaints == []


def test_names_are_completed_by_keyboard(console: Console) -> None:
    page = console.enter("ann")
    page.goto(f"{console.address}/d/clinic/ask")
    page.fill("#sql", "")
    page.focus("#sql")
    page.keyboard.type("SELECT AVG(co")
    page.wait_for_selector(".hints >> text=cost")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.type(") AS m FROM vi")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.input_value("#sql") == "SELECT AVG(cost) AS m FROM visits"
    page.wait_for_selector("#plan svg text >> text=m: expected error")
    assert console.complaints == []


def test_an_answer_arrives_by_itself_and_is_downloaded(console: Console) -> None:
    page = console.enter("bob")
    address = ask(page, console.address, COUNT, "0.5")
    assert page.locator("td.number").count() == 3
    with page.expect_download() as waiting:
        page.click("text=CSV")
    assert re.fullmatch(r"clinic-\w{8}\.csv", waiting.value.suggested_filename)
    page.goto(f"{console.address}/d/clinic/history")
    page.click("table a")
    assert page.url == address
    assert console.complaints == []


def test_everything_works_without_a_script(console: Console) -> None:
    page = console.enter("ann", java_script_enabled=False)
    page.goto(f"{console.address}/d/clinic/ask")
    page.fill("#sql", COUNT)
    page.fill("#epsilon", "0.2")
    page.click("text=Show the plan")
    assert page.locator("#plan .big").inner_text() == "± 60"
    page.click("text=Pay and ask")
    page.wait_for_selector("text=What it cost", timeout=20_000)
    assert page.locator("svg").count() >= 2


def test_axe_finds_nothing_and_nothing_is_wider_than_a_phone(console: Console) -> None:
    phone = {"viewport": {"width": 390, "height": 800}}
    ann = console.enter("ann", color_scheme="dark", **phone)
    answer = ask(ann, console.address, COUNT, "0.3").removeprefix(console.address)
    asking = [
        "/",
        "/d/clinic",
        "/d/clinic/ask",
        "/d/clinic/question",
        "/d/clinic/synthetic",
        "/d/clinic/talk",
        "/d/clinic/history",
        "/tokens",
    ]
    owning = ["/owner/accounts", "/owner/ledger/clinic", "/owner/audit", "/owner/policy/clinic", "/nothing"]
    visits = [(ann, [*asking, answer]), (console.enter("owner", color_scheme="light"), ["/d/clinic/ask", *owning])]
    wrong = {}
    for page, paths in visits:
        for path in paths:
            page.goto(console.address + path)
            page.wait_for_load_state("networkidle")
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            found = violations(page)
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            if found or wide > 0:
                wrong[path] = [*found, f"{wide} pixels too wide"]
    stranger = console.browser.new_page()
    stranger.goto(f"{console.address}/login")
    assert violations(stranger) == []
    assert wrong == {}


@pytest.mark.slow
def test_the_first_paint_comes_within_a_tenth_of_a_second(console: Console) -> None:
    page = console.enter("ann")
    times: list[float] = []
    while not times or (min(times) >= 100 and len(times) < 30):  # other tests share this machine: the quickest counts
        page.goto(f"{console.address}/d/clinic")
        page.wait_for_timeout(50)
        found = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
        times.append(1000.0 if found is None else found)
    assert min(times) < 100


def test_screenshots_are_there_for_the_docs() -> None:
    folder = Path(__file__).parents[3] / "docs" / "serving"
    assert {one.name for one in folder.glob("*.png")} >= {"ask.png", "answer.png", "ledger.png", "phone.png", "setup.png"}
