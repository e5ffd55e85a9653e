// What the page opens with: how good the run is beside a baseline, and the best new pairs or the classes.
const SHOWN_PAIRS = 8;
const READABLE = 12;

function answerText() {
  const [first, ...rest] = DATA.answer.sentences;
  document.getElementById("answer-text").append(make("p", { class: "first", text: first }), make("p", { text: rest.join(" ") }));
}

// One bar from 0 to 1, with its interval.
function measureRow([name, value, interval, kind]) {
  const bar = make("i", { class: kind });
  bar.style.width = `${100 * Math.max(0, Math.min(1, value))}%`;
  const line = interval ? make("b", {}) : null;
  if (line) Object.assign(line.style, { left: `${100 * interval[0]}%`, width: `${100 * (interval[1] - interval[0])}%` });
  return make("li", { class: "row" },
    make("span", { class: "name", text: name, title: name }),
    make("span", { class: "bar share", "aria-hidden": "true" }, bar, line),
    make("span", { class: "number", text: value.toFixed(3) }));
}

function measures() {
  const { test, intervals } = DATA.metrics;
  const { baseline, baselines, majority } = DATA.answer;
  const own = (title, key) => (key in test ? [[title, test[key], intervals[key], "own"]] : []);
  const rows = [];
  if (!guesses) {
    rows.push(...own("AUC of the model", "auc"));
    if (rows.length && baseline !== null) rows.push(["common neighbours", baseline, null, "base"]);
    if (rows.length) rows.push(["guessing", 0.5, null, "base"]);
  } else if (guesses.truth) {
    for (const [key, title] of [["micro_f1", "micro F1"], ["macro_f1", "macro F1"], ["micro_f1_unknown", "micro F1, counts unknown"], ["macro_f1_unknown", "macro F1, counts unknown"]]) {
      rows.push(...own(title, key), ["most frequent labels", baselines[key], null, "base"]);
    }
  } else rows.push(...own("accuracy of the model", "accuracy"), [`always says “${className(majority)}”`, baselines.accuracy, null, "base"]);
  return rows.length ? make("ul", { class: "measures", "aria-label": "Figures beside their baselines" }, ...rows.map(measureRow)) : null;
}

function answerPairs() {
  const list = DATA.lists.find((each) => each.name === "new");
  document.getElementById("answer-title").textContent = list.title;
  const items = list.pairs.map((pair, at) => make("li", {}, pairButton(list, pair, at + 1)));
  const rest = items.slice(SHOWN_PAIRS);
  const ordered = (some, from) => make("ol", { class: "pairs best", start: from, onkeydown: walkList, "aria-label": list.title }, ...some);
  return [
    measures(),
    make("p", { class: "muted hint", text: `${list.about} Choose one to see why.` }),
    items.length ? ordered(items.slice(0, SHOWN_PAIRS), 1) : make("p", { class: "muted", text: "None." }),
    rest.length ? make("details", { class: "more-pairs" }, make("summary", { text: `${rest.length} more` }), ordered(rest, SHOWN_PAIRS + 1)) : null,
  ];
}

// Light or dark text, whichever is easier to read on a colour laid over the card.
function paintCell(cell, share, right) {
  const [paint, card] = [theme(right ? "--accent" : "--warm"), theme("--card")].map(hex);
  const strength = share && 0.12 + 0.78 * share;
  const mixed = card.map((value, channel) => Math.round(value + (paint[channel] - value) * strength));
  const light = (colour) => colour.map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const contrast = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  const texts = ["#000000", "#ffffff"].sort((one, other) => contrast(light(hex(other)), light(mixed)) - contrast(light(hex(one)), light(mixed)));
  Object.assign(cell.style, { background: `rgb(${mixed.join(" ")})`, color: texts[0] });
}

// The classes of a matrix: all, or some and one row for the others.
function shownClasses(how) {
  const all = DATA.answer.classes.map(([number]) => number);
  if (all.length <= READABLE) return all;
  const weight = new Map(all.map((each) => [each, 0]));
  if (how === "largest") for (const [number, , , , support] of DATA.answer.classes) weight.set(number, support);
  else for (const [label, guess, times] of DATA.answer.cells) if (label !== guess) for (const each of [label, guess]) weight.set(each, weight.get(each) + times);
  return [...all].sort((one, other) => weight.get(other) - weight.get(one) || one - other).slice(0, READABLE - 1).sort((one, other) => one - other);
}

function matrixTable(how) {
  const shown = shownClasses(how);
  const place = new Map(shown.map((each, at) => [each, at]));
  const others = DATA.answer.classes.length - shown.length;
  const size = shown.length + (others ? 1 : 0);
  const counts = Array.from({ length: size }, () => new Array(size).fill(0));
  for (const [label, guess, times] of DATA.answer.cells) counts[place.get(label) ?? size - 1][place.get(guess) ?? size - 1] += times;
  const names = [...shown.map(className), ...(others ? [`${others} others`] : [])];
  const head = make("tr", {}, make("td", { class: "corner muted", text: "label \\ predicted" }), ...names.map((name) => make("th", { scope: "col", title: name }, make("span", { text: name }))));
  const rows = counts.map((row, label) => {
    const total = row.reduce((sum, each) => sum + each, 0);
    const cells = row.map((times, guess) => {
      const mixed = others && label === size - 1 && guess === size - 1; // right and wrong ones together
      const cell = make("td", { text: times ? times.toLocaleString("en") : "", title: `${names[label]} predicted as ${names[guess]}: ${times} of ${total}` });
      if (times && !mixed) paintCell(cell, times / total, label === guess);
      return cell;
    });
    return make("tr", {}, make("th", { scope: "row", text: names[label], title: names[label] }), ...cells);
  });
  return make("table", { class: "matrix" }, make("caption", { text: "Confusion matrix: held-out nodes by their label (rows) and predicted class (columns)" }), make("thead", {}, head), make("tbody", {}, ...rows));
}

let matrixHow = "largest";

function drawMatrix() {
  document.getElementById("matrix")?.replaceChildren(matrixTable(matrixHow));
}

function matrixBlock() {
  const many = DATA.answer.classes.length > READABLE;
  const choice = many ? make("label", { class: "level" }, "Show ", make("select", { onchange: (event) => { matrixHow = event.target.value; drawMatrix(); } },
    make("option", { value: "largest", text: `the ${READABLE - 1} largest classes` }), make("option", { value: "confused", text: `the ${READABLE - 1} most confused classes` }))) : null;
  const words = DATA.answer.confused;
  const told = words.length ? make("ul", { class: "plain" }, ...words.slice(0, many ? words.length : 3).map((text) => make("li", { text }))) : make("p", { class: "muted", text: "No class is taken for another." });
  return make("div", { class: "matrix-block" },
    make("h3", { text: "Which classes are confused" }), told, choice,
    make("div", { id: "matrix", class: "scroll", tabindex: 0, role: "region", "aria-label": "Confusion matrix" }));
}

function classTable() {
  const head = make("tr", {}, ...[guesses.truth ? "label" : "class", "precision", "recall", "F1", "nodes"].map((name) => make("th", { scope: "col", text: name })));
  const rows = DATA.answer.classes.map(([number, precision, recall, f1, support]) => make("tr", {},
    make("th", { scope: "row", text: className(number), title: className(number) }),
    ...[precision, recall, f1].map((value) => make("td", { text: value.toFixed(3) })), make("td", { text: support.toLocaleString("en") })));
  return make("div", { class: "class-block" }, make("h3", { text: guesses.truth ? "Each label" : "Each class" }),
    make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Precision, recall and F1 of each class" },
      make("table", { class: "classes" }, make("thead", {}, head), make("tbody", {}, ...rows))));
}

function showAnswer() {
  answerText();
  const title = document.getElementById("answer-title");
  if (guesses) title.textContent = guesses.truth ? "How well labels are predicted" : "How well classes are predicted";
  const body = guesses ? [measures(), make("div", { class: "split" }, guesses.truth ? null : matrixBlock(), classTable())] : answerPairs();
  document.getElementById("answer-body").append(...body.filter(Boolean));
  drawMatrix();
}
