// What is told of pairs that are scored by groups of features; on other pages there is nothing of this.
const byGroups = DATA.record.settings.method === "reach" && DATA.task !== "node";
const PATH_COLOUR = "#009E73";
const PATH_WIDTHS = [3.5, 2.5, 1.8];

function groupRow(group, pair, widest) {
  return make("li", {},
    sumRow("div", group.title, group.adds, widest),
    group.words ? make("p", { class: "words muted", text: sentence(group.words) }) : null,
    group.name === "direct" ? pathList(pair) : null,
    group.name === "position" ? anchorList(pair) : null);
}

function pathList(pair) {
  if (!pair.paths.length) return null;
  const rows = pair.paths.map((path) => {
    const steps = path.nodes.flatMap((node, at) => [at ? make("span", { class: "muted", text: " › " }) : null, nodeButton(node)]);
    return make("li", {}, ...steps, make("span", { class: "muted chance", text: ` ${brief(path.chance)}` }));
  });
  return make("div", {},
    make("p", { class: "words muted" }, stroke("solid"), "Most travelled paths, and the chance of a walk to follow each"),
    make("ol", { class: "ways" }, ...rows));
}

function anchorList(pair) {
  if (!pair.anchors.length) return null;
  const rows = pair.anchors.map(({ node, lift }) => make("li", {}, nodeButton(node), ...lift.flatMap((value, side) => [" ", end(side), ` ${brief(value)}`])));
  return make("div", {},
    make("p", { class: "words muted" }, stroke("dotted"), "Anchors nearest to both, and how many times as often as by chance walks meet them"),
    make("ul", { class: "ways" }, ...rows));
}

// How the pictures draw it.
const stroke = (style) => make("span", { class: `stroke ${style}`, "aria-hidden": "true" });

function aboutLink(pair) {
  const kind = DATA.task === "link" ? ["a link", "are links"] : ["one class", "are of one class"];
  const values = [pair.base[1], ...pair.groups.map((group) => group.adds)];
  const widest = Math.max(1e-9, ...values.map(Math.abs));
  return [
    ...pairTitle(pair),
    make("p", { class: "verdict wide" }, shownChance(pair.probability), " ",
      make("small", { text: `probability of ${kind[0]} where ${Number(brief(100 * DATA.calibration.prior))}% of all pairs ${kind[1]}; logit ${signed(pair.score)}` })),
    make("h3", { text: "The logit is the sum of" }),
    make("ul", { class: "sum" }, make("li", {}, sumRow("div", ...pair.base, widest)), ...pair.groups.map((group) => groupRow(group, pair, widest))),
    ...pairEnds(pair)];
}
