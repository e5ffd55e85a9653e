// The one state of the page, and how it changes.
const state = { node: -1, pair: null, anchor: -1, colour: "group-0", emphasis: -1, scheme: null };
const known = new Map();
const schemes = {
  group(number) {
    if (!known.has(number)) known.set(number, groupScheme(groups[number]));
    return known.get(number);
  },
};
const colourChoice = document.getElementById("colour");
const anchorChoice = document.getElementById("anchor");
let views = [];

function applyColour() {
  const byReach = state.colour === "reach";
  state.scheme = byReach ? reachScheme(state.anchor) : schemes.group(Number(state.colour.slice(6)));
  state.emphasis = -1;
  colourChoice.value = state.colour;
  document.getElementById("anchor-choice").hidden = !byReach;
  if (byReach) anchorChoice.value = String(state.anchor);
  drawLegend();
}

function drawLegend() {
  const legend = document.getElementById("legend");
  const { names, colours, ramp } = state.scheme;
  if (ramp) {
    const mark = make("span", { class: "swatch" });
    mark.style.background = colours[0];
    legend.replaceChildren(
      make("span", { text: `Reachability to anchor ${ids[anchorNodes[state.anchor]]}: ${brief(ramp[0])}` }),
      make("span", { class: "ramp", "aria-hidden": "true" }), make("span", { text: brief(ramp[1]) }), mark, make("span", { text: "not reached" }));
    return;
  }
  legend.replaceChildren(...names.flatMap((name, number) => {
    if (name === null) return [];
    const mark = make("span", { class: "swatch" });
    mark.style.background = colours[number];
    return make("button", { type: "button", "aria-pressed": "false", onclick: (event) => emphasise(number, event.currentTarget) }, mark, name);
  }));
}

function emphasise(number, button) {
  state.emphasis = state.emphasis === number ? -1 : number;
  for (const each of document.querySelectorAll("#legend button")) each.setAttribute("aria-pressed", String(each === button && state.emphasis >= 0));
  views.forEach((view) => view.drawNodes());
}

function redraw(nodes) {
  for (const view of views) {
    if (!view.size) continue;
    if (nodes) view.drawNodes();
    view.drawSelection();
  }
}

function markPair(pair) {
  state.pair?.button.removeAttribute("aria-current");
  state.pair = pair;
  pair?.button.setAttribute("aria-current", "true");
  markNode(state.node);
}

// A node by keys or search; a click on an anchor colours by it, too.
function selectNode(node) {
  state.node = node;
  markPair(null);
  views.forEach((view) => view.size && view.reveal(node));
  redraw(false);
  showNode(node);
}

function pickNode(node) {
  if (node < 0) {
    letGo();
    return;
  }
  const anchor = anchorOf.get(node);
  const colours = anchor !== undefined && reach.levels && anchor < DATA.anchors.reach.anchors;
  if (colours) {
    Object.assign(state, { anchor, colour: "reach" });
    applyColour();
  }
  selectNode(node);
  if (colours) redraw(true);
}

function selectPair(pair) {
  state.node = -1;
  markPair(pair);
  views.forEach((view) => pair.nodes.forEach((node) => view.size && view.reveal(node)));
  redraw(false);
  showPair(pair);
}

function letGo() {
  state.node = -1;
  markPair(null);
  redraw(false);
  showNothing();
}

function findNode(event) {
  event.preventDefault();
  const text = document.getElementById("search-text").value.trim();
  let node = ids.indexOf(text);
  if (node < 0 && text) node = ids.findIndex((id) => id.toLowerCase().startsWith(text.toLowerCase()));
  document.getElementById("search-answer").textContent = node >= 0 ? "" : DATA.detail ? "not among the drawn nodes" : "no such node here";
  if (node >= 0) pickNode(node);
}

function fillChoices() {
  groups.forEach((group, number) => colourChoice.append(make("option", { value: `group-${number}`, text: group.name })));
  colourChoice.addEventListener("change", () => {
    state.colour = colourChoice.value;
    if (state.colour === "reach" && state.anchor < 0) state.anchor = 0;
    applyColour();
    redraw(true);
  });
  anchorChoice.addEventListener("change", () => pickNode(anchorNodes[Number(anchorChoice.value)]));
  document.getElementById("search").addEventListener("submit", findNode);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") letGo(); });
}

function offerReach(ready) {
  if (!ready) return;
  colourChoice.append(make("option", { value: "reach", text: "reachability" }));
  anchorNodes.slice(0, DATA.anchors.reach.anchors).forEach((node, number) => anchorChoice.append(make("option", { value: number, text: ids[node] })));
  document.documentElement.dataset.ready = "true";
}

function start() {
  readTheme();
  headline();
  fillChoices();
  applyColour();
  views = [
    new View(document.getElementById("graph-view"), places.graph, { title: "graph", label: "Drawing of the graph", edges: true }),
    new View(document.getElementById("map-view"), places.map, { title: "embedding", label: "Map of the embedding", edges: false }),
  ];
  showAnswer();
  showNothing();
  listCircles();
  if (guesses) listNodes();
  else listPairs();
  drawCharts();
  listDetails();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readTheme();
    known.clear();
    applyColour();
    drawMatrix();
    views.forEach((view) => view.draw());
  });
  readReach().then(offerReach);
}

start();
