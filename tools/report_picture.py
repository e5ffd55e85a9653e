"""The picture on the page about reports: ``python -m tools.report_picture``. Needs Chromium and playwright."""

import shutil
import tempfile
from pathlib import Path

from graphreach import datasets, training
from graphreach.report import write_report

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "report.png"
WIDTH, HEIGHT = 1280, 1400


def main() -> None:
    """Train the run of the page's first block, write its report, and take its picture."""
    from playwright.sync_api import sync_playwright

    executable = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    data = datasets.load("communities")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        training.run(data, training.Settings(method="reach"), Path(folder, "run"))
        page_file = write_report(Path(folder, "run"), Path(folder, "report.html"), data)
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(page_file.as_uri())
        page.wait_for_selector("html[data-ready=true]")
        page.evaluate("selectPair(DATA.lists[0].pairs[0])")
        page.mouse.move(0, 0)
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
