// Small charts as SVG, drawn with the page's own colours.
const SVG = document.getElementById("svg").namespaceURI;
const FRAME = { width: 380, height: 220, left: 44, right: 12, top: 24, bottom: 34 };

function draw(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "text") element.textContent = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function ticks(low, high, wanted = 4) {
  const rough = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough);
  const found = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-9; value += step) found.push(value);
  return found;
}

const tidy = (value) => String(Number(value.toPrecision(4)));

function chart({ title, summary, across, up, x, y, key = [], height = FRAME.height, top = FRAME.top, paint }) {
  const { width, left, right, bottom } = FRAME;
  const px = (value) => left + ((value - x[0]) / (x[1] - x[0] || 1)) * (width - left - right);
  const py = (value) => height - bottom - ((value - y[0]) / (y[1] - y[0] || 1)) * (height - top - bottom);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}. ${summary}` });
  for (const value of ticks(...y)) {
    svg.append(
      draw("line", { class: "grid", x1: left, x2: width - right, y1: py(value), y2: py(value) }),
      draw("text", { x: left - 6, y: py(value) + 4, "text-anchor": "end", text: tidy(value) }),
    );
  }
  for (const value of ticks(...x, 5)) svg.append(draw("text", { x: px(value), y: height - bottom + 16, "text-anchor": "middle", text: tidy(value) }));
  svg.append(
    draw("line", { class: "axis", x1: left, x2: width - right, y1: height - bottom, y2: height - bottom }),
    draw("text", { x: width - right, y: height - 3, "text-anchor": "end", text: across }),
    draw("text", { x: 2, y: 11, text: up }),
  );
  paint(svg, px, py);
  const swatch = (colour) => {
    const mark = make("span", { class: "swatch" });
    mark.style.background = colour;
    return mark;
  };
  return make("figure", { class: "chart" },
    make("h3", { text: title }),
    make("p", { class: "summary", text: summary }),
    svg,
    make("div", { class: "key" }, ...key.map(([name, colour]) => make("span", {}, swatch(colour), name))));
}

function range(values, pad = 0.05) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const more = (high - low || Math.abs(high) || 1) * pad;
  return [low - more, high + more];
}

function polyline(svg, points, px, py, colour) {
  const text = points.map(([u, v]) => `${px(u).toFixed(1)},${py(v).toFixed(1)}`).join(" ");
  svg.append(draw("polyline", { points: text, fill: "none", "stroke-width": 2, "stroke-linejoin": "round", style: `stroke:${colour}` }));
}

function curveChart(title, up, points, colour, summary, mark = null) {
  return chart({
    title, summary, across: "epoch", up, x: [Math.min(1, points[0][0]), points.at(-1)[0]], y: range(points.map((each) => each[1])),
    paint(svg, px, py) {
      polyline(svg, points, px, py, colour);
      if (mark) svg.append(draw("circle", { cx: px(mark[0]), cy: py(mark[1]), r: 5, style: `fill:${colour};stroke:var(--card);stroke-width:2` }));
    },
  });
}

function scoreChart() {
  const { low, high, positives, negatives } = DATA.scores;
  const shares = [positives, negatives].map((counts) => {
    const total = counts.reduce((sum, each) => sum + each, 0) || 1;
    return counts.map((each) => each / total);
  });
  const colours = ["var(--accent)", "var(--warm)"];
  const counts = [positives, negatives].map((each) => each.reduce((sum, one) => sum + one, 0));
  if (!counts[0] && !counts[1]) return null;
  const names = { link: ["links", "no links"], pair: ["one class", "two classes"], node: counts.map((each, side) => `${["right", "wrong"][side]} (${each.toLocaleString("en")})`) }[DATA.task];
  const words = guesses
    ? ["How sure right and wrong predictions were", "The probability of the predicted class of the test nodes: the further right the wrong ones lie, the more the model overrates itself.", "probability"]
    : ["Scores of the test pairs", `Where both overlap, the model confuses them; scores from ${brief(low)} to ${brief(high)}.`, "score"];
  return chart({
    title: words[0], summary: words[1], across: words[2], up: "share", x: [low, high], y: [0, Math.max(...shares.flat()) * 1.05 || 1], key: names.map((name, side) => [name, colours[side]]),
    paint(svg, px, py) {
      const step = (high - low) / positives.length;
      for (const [side, share] of shares.entries()) {
        const path = [`M${px(low)},${py(0)}`];
        share.forEach((each, bin) => path.push(`V${py(each).toFixed(1)}`, `H${px(low + (bin + 1) * step).toFixed(1)}`));
        svg.append(draw("path", { d: `${path.join("")}V${py(0)}Z`, style: `fill:${colours[side]};fill-opacity:.28;stroke:${colours[side]};stroke-width:1.6` }));
      }
    },
  });
}

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 0 });

function reliabilityChart() {
  const { prior, errors, bins, trust } = DATA.calibration || { bins: [] };
  if (!bins.length) return null;
  const kind = DATA.task === "link" ? "links" : "of one class";
  const both = ["test", "val"].filter((part) => "prior" in errors[part]).map((part) => `${brief(errors[part].prior)} on ${{ test: "test", val: "validation" }[part]} pairs`);
  const assumed = both.length ? ` Where ${brief(prior)} of all pairs are ${kind}, as the run assumes, they are off by ${both.join(" and ")}.` : "";
  const figure = chart({
    title: "How far probabilities hold",
    summary: `${trust}${assumed} Circles are groups of test pairs where half are ${kind}, with 95% intervals and the number of pairs above; calibrated ones lie on the line.`,
    across: "probability", up: `share of pairs that are ${kind}`, x: [0, 1], y: [0, 1], height: 250, top: 44,
    paint(svg, px, py) {
      svg.append(draw("line", { class: "axis", x1: px(0), y1: py(0), x2: px(1), y2: py(1) }));
      const most = Math.max(...bins.map((each) => each[5]));
      for (const [chance, share, low, high, , pairs] of bins) {
        svg.append(
          draw("line", { x1: px(chance), x2: px(chance), y1: py(low), y2: py(high), style: "stroke:var(--accent);stroke-width:1.6" }),
          draw("circle", { cx: px(chance), cy: py(share), r: 2.5 + 5 * Math.sqrt(pairs / most), style: "fill:var(--accent);stroke:var(--card);stroke-width:1" }),
          draw("text", { x: px(chance), y: 34, "text-anchor": "middle", class: "count", text: compact.format(pairs) }));
      }
    },
  });
  const rows = bins.map(([chance, share, low, high, positives, pairs]) => make("tr", {}, ...[chance.toFixed(2), share.toFixed(2), `${low.toFixed(2)} to ${high.toFixed(2)}`, `${positives.toLocaleString("en")} of ${pairs.toLocaleString("en")}`].map((text) => make("td", { text }))));
  figure.append(make("details", {}, make("summary", { text: "The figures" }), make("table", { class: "bins" },
    make("thead", {}, make("tr", {}, ...["probability", `share ${kind}`, "95% interval", `${kind} of pairs`].map((name) => make("th", { scope: "col", text: name })))), make("tbody", {}, ...rows))));
  return figure;
}

function coverageChart() {
  const points = DATA.coverage.map((share, number) => [number + 1, share]);
  const enough = points.find(([, share]) => share >= 0.9 * points.at(-1)[1]);
  return chart({
    title: "What the anchors reach",
    summary: `${(100 * points.at(-1)[1]).toFixed(1)}% of nodes reach an anchor in ${plural(DATA.anchors.walk_length, "jump")}; the first ${enough[0]} of ${points.length} anchors do 90% of that.`,
    across: "anchors", up: "share of nodes", x: [Math.min(1, points.length), Math.max(2, points.length)], y: [0, 1.02],
    paint(svg, px, py) { polyline(svg, points, px, py, "var(--accent)"); },
  });
}

function intervalChart(name, title, unit) {
  const interval = DATA.metrics.intervals[name];
  const value = DATA.metrics.test[name];
  if (!interval || value === undefined) return null;
  const [positives, negatives] = [DATA.scores.positives, DATA.scores.negatives].map((each) => each.reduce((sum, one) => sum + one, 0));
  const drawn = guesses ? `over ${(positives + negatives).toLocaleString("en")} test nodes` : `of ${positives} positives and ${negatives} negatives`;
  const kind = name === "accuracy" || value === 1 ? "Wilson's interval" : "bootstrap";
  const words = `${value.toFixed(4)}, with 95% confidence from ${interval[0].toFixed(4)} to ${interval[1].toFixed(4)} (${kind} ${drawn}).`;
  const low = Math.max(0, Math.min(0.5, Math.floor(interval[0] * 10) / 10));
  return chart({
    title, summary: words, across: unit, up: "", x: [low, 1], y: [0, 1], height: 96,
    paint(svg, px, py) {
      svg.querySelectorAll(".grid").forEach((line) => line.remove());
      svg.querySelectorAll('text[text-anchor="end"]').forEach((text) => { if (text.textContent !== unit) text.remove(); });
      const middle = py(0.5);
      const style = "stroke:var(--accent);stroke-width:3";
      svg.append(draw("line", { x1: px(interval[0]), x2: px(interval[1]), y1: middle, y2: middle, style }));
      for (const end of interval) svg.append(draw("line", { x1: px(end), x2: px(end), y1: middle - 12, y2: middle + 12, style }));
      svg.append(draw("circle", { cx: px(value), cy: middle, r: 7, style: "fill:var(--accent);stroke:var(--card);stroke-width:2" }));
    },
  });
}

function drawCharts() {
  const { loss } = DATA.curves;
  const { best_epoch: best, settings } = DATA.record;
  const charts = [guesses ? intervalChart("accuracy", "Test accuracy", "accuracy") : null, intervalChart("micro_f1", "Test micro F1, numbers of labels known", "F1"), intervalChart("micro_f1_unknown", "Test micro F1, numbers of labels unknown", "F1"), intervalChart("auc", "Test ROC AUC", "AUC"), scoreChart(), reliabilityChart(), coverageChart()];
  if (loss.length > 1) charts.push(curveChart("Training loss", "loss", loss, "var(--warm)", `From ${brief(loss[0][1])} to ${brief(loss.at(-1)[1])} in ${plural(DATA.record.epochs, "epoch")}.`));
  for (const [name, unit] of [["auc", "AUC"], ["accuracy", "accuracy"]]) {
    const points = DATA.curves[name];
    const kept = points.find(([epoch]) => epoch === best) || null;
    const chosen = settings.choose_by === name ? kept : null;
    const words = kept ? `${kept[1].toFixed(4)} at epoch ${best}, whose model was kept.` : "";
    if (points.length > 1) charts.push(curveChart(`Validation ${unit}${DATA.graphs > 1 ? ", mean of all graphs" : ""}`, unit, points, "var(--accent)", words, chosen));
  }
  document.getElementById("charts").append(...charts.filter(Boolean));
}
