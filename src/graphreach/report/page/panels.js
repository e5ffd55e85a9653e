// What is told in words: the selection, the lists of pairs, the configuration.
const panel = document.getElementById("selection");

function fact(list, name, value) {
  list.append(make("dt", { text: name }), make("dd", {}, value));
}

function nodeButton(node, more = "") {
  return make("button", { type: "button", text: `${ids[node]}${more}`, title: ids[node], onclick: () => pickNode(node) });
}

// What the pane holds: a node, a pair, a community, or what to begin with.
function fillPanel(kind, ...children) {
  panel.replaceChildren(...children.filter((child) => child !== null));
  panel.dataset.selected = kind;
  panel.classList.toggle("empty", kind === "none");
  document.body.classList.toggle("selecting", kind !== "none");
  panel.scrollTop = 0;
}

function showPanel(kind, ...children) {
  const close = make("button", { type: "button", class: "close", text: "×", "aria-label": "Let go of the selection", onclick: () => letGo() });
  fillPanel(kind, close, ...children);
}

// While nothing is selected: what to click, and the explanation of the best pair, of a doubtful node, or of the busiest one.
function showNothing() {
  const hint = make("p", { class: "sticky-hint" }, make("b", { text: "Nothing selected. " }),
    `Click a node in one of the pictures, or a ${guesses ? "node" : "pair"} in the lists, to read about it here.`);
  const pair = guesses ? null : DATA.lists.flatMap((list) => list.pairs)[0];
  const listed = guesses ? DATA.lists.flatMap((list) => list.nodes)[0] : null;
  const show = (action) => make("div", { class: "chips" }, make("button", { type: "button", text: "show in the pictures", onclick: action }));
  if (pair) fillPanel("none", hint, ...aboutPair(pair), show(() => selectPair(pair)));
  else {
    const node = listed ? listed.node : degree.indexOf(degree.reduce((most, each) => Math.max(most, each), 0));
    const home = listed ? DATA.lists.find((list) => list.nodes.includes(listed)).title : "The node with most neighbours";
    fillPanel("none", hint, make("p", { class: "eyebrow", text: home }), ...aboutNode(node), show(() => selectNode(node)));
  }
}

function showNode(node) {
  showPanel("node", ...aboutNode(node));
}

function aboutNode(node) {
  const anchor = anchorOf.get(node);
  const facts = make("dl", { class: "facts" });
  for (const [number, group] of groups.entries()) {
    const all = number === 0 && guesses && guesses.truth ? namesOf(labelsOf(node)) : "";
    fact(facts, group.name, all || schemes.group(number).title(node));
  }
  if (guesses?.part[node]) fact(facts, "example of", guesses.parts[guesses.part[node]]);
  fact(facts, "neighbours", degree[node].toLocaleString("en"));
  if (anchor !== undefined) fact(facts, "anchor", `number ${anchor + 1} of ${anchorNodes.length}`);
  const showsReach = reach.levels && !listedNodes.has(node); // a listed node's position has the same anchors, exactly
  const near = showsReach ? nearestAnchors(node, 6) : [];
  const title = anchor === undefined ? `Node ${ids[node]}` : `Anchor ${ids[node]}`;
  const jumps = plural(DATA.anchors.walk_length, "jump");
  const others = [...neighbours(node)];
  return [
    make("h2", { text: title }),
    guesses ? verdictOn(node) : null,
    facts,
    guesses ? make("h3", { text: "Probability of each class" }) : null,
    guesses ? chanceList(node) : null,
    placeOf(node),
    showsReach ? make("h3", { text: "Most reachable anchors" }) : null,
    showsReach && !near.length ? make("p", { class: "muted", text: `No other anchor is reached in ${jumps}.` }) : null,
    near.length ? make("p", { class: "muted", text: `Share of visits in ${jumps}, to about two digits.` }) : null,
    make("div", { class: "chips" }, ...near.map(([each, level]) => nodeButton(anchorNodes[each], ` · ${Number(shareOf(level).toPrecision(2))}`))),
    others.length ? make("h3", { text: "Neighbours" }) : null,
    make("div", { class: "chips" }, ...others.slice(0, 24).map((other) => nodeButton(other)), others.length > 24 ? make("span", { class: "muted", text: `and ${others.length - 24} more` }) : null),
    guesses ? null : pairsWith(node),
    listedNodes.has(node) ? make("div", { class: "chips" }, toPictures()) : null];
}

const toPictures = () => make("button", { type: "button", class: "narrow", text: "show in the pictures", onclick: () => document.querySelector(".views").scrollIntoView() });

function pairsWith(node) {
  const found = DATA.lists.flatMap((list) => list.pairs.filter((pair) => pair.nodes.includes(node)).map((pair) => [list, pair]));
  if (!found.length) return null;
  return make("div", {}, make("h3", { text: "In the lists" }), make("div", { class: "chips" },
    ...found.map(([list, pair]) => make("button", { type: "button", text: `${list.title}: ${namesOfPair(pair)}`, onclick: () => selectPair(pair) }))));
}

const end = (side) => make("span", { class: `end-${"ab"[side]}`, text: "AB"[side] });

function sumRow(tag, name, value, widest) {
  const bar = make("i", { class: value < 0 ? "minus" : "plus" });
  bar.style.width = `${(50 * Math.abs(value)) / widest}%`;
  return make(tag, { class: "row" },
    make("span", { class: "name", text: name, title: name }),
    make("span", { class: "bar", "aria-hidden": "true" }, bar),
    make("span", { class: "number", text: signed(value) }));
}

function anchorRow(each, widest, open) {
  const lines = [0, 1].map((side) => {
    const path = each.paths[side];
    const way = path && path.nodes.length > 1 ? `${path.nodes.map((node) => ids[node]).join(" › ")} (chance ${brief(path.chance)})` : "";
    const itself = path && path.nodes.length === 1 ? " is this anchor" : "";
    return make("p", { class: "path" }, end(side), itself, ` to it ${brief(each.to[side])}, back ${brief(each.back[side])}`, way ? make("br") : null, way);
  });
  const row = make("details", open ? { open: "" } : {},
    sumRow("summary", `anchor ${ids[each.node]}`, each.adds, widest),
    make("div", { class: "more" }, ...lines, make("button", { type: "button", class: "link", text: "show the anchor", onclick: () => pickNode(each.node) })));
  return make("li", {}, row);
}

function showPair(pair) {
  showPanel("pair", ...aboutPair(pair));
}

function aboutPair(pair) {
  if (byGroups) return aboutLink(pair);
  const rows = [...pair.terms.map(([name, value]) => [name, value]), ...(pair.others.count ? [[`${pair.others.count} other anchors`, pair.others.adds]] : [])];
  const widest = Math.max(1e-9, ...rows.map(([, value]) => Math.abs(value)), ...pair.anchors.map((each) => Math.abs(each.adds)));
  const what = DATA.task === "link" ? "score of a link" : "score of one class";
  const name = (text) => ({ "reachability, first to second": "A reaches B", "reachability, second to first": "B reaches A" })[text] ?? text;
  return [
    ...pairTitle(pair),
    make("p", { class: "verdict" }, shownChance(pair.probability), " ", make("small", { text: `${what}, no probability; logit ${signed(pair.score)}` })),
    make("h3", { text: "The logit is the sum of" }),
    make("ul", { class: "sum" },
      ...rows.map(([text, value]) => make("li", {}, sumRow("div", name(text), value, widest))),
      ...pair.anchors.map((each, number) => anchorRow(each, widest, number === 0))),
    ...pairEnds(pair)];
}

function pairTitle(pair) {
  const [a, b] = pair.nodes;
  const home = DATA.lists.find((list) => list.pairs.includes(pair));
  return [make("p", { class: "eyebrow", text: home.title }), make("h2", {}, end(0), ` ${ids[a]} ${dash} `, end(1), ` ${ids[b]}`), make("p", { class: "words", text: sentence(pair.why) })];
}

function pairEnds(pair) {
  return [make("h3", { text: "Ends" }), make("div", { class: "chips" }, ...pair.nodes.map((node) => nodeButton(node)), toPictures())];
}

function walkList(event) {
  const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const next = way && buttons[buttons.indexOf(event.target) + way];
  if (!next) return;
  next.focus();
  event.preventDefault();
}

function listPairs() {
  document.getElementById("lists-about").textContent = byGroups
    ? "Click a pair to see what each group of features adds to its score, the most travelled paths between both nodes, and the anchors that both are near to."
    : "Click a pair to see which anchors carry its score.";
  for (const list of DATA.lists) {
    if (list.name !== "new") addList(list, list.pairs.map((pair) => make("li", {}, pairButton(list, pair))));
  }
}

function pairButton(list, pair, rank = 0) {
  const names = namesOfPair(pair);
  pair.button = make("button", { type: "button", title: names, "data-list": list.name, onclick: () => selectPair(pair) },
    rank ? make("span", { class: "rank muted", text: rank }) : null,
    make("span", { class: "names" }, make("span", { class: "who", text: names }), rank ? make("small", { class: "muted", text: sentence(pair.why) }) : null),
    make("span", { class: "number", text: shownChance(pair.probability) }));
  return pair.button;
}

function addList(list, items) {
  const empty = items.length ? null : make("p", { class: "muted", text: "None." });
  document.getElementById("pair-lists").append(make("div", {}, make("h3", { text: list.title }), make("p", { class: "muted hint", text: list.about }), make("ol", { class: "pairs", onkeydown: walkList }, ...items), empty));
}

function table(title, rows) {
  const body = rows.map(([name, value]) => make("tr", {}, make("th", { scope: "row", text: name }), make("td", { text: value })));
  return make("div", {}, make("h3", { text: title }), make("table", {}, make("tbody", {}, ...body)));
}

const worded = (value) => (value === null ? "–" : typeof value === "object" ? JSON.stringify(value) : String(value));

function listDetails() {
  const { settings, seconds, peak_memory: memory, versions, parameters, leaks } = DATA.record;
  const total = Object.values(seconds).reduce((sum, each) => sum + each, 0);
  const times = [...Object.entries(seconds), ["total", total]].map(([name, value]) => [name, `${value < 10 ? value.toFixed(2) : value.toFixed(1)} s`]);
  const model = [["peak memory", `${(memory / 1e6).toFixed(0)} MB`], ["parameters", parameters.toLocaleString("en")], ["leaks", leaks.join("; ") || "not looked for"]];
  const all = Object.entries(settings).map(([name, value]) => [name.replaceAll("_", " "), worded(value)]);
  const half = Math.ceil(all.length / 2);
  document.getElementById("details").append(
    table("Settings", all.slice(0, half)), table("More settings", all.slice(half)),
    make("div", { class: "stack" }, table("Seconds", times), table("Memory and model", model), table("Versions", Object.entries(versions))));
}

function headline() {
  const { metrics, graph, task, record } = DATA;
  const nameOf = record.settings.method === "reach" ? "reach" : `${record.settings.method}, preset ${record.settings.preset}`;
  const tasks = { link: "link prediction", pair: "pairwise node classification", node: "node classification" };
  document.getElementById("title").textContent = DATA.title;
  document.getElementById("subtitle").textContent =
    `${sentence(tasks[task]).slice(0, -1)} by ${nameOf}, seed ${record.settings.seed}; ` +
    `${graph.directed ? "directed" : "undirected"}${graph.weighted ? ", weighted" : ""} graph`;
  const measured = (name, key) => {
    const interval = metrics.intervals[key];
    return [name, metrics.test[key]?.toFixed(4) ?? "–", interval ? `95%: ${interval[0].toFixed(3)} to ${interval[1].toFixed(3)}` : ""];
  };
  const several = [measured("test micro F1", "micro_f1"), measured("test macro F1", "macro_f1"), measured("micro F1, counts unknown", "micro_f1_unknown"), measured("macro F1, counts unknown", "macro_f1_unknown")];
  const ofNodes = guesses && guesses.truth ? several : [measured("test accuracy", "accuracy"), measured("test AUC", "auc")];
  const figures = [
    ...(guesses ? ofNodes : [measured("test AUC", "auc"), measured("average precision", "ap")]),
    ["nodes", graph.nodes.toLocaleString("en"), ""],
    ["edges", graph.edges.toLocaleString("en"), ""],
    ["anchors", anchorNodes.length.toLocaleString("en"), ""],
  ];
  document.getElementById("headline").append(...figures.map(([name, value, more]) => make("div", { class: name.includes("unknown") ? "extra" : "" }, make("dt", { text: name }), make("dd", { text: value }, more ? make("small", { text: more }) : null))));
  if (DATA.detail) {
    const about = document.getElementById("drawn");
    about.textContent = DATA.detail.drawn;
    about.hidden = false;
  }
  document.getElementById("notes").append(...DATA.notes.map((text) => make("li", { text })));
}
