"""Setting up a data set in a browser: by keyboard, without a script, on a phone, in the dark, and as axe-core sees it."""

from __future__ import annotations

from pathlib import Path

import pytest
from server.clinic import listening
from server.pages.browser import chromium, violations
from server.pages.new_clinic import new_clinic
from server.pages.people import PASSWORD, choose_password


@pytest.mark.parametrize("script", [True, False])
def test_from_the_first_login_to_a_data_set_that_is_served(tmp_path: Path, script: bool) -> None:
    with chromium() as browser:
        served = new_clinic(tmp_path)
        choose_password(served, "owner")
        phone = {"viewport": {"width": 390, "height": 800}, "color_scheme": "dark"}
        with listening(served.server) as address:
            page = browser.new_context(java_script_enabled=script, **phone).new_page()
            page.goto(f"{address}/login")
            page.fill("#name", "owner")
            page.fill("#password", PASSWORD)
            page.keyboard.press("Enter")
            page.click("text=Set up clinic")
            page.check("input[value='visits.parquet']")
            page.focus("#typed")
            for title in ("Who is protected", "Budget", "Policy"):  # Enter goes on, never back
                wrong = violations(page) if script else []
                wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") if script else 0
                assert (wrong, wide) == ([], 0)
                page.keyboard.press("Enter")
                page.wait_for_selector(f"[aria-current=step] >> text={title}")
                page.focus("form:not(.me) input[type=text] >> nth=0")
            page.keyboard.press("Enter")  # in the field of the profile: it checks, and saves nothing
            page.wait_for_selector("text=This policy can be served")
            assert not (tmp_path / "clinic" / "discreet.toml").exists()
            page.click("text=Save and serve")
            page.wait_for_selector("text=clinic is served")
            page.click("text=Invite analysts and grant budgets")
            assert page.url == f"{address}/owner/accounts"
