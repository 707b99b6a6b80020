"""A real browser for the tests of pages: headless Chromium, or a reason why there is none."""

import contextlib
import shutil
import tempfile
from importlib.util import find_spec
from pathlib import Path

FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1400,900"),
)
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")


def why_absent():
    """Return what is missing, "" where nothing is."""
    if BROWSER is None or DRIVER is None:
        return "there is no chromium with a chromedriver: apt install chromium chromium-driver"
    return "" if find_spec("selenium") else "selenium is not installed: pip install selenium"


class Browser:
    """One browser, and the pages that are opened in it."""

    def __init__(self, folder):
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service

        self._folder, self._profile, self._n = Path(folder), tempfile.mkdtemp(prefix="chromium"), 0
        options = Options()
        options.binary_location = BROWSER
        for flag in (*FLAGS, f"--user-data-dir={self._profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(DRIVER))

    def open(self, page, name=None):
        """Open a page of text, and return what its console says."""
        self._n += 1
        path = self._folder / (name or f"page{self._n}.html")
        path.write_text(page, encoding="utf-8")
        self.driver.get(path.as_uri())
        return self.console()

    def console(self):
        """Return what the console has said since it was last asked."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def js(self, code, *arguments):
        """Return what some JavaScript returns."""
        return self.driver.execute_script(code, *arguments)

    def find(self, selector):
        """Return the elements that a selector finds."""
        from selenium.webdriver.common.by import By

        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        """Return the one element that a selector finds."""
        (found,) = self.find(selector)
        return found

    def settle(self):
        """Wait until what was asked for is drawn."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done));"
        )

    def close(self):
        with contextlib.suppress(Exception):
            self.driver.quit()
        shutil.rmtree(self._profile, ignore_errors=True)
