// What is told of nodes whose classes are predicted; on pages of pairs there is nothing of this.
const guesses = DATA.predictions ? {
  ...DATA.predictions,
  classes: unpack(DATA.predictions.classes),
  shares: unpack(DATA.predictions.shares),
  part: unpack(DATA.predictions.part),
  truth: DATA.predictions.truth && { classes: unpack(DATA.predictions.truth.classes), ends: unpack(DATA.predictions.truth.ends) },
} : null;
const listedNodes = new Map(guesses ? DATA.lists.flatMap((list) => list.nodes.map((each) => [each.node, each])) : []);
const className = (number) => groups[1].names[number];

// The labels of a node: none, one or, where the run has several per node, all of them.
function labelsOf(node) {
  if (guesses.truth) return Array.from(guesses.truth.classes.slice(node ? guesses.truth.ends[node - 1] : 0, guesses.truth.ends[node]));
  return groups[0].of[node] < groups[0].names.length - 1 ? [groups[0].of[node]] : [];
}

const namesOf = (labels) => labels.map(className).join(", ");

// The likeliest classes of a node, the first being its prediction; a label of it is always among them.
function chancesOf(node) {
  return Array.from({ length: guesses.width }, (_, at) => {
    const place = node * guesses.width + at;
    return [guesses.classes[place], guesses.shares[place] / 65535];
  });
}

function verdictOn(node) {
  const [[guess, share]] = chancesOf(node);
  const labels = labelsOf(node);
  const wrong = `wrong, the ${labels.length > 1 ? "labels are" : "label is"} ${namesOf(labels)}`;
  const truth = !labels.length ? "the node has no label" : !labels.includes(guess) ? wrong : labels.length > 1 ? `right, one of ${labels.length} labels` : "right";
  return make("p", { class: "verdict" }, share.toFixed(3), " ", make("small", { text: `probability of ${className(guess)}: ${truth}` }));
}

function chanceRow(name, share) {
  const bar = make("i", {});
  bar.style.width = `${100 * share}%`;
  return make("li", {}, make("div", { class: "row" },
    make("span", { class: "name", text: name, title: name }),
    make("span", { class: "bar share", "aria-hidden": "true" }, bar),
    make("span", { class: "number", text: share.toFixed(3) })));
}

function chanceList(node) {
  const found = chancesOf(node);
  const labels = labelsOf(node);
  const others = guesses.truth ? 0 : groups[1].names.length - found.length; // of several labels the shares have no sum
  const rest = Math.max(0, 1 - found.reduce((sum, [, share]) => sum + share, 0));
  return make("ul", { class: "sum" },
    ...found.map(([each, share]) => chanceRow(`${className(each)}${labels.includes(each) ? " (label)" : ""}`, share)),
    others > 0 ? chanceRow(others === 1 ? "1 other class" : `${others} other classes`, rest) : null);
}

// A listed node's position in words, and the way to its anchors.
function placeOf(node) {
  const known = listedNodes.get(node);
  if (!known) return null;
  const rows = known.anchors.map((each) => {
    const way = each.path && each.path.nodes.length > 1 ? `${each.path.nodes.map((step) => ids[step]).join(" › ")} (chance ${brief(each.path.chance)})` : "";
    return make("li", { class: "path" }, nodeButton(each.node), ` to it ${brief(each.to)}, back ${brief(each.back)}`, way ? make("br") : null, way ? make("span", { class: "muted", text: way }) : null);
  });
  return make("div", {},
    make("h3", { text: "Position among the anchors" }),
    ...known.words.map((text) => make("p", { class: "words", text })),
    make("ul", { class: "ways" }, ...rows));
}

function markNode(node) {
  for (const button of document.querySelectorAll("[data-node]")) {
    if (Number(button.dataset.node) === node) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

function listNodes() {
  document.getElementById("lists-title").textContent = "Nodes worth a look";
  document.getElementById("lists-about").textContent = "Click a node to see how sure the model is of its class, and where the node stands among the anchors.";
  for (const list of DATA.lists) {
    const items = list.nodes.map(({ node }) => {
      const [[guess, share], [next] = [null]] = chancesOf(node);
      const labels = labelsOf(node);
      const words = labels.includes(guess) ? `${className(guess)}, rightly${next === null ? "" : `; next ${className(next)}`}` : `${className(guess)}, not ${namesOf(labels)}`;
      return make("li", {}, make("button", { type: "button", title: `${ids[node]}: ${words}`, "data-list": list.name, "data-node": node, onclick: () => selectNode(node) },
        make("span", { class: "names" }, make("span", { class: "who", text: ids[node] }), make("small", { class: "muted", text: words })),
        make("span", { class: "number", text: share.toFixed(3) })));
    });
    addList(list, items);
  }
}
