"""The page in a real browser: clicks, keys, and what it then shows."""

import pytest

from report_helpers import pixels

pytestmark = pytest.mark.browser


def click_node(page, node, view=0):
    """Click on the canvas where a node is drawn."""
    x, y = page.evaluate("([view, node]) => views[view].at(node)", [view, node])
    page.locator(".box canvas:last-of-type").nth(view).click(position={"x": x, "y": y})


def lonely_node(page, anchor):
    """A node that no other is drawn upon."""
    return page.evaluate(
        """(anchor) => {
          const nodes = [...ids.keys()];
          const apart = (one, two) => Math.hypot(...[0, 1].map((i) => views[0].at(one)[i] - views[0].at(two)[i]));
          return nodes.filter((node) => anchorOf.has(node) === anchor)
            .find((node) => nodes.every((other) => other === node || apart(node, other) > 14));
        }""",
        anchor,
    )


def number(text):
    """A number as the page writes it, with a true minus."""
    return float(text.replace("\N{MINUS SIGN}", "-"))


def test_a_click_on_a_node_tells_of_it_and_shows_in_both_pictures(open_page):
    page = open_page()
    node = lonely_node(page, False)
    before = [pixels(page, view, 2) for view in (0, 1)]
    click_node(page, node)
    panel = page.locator("#selection")
    assert panel.locator("h2").text_content() == f"Node {page.evaluate('(node) => ids[node]', node)}"
    text = panel.inner_text()
    for words in ("label", "community", "neighbours", "Most reachable anchors", "Neighbours"):
        assert words in text
    page.mouse.move(0, 0)
    after = [pixels(page, view, 2) for view in (0, 1)]
    assert all(one != other for one, other in zip(before, after, strict=True))
    panel.get_by_label("Let go").click()
    assert panel.get_attribute("data-selected") == "none"


def test_a_click_on_an_anchor_colours_by_reachability_to_it(open_page):
    page = open_page()
    assert page.locator("#anchor-choice").is_hidden()
    colours = pixels(page, 1, 1)
    anchor = lonely_node(page, True)
    click_node(page, anchor)
    name = page.evaluate("(node) => ids[node]", anchor)
    assert page.locator("#selection h2").text_content() == f"Anchor {name}"
    assert page.locator("#colour").input_value() == "reach"
    assert f"Reachability to anchor {name}" in page.locator("#legend").text_content()
    assert pixels(page, 1, 1) != colours
    page.locator("#anchor").select_option(index=1)
    other = page.evaluate("ids[anchorNodes[1]]")
    assert f"Reachability to anchor {other}" in page.locator("#legend").text_content()
    page.locator("#colour").select_option("group-0")
    assert page.locator("#anchor-choice").is_hidden()


def test_a_click_on_a_pair_shows_a_sum_that_adds_up(open_page):
    page = open_page()
    assert page.locator("#lists-about").text_content() == "Click a pair to see which anchors carry its score."
    button = page.locator("[data-list=new]").first
    button.click()
    panel = page.locator("#selection")
    assert button.get_attribute("aria-current") == "true"
    assert panel.locator(".eyebrow").text_content() == "Best new links"
    values = [number(text) for text in panel.locator(".sum .number").all_text_contents()]
    score = number(panel.locator(".verdict small").text_content().rsplit(" ", 1)[1])
    assert sum(values) == pytest.approx(score, abs=0.001 * len(values))
    assert {"A reaches B", "B reaches A"} <= set(panel.locator(".sum .name").all_text_contents())
    assert "to it" in panel.locator("details[open]").first.inner_text()
    page.locator("[data-list=missed]").first.click()
    assert button.get_attribute("aria-current") is None
    panel.get_by_role("button", name="show the anchor").first.click()
    assert panel.locator("h2").text_content().startswith("Anchor ")


def test_a_click_on_a_pair_of_reach_tells_its_groups_paths_and_anchors(open_page, reached):
    page = open_page(reached.page)
    assert "the anchors that both are near to" in page.locator("#lists-about").text_content()
    before = [pixels(page, view, 2) for view in (0, 1)]
    pairs = page.evaluate(
        "DATA.lists.flatMap((list) => list.pairs.map((pair) => pair.paths.length * pair.anchors.length))"
    )
    page.locator(".more-pairs summary").click()
    page.locator("[data-list]").nth(next(place for place, size in enumerate(pairs) if size)).click()
    pair, panel = page.evaluate("state.pair"), page.locator("#selection")
    values = [number(text) for text in panel.locator(".sum .number").all_text_contents()]
    assert sum(values) == pytest.approx(pair["score"], abs=0.001 * len(values))
    names = panel.locator(".sum .name").all_text_contents()
    assert names[0] == "average training pair"
    assert set(names[1:]) == {"direct reachability", "position", "degrees", "return"}
    text, ids = panel.inner_text(), page.evaluate("ids")
    for words in ("times as often as by chance.", "end where they began.", "on average.", "Most travelled paths"):
        assert words in text
    assert "probability of a link where" in panel.locator(".verdict").text_content()
    shown = [row.locator("button").all_text_contents() for row in panel.locator("ol.ways li").all()]
    assert shown == [[ids[node] for node in path["nodes"]] for path in pair["paths"]]
    assert panel.locator("ul.ways button").all_text_contents() == [ids[each["node"]] for each in pair["anchors"]]
    page.mouse.move(0, 0)
    drawn = [pixels(page, view, 2) for view in (0, 1)]
    assert all(one != other for one, other in zip(before, drawn, strict=True))
    page.evaluate("Object.assign(state.pair, { paths: [], anchors: [] }); redraw(false)")
    assert all(one != pixels(page, view, 2) for view, one in enumerate(drawn))
    panel.locator("ul.ways button").first.click()
    assert panel.locator("h2").text_content() == f"Anchor {ids[pair['anchors'][0]['node']]}"


def test_every_listed_pair_of_reach_fills_the_pane(open_page, reached):
    page = open_page(reached.page)
    page.locator(".more-pairs summary").click()
    for button in page.locator("[data-list]").all():
        button.click()
        rows = page.locator("#selection .sum > li")
        assert rows.count() == 5
        assert all(len(text.splitlines()) > 2 for text in rows.all_inner_texts()[1:])


def test_the_pane_of_reach_fits_a_phone(open_page, reached):
    page = open_page(reached.page, viewport={"width": 320, "height": 800}, has_touch=True, is_mobile=True)
    page.locator("[data-list=new]").first.tap()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_keys_are_enough(open_page):
    page = open_page()
    canvas = page.locator(".box canvas:last-of-type").first
    canvas.focus()
    seen = set()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowLeft", "ArrowLeft", "ArrowUp"):
        page.keyboard.press(key)
        seen.add(page.locator("#selection h2").text_content())
    assert len(seen) > 2
    page.keyboard.press("+")
    assert page.evaluate("views[0].zoom") > 1
    page.keyboard.press("0")
    assert page.evaluate("views[0].zoom") == 1
    page.keyboard.press("Escape")
    assert page.locator("#selection").get_attribute("data-selected") == "none"
    page.locator("[data-list=new]").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.locator("[data-list=new]").nth(1).get_attribute("aria-current") == "true"
    page.get_by_label("Find node").fill("street 05")
    page.keyboard.press("Enter")
    assert page.locator("#selection h2").text_content().endswith("street 05")
    page.get_by_label("Find node").fill("nowhere")
    page.keyboard.press("Enter")
    assert page.locator("#search-answer").text_content() == "no such node here"


def test_names_of_nodes_and_classes_are_text(open_page):
    page = open_page()
    assert page.locator("h1").text_content() == "two <b>quarters</b>"
    for position in page.evaluate("[...ids.keys()].filter((node) => ids[node].startsWith('<'))"):
        page.evaluate("(node) => pickNode(node)", position)
        assert page.locator("#selection h2").text_content().endswith(page.evaluate("(node) => ids[node]", position))
    assert page.locator("#selection h2 img").count() == 0
    assert "<i>east</i>" in page.locator("#selection").inner_text()


def test_a_class_can_be_picked_out(open_page):
    page = open_page()
    whole = pixels(page, 0, 1)
    button = page.locator("#legend button").first
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert pixels(page, 0, 1) != whole
    button.click()
    assert pixels(page, 0, 1) == whole


def test_zoom_and_drag(open_page):
    page = open_page()
    page.get_by_role("button", name="Zoom in, graph").click(click_count=2)
    centre = page.evaluate("[...views[0].centre]")
    page.locator(".box").first.scroll_into_view_if_needed()
    box = page.locator(".box").first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 80, y + 40, steps=4)
    page.mouse.up()
    assert page.evaluate("[...views[0].centre]") != centre
    assert page.locator("#selection").get_attribute("data-selected") == "none"
    page.get_by_role("button", name="Show all, graph").click()
    assert page.evaluate("views[0].zoom") == 1


@pytest.mark.parametrize("width", [320, 390, 768])
def test_nothing_is_wider_than_a_phone_and_the_selection_comes_from_below(open_page, width):
    page = open_page(viewport={"width": width, "height": 800}, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("#selection.empty").bounding_box()["width"] <= width
    page.locator("[data-list=believed]").first.tap()
    box = page.locator("#selection").bounding_box()
    assert box["y"] + box["height"] == pytest.approx(800, abs=1)
    assert box["height"] < 400
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_mode_has_readable_colours_and_redraws(open_page):
    page = open_page(color_scheme="dark")
    contrast = """(selector) => {
      const light = (text) => text.match(/\\d+/g).slice(0, 3).map((v) => v / 255)
        .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
        .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
      const one = light(getComputedStyle(document.querySelector(selector)).color);
      const two = light(getComputedStyle(document.querySelector(".card")).backgroundColor);
      return (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    }"""
    for scheme in ("dark", "light"):
        before = pixels(page, 0, 0)
        page.emulate_media(color_scheme=scheme)
        page.wait_for_timeout(100)
        assert scheme == "dark" or pixels(page, 0, 0) != before
        assert page.evaluate(contrast, "h2") > 7
        assert page.evaluate(contrast, ".muted") > 4.5


def test_everything_that_can_be_used_has_a_name(open_page):
    page = open_page()
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("button, select, input, canvas[tabindex], svg[role=img]")].filter(
        (each) => !(each.ariaLabel || each.textContent.trim() || each.labels?.length)).map((each) => each.outerHTML)"""
    )
    assert unnamed == []
    assert page.locator(".chart svg[role=img]").count() == 6


def test_a_click_on_a_listed_node_tells_its_classes_and_its_place(open_page, classified):
    page = open_page(classified.page)
    assert page.locator("#lists-title").text_content() == "Nodes worth a look"
    before = [pixels(page, view, 2) for view in (0, 1)]
    button = page.locator("[data-list=unsure]").first
    button.click()
    node = int(button.get_attribute("data-node"))
    panel = page.locator("#selection")
    assert panel.locator("h2").text_content().endswith(page.evaluate("(node) => ids[node]", node))
    assert button.get_attribute("aria-current") == "true"
    shares = [number(text) for text in panel.locator(".sum .number").all_text_contents()]
    assert sum(shares) == pytest.approx(1, abs=0.002)
    assert shares == sorted(shares, reverse=True)
    names = panel.locator(".sum .name").all_text_contents()
    label, guess = page.evaluate("(node) => [className(labelsOf(node)[0]), className(chancesOf(node)[0][0])]", node)
    assert f"{label} (label)" in names
    verdict = panel.locator(".verdict").text_content()
    assert verdict.startswith(f"{shares[0]:.3f} probability of {guess}: ")
    assert ("wrong, the label is" in verdict) == (label != guess)
    facts = dict(zip(*(panel.locator(f".facts {part}").all_text_contents() for part in ("dt", "dd")), strict=True))
    assert (facts["label"], facts["predicted class"], facts["example of"]) == (label, guess, "test")
    assert "anchors are within reach" in panel.inner_text()
    assert "to it" in panel.locator(".ways li").first.text_content()
    page.mouse.move(0, 0)
    after = [pixels(page, view, 2) for view in (0, 1)]
    assert all(one != other for one, other in zip(before, after, strict=True))
    panel.locator(".ways button").first.click()
    assert panel.locator("h2").text_content().startswith("Anchor ")
    assert button.get_attribute("aria-current") is None
    assert panel.locator("h2 i, .sum i:not(.bar i)").count() == 0


def test_listed_nodes_are_reached_by_keys_and_on_a_phone(open_page, classified):
    page = open_page(classified.page, viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    page.locator("[data-list=unsure]").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    second = page.locator("[data-list=unsure]").nth(1)
    assert second.get_attribute("aria-current") == "true"
    assert page.locator("#selection").bounding_box()["height"] < 400
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.keyboard.press("Escape")
    assert second.get_attribute("aria-current") is None
    assert page.locator("#selection").get_attribute("data-selected") == "none"


def test_predicted_classes_have_the_colours_of_the_labels(open_page, classified):
    page = open_page(classified.page)
    assert page.locator("#colour option").all_text_contents()[:3] == ["label", "predicted class", "community"]
    colours = "state.scheme.names.flatMap((name, at) => name ? [[name.split(' (')[0], state.scheme.colours[at]]] : [])"
    labels = dict(page.evaluate(colours))
    whole = pixels(page, 0, 1)
    page.locator("#colour").select_option("group-1")
    predicted = dict(page.evaluate(colours))
    assert predicted.items() <= labels.items()
    right = page.evaluate("groups[0].of.every((label, node) => label === groups[1].of[node])")
    assert (pixels(page, 0, 1) == whole) == right


def test_figures_of_a_run_on_nodes(open_page, classified):
    page = open_page(classified.page)
    titles = page.locator(".chart h3").all_text_contents()
    assert titles[:3] == ["Test accuracy", "Test ROC AUC", "How sure right and wrong predictions were"]
    assert titles[-2:] == ["Validation AUC", "Validation accuracy"]
    headline = page.locator("#headline").inner_text()
    assert "test accuracy" in headline
    assert headline.count("95%: ") == 2


def test_one_graph_of_several_says_which(open_page, several):
    page = open_page(several.page)
    assert page.locator("h1").text_content() == page.title().removesuffix(" - graphreach") == "some, graph 2 of 3"
    assert "This is graph 2 of 3" in page.locator("#notes").inner_text()
    page.locator("[data-list=missed]").first.click()
    assert page.locator("#selection .eyebrow").text_content() == "Missed links"
    assert "Validation AUC, mean of all graphs" in page.locator(".chart h3").all_text_contents()


def test_a_node_with_several_labels_tells_all_of_them(open_page, many_labels):
    page = open_page(many_labels.page)
    shown = dict(zip(*(page.locator(f"#headline {part}").all_text_contents() for part in ("dt", "dd")), strict=True))
    assert {"test micro F1", "test macro F1", "micro F1, counts unknown", "macro F1, counts unknown"} <= set(shown)
    assert shown["test micro F1"].startswith(f"{many_labels.outcome.test['micro_f1']:.4f}")
    button = page.locator("[data-list=unsure]").first
    button.click()
    panel = page.locator("#selection")
    page.evaluate("selectNode(6)")
    assert page.evaluate("namesOf(labelsOf(6))") == "west, old"
    names = panel.locator(".sum .name").all_text_contents()
    assert sorted(names) == ["east", "old (label)", "west (label)"]
    assert "right, one of 2 labels" in panel.locator(".verdict").text_content()
    facts = dict(zip(*(panel.locator(f".facts {part}").all_text_contents() for part in ("dt", "dd")), strict=True))
    assert facts["label"] == "west, old"
    page.evaluate("selectNode(0)")
    assert "the node has no label" in panel.locator(".verdict").text_content()
