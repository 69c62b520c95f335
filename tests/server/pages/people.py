"""People who use the console: they log in as a browser does, and send forms with the secrets that pages gave them."""

from __future__ import annotations

import re
import time
from typing import Any

from attrs import frozen
from fastapi.testclient import TestClient
from server.clinic import Served

from discreet.server.access import COOKIE

PASSWORD = "correct horse battery"


@frozen(eq=False)
class Person:
    """Somebody with a browser of her own."""

    browser: TestClient
    name: str

    def get(self, path: str, **more: Any) -> Any:
        return self.browser.get(path, **more)

    def send(self, path: str, **fields: Any) -> Any:
        """Send a form with the secret of this login; redirects are followed."""
        return self.browser.post(path, data={"form": self.secret, **fields})

    @property
    def secret(self) -> str:
        return secret_of(self.browser.get("/").text)

    def answered(self, address: str) -> Any:
        """The page of a job, once it has ended."""
        deadline = time.monotonic() + 30
        while "On its way" in (page := self.browser.get(address)).text:
            assert time.monotonic() < deadline, "it did not end"
            time.sleep(0.05)
        return page

    def ask(self, sql: str, epsilon: str) -> Any:
        """Pay and ask, and wait for the answer's page."""
        return self.answered(str(self.send("/d/clinic/ask", sql=sql, epsilon=epsilon).url))


def secret_of(page: str) -> str:
    """The secret of a page's first form."""
    found = re.search(r'name="form" value="([^"]+)"', page)
    assert found is not None, "the page has no form"
    return found.group(1)


def choose_password(served: Served, name: str, password: str = PASSWORD) -> None:
    """Give an account a password, as its link does."""
    served.server.accounts.choose_password(served.server.accounts.link(name, None), password)


def enter(client: TestClient, served: Served, name: str) -> Person:
    """A browser of one's own that is logged in; passwords are tried by test_entering, for each takes a while."""
    account = served.server.accounts.get(name)
    assert account is not None, "there is no such account"
    browser = TestClient(client.app, raise_server_exceptions=False)
    browser.portal = client.portal  # the same event loop, in which jobs run on
    browser.cookies.set(COOKIE, served.server.logins.begin(account)[0])
    return Person(browser, name)
