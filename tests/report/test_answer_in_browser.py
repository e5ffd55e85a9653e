"""What the page opens with, what the pane begins with, and the circles of large graphs, in a real browser."""

import json

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

import graphreach as gr
from report_helpers import data_of, pixels

pytestmark = pytest.mark.browser

PAGES = ("quarters", "reached", "classified", "several", "many_labels", "crowded")

CONTRAST = """(selector) => {
  const channels = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const light = (text) => channels(text).map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  return [...document.querySelectorAll(selector)].map((each) => {
    const style = getComputedStyle(each);
    const [one, two] = [light(style.color), light(style.backgroundColor)];
    return (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
  });
}"""

DRAWN = "(async () => { while (views[0].waiting) await new Promise(requestAnimationFrame); })()"
"""Waits until the picture is drawn; the page's own rules forbid texts that are evaluated there."""


def table(page, selector):
    """The cells of a table's body, row by row."""
    rows = page.locator(f"{selector} tbody tr").all()
    return [[cell.strip() for cell in row.locator("th, td").all_text_contents()] for row in rows]


@pytest.mark.parametrize("name", PAGES)
def test_every_page_opens_with_its_answer(open_page, request, name):
    page = open_page(request.getfixturevalue(name).page)
    assert page.locator("main > *").first.get_attribute("id") == "answer"
    text = page.locator("#answer-text").inner_text()
    assert "held-out" in text
    assert page.locator("#answer-title").inner_text()
    values = [float(each) for each in page.locator(".measures .number").all_text_contents()]
    found = data_of(request.getfixturevalue(name).page.read_text())
    assert f"{values[0]:.3f}" in text
    assert len(values) == {"link": 3, "node": 8 if name == "many_labels" else 2}[found["task"]]


@pytest.mark.parametrize("name", ["quarters", "reached"])
def test_new_links_stand_first_with_their_reasons(open_page, request, name):
    run = request.getfixturevalue(name)
    page = open_page(run.page)
    graph = gr.tasks.split(run.data[0], "link").graph
    rows = page.locator("#answer [data-list=new]")
    assert rows.count() == len(page.evaluate("DATA.lists[0].pairs"))
    assert page.locator("#pair-lists [data-list=new]").count() == 0
    linked = graph.to_scipy().toarray() > 0
    ids = graph.ids.tolist()
    for row, pair in zip(rows.all()[:8], page.evaluate("DATA.lists[0].pairs"), strict=False):
        a, b = pair["nodes"]
        reason = row.locator("small").inner_text()
        both = np.flatnonzero(linked[a] & linked[b])
        assert row.locator(".who").text_content() == " \N{EN DASH} ".join([ids[a], ids[b]])
        expected = f"{len(both)} neighbour{'' if len(both) == 1 else 's'} in common" if len(both) else "No neighbour"
        assert reason.startswith(expected)
    page.locator(".more-pairs summary").click()
    rows.last.click()
    assert page.locator("#selection").get_attribute("data-selected") == "pair"
    assert page.locator("#selection .words").first.text_content() == rows.last.locator("small").text_content()


def test_the_matrix_and_the_classes_are_those_of_scikit_learn(open_page, classified):
    page = open_page(classified.page)
    test = gr.tasks.split(classified.data[0], "node").test
    with np.load(classified.run / "scores.npz") as file:
        guess = file["test_0"].argmax(1)
    expected = confusion_matrix(test.label, guess, labels=[0, 1])
    shown = [[int(each or 0) for each in row[1:]] for row in table(page, ".matrix")]
    assert shown == expected.tolist()
    rows = table(page, ".classes")
    assert [row[0] for row in rows] == ["west", "<i>east</i>"]
    measured = np.array(precision_recall_fscore_support(test.label, guess, labels=[0, 1], zero_division=0)).T
    np.testing.assert_allclose(np.array([row[1:] for row in rows], float), measured, atol=5e-4)
    train = gr.tasks.split(classified.data[0], "node").train.label
    majority = np.bincount(train).argmax()
    share = np.mean(test.label == majority)
    assert f"Always saying “{['west', '<i>east</i>'][majority]}”" in page.locator("#answer-text").inner_text()
    assert float(page.locator(".measures .number").nth(1).text_content()) == pytest.approx(share, abs=5e-4)


def test_many_classes_are_told_in_words_and_by_level_of_detail(open_page, crowded):
    page = open_page(crowded.page)
    test = gr.tasks.split(crowded.data[0], "node").test
    guess = crowded.outcome.scores["test"][0].argmax(1)
    words = page.locator(".matrix-block .plain li").all_text_contents()
    wrong = np.stack([test.label, guess])[:, test.label != guess]
    cells, times = np.unique(wrong, axis=1, return_counts=True)
    assert words
    assert f": {times.max()} of " in words[0]
    for how in ("largest", "confused"):
        page.locator(".level select").select_option(how)
        rows = table(page, ".matrix")
        assert len(rows) == 12
        assert rows[-1][0].endswith("others")
        assert sum(int(each.replace(",", "") or 0) for row in rows for each in row[1:]) == len(test)
        named = [row[0] for row in rows]
        most = (
            np.bincount(test.label).argmax()
            if how == "largest"
            else np.bincount(cells.ravel(), np.tile(times, 2)).argmax()
        )
        assert f"class {most}" in named
    assert len(table(page, ".classes")) > 12


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_cells_of_the_matrix_can_be_read(open_page, crowded, scheme):
    page = open_page(crowded.page, color_scheme=scheme)
    found = page.evaluate(CONTRAST, ".matrix tbody td")
    assert len(found) == 144
    assert min(found) > 4.5
    page.emulate_media(color_scheme="light" if scheme == "dark" else "dark")
    page.wait_for_timeout(100)
    assert min(page.evaluate(CONTRAST, ".matrix tbody td")) > 4.5


@pytest.mark.parametrize("size", [(390, 844), (1440, 900)])
@pytest.mark.parametrize("name", PAGES)
def test_the_pane_is_never_empty(open_page, request, name, size):
    phone = {"has_touch": True, "is_mobile": True} if size[0] < 700 else {}
    page = open_page(
        request.getfixturevalue(name).page, viewport=dict(zip(("width", "height"), size, strict=True)), **phone
    )
    panel = page.locator("#selection")
    assert panel.get_attribute("data-selected") == "none"
    assert panel.is_visible()
    text = panel.inner_text()
    assert "Nothing selected" in text
    explained = "The logit is the sum of" if page.evaluate("guesses === null") else "Probability of each class"
    assert explained in text
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    panel.get_by_role("button", name="show in the pictures").last.click()
    assert panel.get_attribute("data-selected") in ("pair", "node")
    page.keyboard.press("Escape")
    assert panel.inner_text() == text


def test_without_listed_examples_the_pane_shows_the_busiest_node(open_page, quarters, tmp_path):
    content = data_of(quarters.page.read_text())
    for each in content["lists"]:
        each["pairs"] = []
    path = tmp_path / "report.html"
    path.write_text(gr.report.write_report.__globals__["fill_page"](content))
    page = open_page(path)
    text = page.locator("#selection").inner_text()
    assert "Nothing selected" in text
    assert page.evaluate(
        "degree[ids.indexOf(document.querySelector('#selection h2').textContent.split(' ').slice(1).join(' '))]"
    ) == max(page.evaluate("[...degree]"))
    assert page.locator("#answer-body").inner_text().count("None.") == 1


@pytest.mark.parametrize("name", ["quarters", "reached"])
def test_calibration_of_links_has_counts_intervals_and_words(open_page, request, name):
    run = request.getfixturevalue(name)
    page = open_page(run.page)
    chart = page.locator(".chart", has=page.get_by_role("heading", name="How far probabilities hold"))
    bins = page.evaluate("DATA.calibration.bins")
    test = gr.tasks.split(run.data[0], "link").test
    assert sum(each[5] for each in bins) == len(test)
    assert sum(each[4] for each in bins) == test.label.sum()
    assert chart.locator("circle").count() == len(bins)
    assert [int(each) for each in chart.locator("text.count").all_text_contents()] == [each[5] for each in bins]
    words = chart.locator(".summary").inner_text()
    error = page.evaluate("DATA.calibration.errors.test.even")
    assert f"off by {error:.2f} on average" in words
    assert ("no probabilities" in words) == (name == "quarters")
    chart.locator("summary").click()
    assert len(chart.locator("tbody tr").all()) == len(bins)
    if name == "reached":
        recorded = json.loads((run.run / "record.json").read_text())["calibration"]
        assert page.evaluate("DATA.calibration.prior") == pytest.approx(recorded["prior"], rel=1e-4)


def test_a_circle_opens_to_its_nodes_by_click_and_by_key(open_page, in_part):
    page = open_page(in_part)
    assert "40 of 60 nodes drawn" in page.locator("#drawn").inner_text()
    circle = page.evaluate("({ ...circles[0] })")
    assert sum(page.evaluate("circles.map((each) => each.nodes)")) == 60
    page.locator("#circles summary").click()
    button = page.locator("#circles button").first
    button.focus()
    page.keyboard.press("Enter")
    panel = page.locator("#selection")
    assert panel.get_attribute("data-selected") == "community"
    assert panel.locator("h2").text_content() == "Community 1"
    facts = dict(zip(*(panel.locator(f".facts {part}").all_text_contents() for part in ("dt", "dd")), strict=True))
    assert (facts["nodes"], facts["of them drawn"]) == (str(circle["nodes"]), str(circle["drawn"]))
    assert page.evaluate("views[0].zoom") > 1
    panel.get_by_role("button", name="show all again").click()
    assert panel.get_attribute("data-selected") == "none"
    assert page.evaluate("views[0].zoom") == 1
    page.locator(".box").first.scroll_into_view_if_needed()
    page.evaluate(DRAWN)
    spot = page.evaluate("(({ x, y }) => ({ x, y }))(views[0].counts.at(-1))")
    before = pixels(page, 0, 1)
    page.locator(".box canvas:last-of-type").first.click(position=spot)
    assert panel.get_attribute("data-selected") == "community"
    page.evaluate(DRAWN)
    assert pixels(page, 0, 1) != before
    panel.locator(".chips button").first.click()
    assert panel.get_attribute("data-selected") == "node"


def test_a_node_that_is_not_drawn_is_said_to_be(open_page, in_part, reached):
    page = open_page(in_part)
    absent = set(map(str, reached.data[0].graph.ids.tolist())) - set(page.evaluate("ids"))
    page.get_by_label("Find node").fill(sorted(absent)[-1])
    page.keyboard.press("Enter")
    assert page.locator("#search-answer").text_content() == "not among the drawn nodes"
