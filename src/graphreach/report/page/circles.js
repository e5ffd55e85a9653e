// Of a large graph some nodes are drawn, and circles stand for whole communities; each opens to its nodes.
const circles = DATA.detail ? DATA.detail.circles : [];
const communityOf = groups.find((group) => group.name === "community").of;

// All small communities share a circle, the last.
const named = circles.filter((circle) => circle.community >= 0).length;
const isInside = (node, circle) => (circle.community < 0 ? communityOf[node] >= named : communityOf[node] === circle.community);
const circleName = (circle) => (circle.community < 0 ? "small communities" : `community ${circle.community + 1}`);

function openCircle(circle) {
  const [view] = views;
  Object.assign(state, { node: -1 });
  markPair(null);
  view.zoom = Math.max(1, Math.min(60, 65535 / (3.2 * Math.max(circle.radius, 600))));
  view.centre = [circle.x, circle.y];
  view.project();
  view.later();
  redraw(false);
  showCircle(circle);
}

function showCircle(circle) {
  const inside = [...communityOf.keys()].filter((node) => isInside(node, circle));
  const strongest = inside.sort((one, other) => degree[other] - degree[one] || one - other).slice(0, 16);
  const facts = make("dl", { class: "facts" });
  fact(facts, "nodes", circle.nodes.toLocaleString("en"));
  fact(facts, "of them drawn", circle.drawn.toLocaleString("en"));
  fact(facts, "anchors", anchorNodes.filter((node) => isInside(node, circle)).length.toLocaleString("en"));
  showPanel("community",
    make("h2", { text: sentence(circleName(circle)).slice(0, -1) }), facts,
    make("h3", { text: "Nodes with most neighbours" }),
    make("div", { class: "chips" }, ...strongest.map((node) => nodeButton(node, ` · ${degree[node].toLocaleString("en")}`))),
    make("div", { class: "chips" }, make("button", { type: "button", text: "show all again", onclick: () => { views[0].reset(); letGo(); } }), toPictures()));
}

function listCircles() {
  if (!circles.length) return;
  const place = document.getElementById("circles");
  place.hidden = false;
  place.querySelector("summary").textContent = `${plural(circles.length, "circle")}, one per community`;
  place.querySelector("div").append(...circles.map((circle) => make("button", { type: "button", text: `${circleName(circle)} · ${plural(circle.nodes, "node")}`, onclick: () => openCircle(circle) })));
}
