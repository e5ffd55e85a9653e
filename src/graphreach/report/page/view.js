// One drawing: edges, nodes and what is selected lie on canvases above each other, so that a click redraws the last only.
const MOVED = 5;

// Discs are written into pixels by hand, which takes a tenth of the time that thousands of arcs take.
const PART = 3;

function discMasks(radius) {
  const reach = Math.ceil(radius + 1);
  return Array.from({ length: PART * PART }, (_, part) => {
    const [fx, fy] = [(part % PART) / PART, Math.floor(part / PART) / PART];
    const mask = [];
    for (let dy = -reach; dy <= reach; dy += 1) {
      for (let dx = -reach; dx <= reach; dx += 1) {
        const cover = Math.max(0, Math.min(1, radius + 0.5 - Math.hypot(dx - fx, dy - fy)));
        if (cover > 0) mask.push(dx, dy, cover);
      }
    }
    return Float32Array.from(mask);
  });
}

const rgb = (colour) => (colour[0] === "#" ? hex(colour) : colour.match(/[\d.]+/g).slice(0, 3).map(Number));

// Source over what is there, for one pixel of red, green, blue and alpha.
function blend(cells, at, paint, above) {
  const below = (cells[at + 3] / 255) * (1 - above);
  const sum = above + below;
  for (let channel = 0; channel < 3; channel += 1) {
    cells[at + channel] = (paint[channel] * above + cells[at + channel] * below) / sum;
  }
  cells[at + 3] = 255 * sum;
}

function paintDiscs(context, screen, classes, colours, alphas, radius) {
  const { width, height } = context.canvas;
  const image = context.createImageData(width, height);
  const whole = new Uint32Array(image.data.buffer);
  const ratio = context.getTransform().a;
  const masks = discMasks(radius * ratio);
  const paints = colours.map(rgb);
  const words = paints.map((paint) => new Uint32Array(Uint8Array.of(...paint, 255).buffer)[0]);
  for (let node = 0; node < count; node += 1) {
    const x = screen[2 * node] * ratio;
    const y = screen[2 * node + 1] * ratio;
    const column = Math.floor(x);
    const row = Math.floor(y);
    const mask = masks[Math.floor((x - column) * PART) + PART * Math.floor((y - row) * PART)];
    const kind = classes[node];
    for (let at = 0; at < mask.length; at += 3) {
      const u = column + mask[at];
      const v = row + mask[at + 1];
      if (u < 0 || v < 0 || u >= width || v >= height) continue;
      const above = mask[at + 2] * alphas[kind];
      if (above === 1) whole[v * width + u] = words[kind];
      else blend(image.data, 4 * (v * width + u), paints[kind], above);
    }
  }
  context.putImageData(image, 0, 0);
}

const steps = (path) => path.nodes.slice(1).map((node, at) => [path.nodes[at], node]);

class View {
  constructor(figure, points, options) {
    this.points = points;
    this.options = options;
    this.zoom = 1;
    this.centre = [32767.5, 32767.5];
    this.box = make("div", { class: "box" });
    this.layers = [0, 1, 2].map(() => make("canvas", { "aria-hidden": "true" }));
    this.top = this.layers[2];
    this.top.removeAttribute("aria-hidden");
    for (const [name, value] of Object.entries({ tabindex: 0, role: "application", "aria-label": options.label, "aria-describedby": "keys" })) {
      this.top.setAttribute(name, value);
    }
    const zoom = (sign, name, change) => make("button", { type: "button", text: sign, "aria-label": `${name}, ${options.title}`, onclick: change });
    this.box.append(...this.layers);
    figure.querySelector("figcaption").append(
      make("span", { class: "zoom" },
        zoom("+", "Zoom in", () => this.zoomBy(1.6)),
        zoom("−", "Zoom out", () => this.zoomBy(1 / 1.6)),
        zoom("⤢", "Show all", () => this.reset())),
    );
    figure.append(this.box);
    this.hover = -1;
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.box);
  }

  resize() {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const { clientWidth, clientHeight } = this.box;
    if (!clientWidth) return;
    this.size = [clientWidth, clientHeight];
    for (const layer of this.layers) {
      layer.width = Math.round(clientWidth * ratio);
      layer.height = Math.round(clientHeight * ratio);
      layer.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
    }
    this.draw();
  }

  get scale() {
    return ((Math.min(...this.size) - 28) / 65535) * this.zoom;
  }

  // Where nodes are on the screen, until the view moves.
  project() {
    const scale = this.scale;
    this.screen ??= new Float32Array(this.points.length);
    for (let node = 0; node < count; node += 1) {
      this.screen[2 * node] = this.size[0] / 2 + (this.points[2 * node] - this.centre[0]) * scale;
      this.screen[2 * node + 1] = this.size[1] / 2 - (this.points[2 * node + 1] - this.centre[1]) * scale;
    }
  }

  at(node) {
    return [this.screen[2 * node], this.screen[2 * node + 1]];
  }

  get radius() {
    const base = count <= 100 ? 6 : count <= 500 ? 4.5 : count <= 3000 ? 2.7 : 1.8;
    return Math.min(9, base * Math.sqrt(this.zoom) * Math.min(1, Math.min(...this.size) / 380 + 0.15));
  }

  draw() {
    if (!this.size) return;
    this.project();
    this.drawEdges();
    this.drawNodes();
    this.drawSelection();
  }

  context(layer) {
    const context = this.layers[layer].getContext("2d");
    context.clearRect(0, 0, ...this.size);
    return context;
  }

  drawEdges() {
    const context = this.context(0);
    if (!this.options.edges) return;
    this.drawCircles(context);
    context.strokeStyle = theme("--edge");
    const many = ends.length / 2;
    const strength = Math.max(0.1, Math.min(0.7, 2200 / many)) * Math.min(2, Math.sqrt(this.zoom));
    for (const held of [1, 0]) {
      context.globalAlpha = Math.min(0.8, held ? strength * 0.4 : strength);
      context.lineWidth = many > 5000 ? 0.6 : 1;
      context.beginPath();
      for (let edge = 0; edge < many; edge += 1) {
        if (isHeld(edge) !== held) continue;
        const [from, to] = [2 * ends[2 * edge], 2 * ends[2 * edge + 1]];
        context.moveTo(this.screen[from], this.screen[from + 1]);
        context.lineTo(this.screen[to], this.screen[to + 1]);
      }
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  drawCircles(context) {
    context.fillStyle = theme("--edge");
    context.strokeStyle = theme("--edge");
    context.lineWidth = 1;
    for (const circle of circles) {
      context.beginPath();
      context.arc(...this.spot(circle), Math.max(4, circle.radius * this.scale), 0, 7);
      context.globalAlpha = 0.1;
      context.fill();
      context.globalAlpha = 0.7;
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  spot({ x, y }) {
    return [this.size[0] / 2 + (x - this.centre[0]) * this.scale, this.size[1] / 2 - (y - this.centre[1]) * this.scale];
  }

  // How many nodes the circles stand for, the largest first; one that would cover another is left out until there is room.
  drawCounts(context) {
    this.counts = [];
    if (!this.options.edges) return;
    context.font = "600 12px system-ui, sans-serif";
    for (const circle of circles) {
      const text = circle.nodes.toLocaleString("en");
      const [x, middle] = this.spot(circle);
      const y = Math.max(12, middle - circle.radius * this.scale); // on the upper rim, as the middle has the hubs
      const half = context.measureText(text).width / 2 + 7;
      const apart = this.counts.every((other) => Math.abs(other.x - x) > other.half + half || Math.abs(other.y - y) > 22);
      const inside = x > half && y >= 12 && x < this.size[0] - half && y < this.size[1] - 12;
      if (!apart || !inside) continue;
      this.counts.push({ circle, x, y, half });
      context.beginPath();
      context.roundRect(x - half, y - 10, 2 * half, 20, 10);
      context.fillStyle = theme("--card");
      context.globalAlpha = 0.92;
      context.fill();
      context.globalAlpha = 1;
      context.strokeStyle = theme("--edge");
      context.lineWidth = 1;
      context.stroke();
      context.fillStyle = theme("--ink");
      context.fillText(text, x - half + 7, y + 4.5);
    }
  }

  countAt(x, y) {
    return this.counts.find((each) => Math.abs(each.x - x) <= each.half && Math.abs(each.y - y) <= 11)?.circle;
  }

  drawNodes() {
    const context = this.context(1);
    const { classes, colours } = state.scheme;
    const radius = this.radius;
    const alphas = colours.map((_, number) => (state.emphasis < 0 || state.emphasis === number ? 1 : 0.12));
    paintDiscs(context, this.screen, classes, colours, alphas, radius);
    context.strokeStyle = theme("--ink");
    context.lineWidth = 1.2;
    for (const node of anchorNodes) {
      context.globalAlpha = state.emphasis < 0 || state.emphasis === classes[node] ? 1 : 0.2;
      context.fillStyle = colours[classes[node]];
      this.diamond(context, node, radius * 1.3 + 2);
      context.fill();
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  diamond(context, node, size) {
    const [x, y] = this.at(node);
    context.beginPath();
    context.moveTo(x, y - size);
    context.lineTo(x + size, y);
    context.lineTo(x, y + size);
    context.lineTo(x - size, y);
    context.closePath();
  }

  drawSelection() {
    const context = this.context(2);
    this.drawCounts(context);
    if (state.pair) this.drawPair(context, state.pair);
    else if (state.node >= 0) {
      this.lines(context, [...neighbours(state.node)].map((other) => [state.node, other]), theme("--accent"), 1.4);
      for (const each of listedNodes.get(state.node)?.anchors.slice(0, 4) ?? []) this.drawWay(context, each);
      this.ring(context, state.node, theme("--warm"));
      this.label(context, state.node, ids[state.node]);
    }
    if (state.scheme.ramp && state.anchor >= 0) this.ring(context, anchorNodes[state.anchor], theme("--ink"), 3);
    if (this.hover >= 0 && this.hover !== state.node) this.label(context, this.hover, ids[this.hover]);
  }

  drawWay(context, { node, path }) {
    if (path) this.lines(context, steps(path), "#E69F00", 2);
    this.ring(context, node, theme("--ink"), 2);
  }

  drawPair(context, pair) {
    const colours = ["#0072B2", "#E69F00"];
    if (byGroups) this.drawBetween(context, pair, colours);
    else this.drawTowards(context, pair, colours);
    context.setLineDash([6, 5]);
    this.lines(context, [pair.nodes], theme("--warm"), 2.5);
    context.setLineDash([]);
    for (const [side, node] of pair.nodes.entries()) {
      this.ring(context, node, colours[side], side ? 2 : 7); // one around the other where both ends lie together
      this.label(context, node, `${"AB"[side]}: ${ids[node]}`, side === 1);
    }
  }

  drawTowards(context, pair, colours) {
    for (const each of pair.anchors.slice(0, 4)) {
      for (const [side, path] of each.paths.entries()) {
        if (path) this.lines(context, steps(path), colours[side], 2);
      }
      this.ring(context, each.node, theme("--ink"), 2);
    }
  }

  drawBetween(context, pair, colours) {
    context.setLineDash([1.5, 4]);
    for (const [side, node] of pair.nodes.entries()) this.lines(context, pair.anchors.map((each) => [node, each.node]), colours[side], 1.8);
    context.setLineDash([]);
    for (const [rank, path] of [...pair.paths.entries()].reverse()) {
      for (const [colour, more] of [[theme("--card"), 3], [PATH_COLOUR, 0]]) this.lines(context, steps(path), colour, PATH_WIDTHS[rank] + more);
    }
    for (const { node } of pair.anchors) this.ring(context, node, theme("--ink"), 2);
  }

  lines(context, list, colour, width) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    for (const [from, to] of list) {
      context.moveTo(...this.at(from));
      context.lineTo(...this.at(to));
    }
    context.stroke();
  }

  ring(context, node, colour, more = 3) {
    const [x, y] = this.at(node);
    for (const [style, width] of [[theme("--card"), 5.5], [colour, 3]]) {
      context.strokeStyle = style;
      context.lineWidth = width;
      context.beginPath();
      context.arc(x, y, this.radius + more + 3, 0, 7);
      context.stroke();
    }
  }

  label(context, node, full, below = false) {
    const text = full.length > 28 ? `${full.slice(0, 27)}…` : full;
    const [x, y] = this.at(node);
    context.font = "600 13px system-ui, sans-serif";
    const width = context.measureText(text).width;
    const left = Math.max(4, Math.min(this.size[0] - width - 6, x + this.radius + 9));
    const base = Math.max(16, Math.min(this.size[1] - 8, below ? y + this.radius + 19 : y - this.radius - 7));
    context.globalAlpha = 0.88;
    context.fillStyle = theme("--card");
    context.fillRect(left - 4, base - 14, width + 8, 19);
    context.globalAlpha = 1;
    context.fillStyle = theme("--ink");
    context.fillText(text, left, base);
  }

  // Which node is meant

  nearest(x, y, within) {
    let best = -1;
    let least = within * within;
    for (let node = 0; node < count; node += 1) {
      const [u, v] = [this.screen[2 * node], this.screen[2 * node + 1]];
      const far = (u - x) ** 2 + (v - y) ** 2;
      const closer = anchorOf.has(node) ? far * 0.5 : far; // anchors are larger, and mean more
      if (closer < least) [best, least] = [node, closer];
    }
    return best;
  }

  towards(node, dx, dy) {
    const [x, y] = this.at(node);
    let best = node;
    let least = Infinity;
    for (let other = 0; other < count; other += 1) {
      const [u, v] = this.at(other);
      const along = (u - x) * dx + (v - y) * dy;
      const across = Math.abs((u - x) * dy - (v - y) * dx);
      if (other !== node && along > 0.01 && across <= along && along + across < least) [best, least] = [other, along + across];
    }
    return best;
  }

  zoomBy(factor, x = this.size[0] / 2, y = this.size[1] / 2) {
    const before = this.scale;
    this.zoom = Math.max(1, Math.min(60, this.zoom * factor));
    const change = 1 / before - 1 / this.scale;
    this.centre[0] += (x - this.size[0] / 2) * change;
    this.centre[1] -= (y - this.size[1] / 2) * change;
    if (this.zoom === 1) this.centre = [32767.5, 32767.5];
    this.project();
    this.later();
  }

  reset() {
    this.zoom = 1;
    this.centre = [32767.5, 32767.5];
    this.project();
    this.later();
  }

  reveal(node) {
    const [x, y] = this.at(node);
    if (x >= 0 && y >= 0 && x <= this.size[0] && y <= this.size[1]) return;
    this.centre = [this.points[2 * node], this.points[2 * node + 1]];
    this.project();
    this.later();
  }

  later() {
    this.box.classList.toggle("zoomed", this.zoom > 1);
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.draw();
    });
  }

  listen() {
    const top = this.top;
    let from = null;
    const point = (event) => {
      const { left, top: upper } = top.getBoundingClientRect();
      return [event.clientX - left, event.clientY - upper];
    };
    top.addEventListener("pointerdown", (event) => {
      from = { at: point(event), centre: [...this.centre], far: false };
      if (this.zoom > 1) top.setPointerCapture(event.pointerId);
    });
    top.addEventListener("pointermove", (event) => {
      const [x, y] = point(event);
      if (!from) {
        const node = event.pointerType === "touch" ? -1 : this.nearest(x, y, 12);
        if (node !== this.hover) {
          this.hover = node;
          this.drawSelection();
        }
        return;
      }
      const [dx, dy] = [x - from.at[0], y - from.at[1]];
      from.far ||= Math.hypot(dx, dy) > MOVED;
      if (from.far && this.zoom > 1) {
        this.centre = [from.centre[0] - dx / this.scale, from.centre[1] + dy / this.scale];
        this.project();
        this.later();
      }
    });
    top.addEventListener("pointerup", (event) => {
      const circle = from && !from.far && this.countAt(...point(event));
      if (circle) openCircle(circle);
      else if (from && !from.far) pickNode(this.nearest(...point(event), event.pointerType === "touch" ? 24 : 14));
      from = null;
    });
    top.addEventListener("pointercancel", () => { from = null; });
    top.addEventListener("pointerleave", () => {
      if (this.hover >= 0) {
        this.hover = -1;
        this.drawSelection();
      }
    });
    top.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== top) return; // a page that scrolls should go on scrolling
      event.preventDefault();
      this.zoomBy(event.deltaY < 0 ? 1.25 : 0.8, ...point(event));
    }, { passive: false });
    top.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const actions = { "+": () => this.zoomBy(1.6), "=": () => this.zoomBy(1.6), "-": () => this.zoomBy(1 / 1.6), 0: () => this.reset(), Escape: () => letGo() };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (ways[event.key]) selectNode(state.node < 0 ? (anchorNodes[0] ?? 0) : this.towards(state.node, ...ways[event.key]));
    else if (event.key === "Enter" && state.node >= 0) pickNode(state.node);
    else if (actions[event.key]) actions[event.key]();
    else return;
    event.preventDefault();
  }
}
