"use strict";

// What the page was given, unpacked. Texts of users only ever become textContent.
const DATA = JSON.parse(document.getElementById("data").textContent);

const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

function unpack(packed) {
  const types = { Uint8: Uint8Array, Uint16: Uint16Array, Uint32: Uint32Array };
  return new types[packed.type](bytes(packed.data).buffer);
}

const ids = DATA.nodes.ids.map(String);
const count = ids.length;
const degree = unpack(DATA.nodes.degree);
const places = { graph: unpack(DATA.nodes.graph), map: unpack(DATA.nodes.map) };
const ends = unpack(DATA.edges.ends);
const heldBits = unpack(DATA.edges.held);
const isHeld = (edge) => (heldBits[edge >> 3] >> (7 - (edge & 7))) & 1;
const groups = DATA.groups.map((group) => ({ ...group, of: unpack(group.of) }));
const anchorNodes = DATA.anchors.nodes;
const anchorOf = new Map(anchorNodes.map((node, number) => [node, number]));

// Neighbours among the nodes that are drawn, node after node.
const neighbours = (() => {
  const first = new Uint32Array(count + 1);
  for (const end of ends) first[end + 1] += 1;
  for (let node = 0; node < count; node += 1) first[node + 1] += first[node];
  const next = first.slice();
  const list = new Uint32Array(ends.length);
  for (let edge = 0; edge < ends.length; edge += 2) {
    list[next[ends[edge]]++] = ends[edge + 1];
    list[next[ends[edge + 1]]++] = ends[edge];
  }
  return (node) => list.subarray(first[node], first[node + 1]);
})();

// Reachability to anchors comes compressed; until it is there, or if the browser cannot read it, it is null.
const reach = { levels: null };

async function readReach() {
  if (typeof DecompressionStream === "undefined") return false;
  const stream = new Blob([bytes(DATA.anchors.reach.data)]).stream().pipeThrough(new DecompressionStream("deflate"));
  reach.levels = new Uint8Array(await new Response(stream).arrayBuffer());
  return true;
}

const levelOf = (anchor, node) => (anchor < DATA.anchors.reach.anchors ? reach.levels[anchor * count + node] : 0);

function shareOf(level) {
  const { greatest, decades } = DATA.anchors.reach;
  return level ? greatest * 10 ** ((-decades * (255 - level)) / 254) : 0;
}

function nearestAnchors(node, wanted) {
  if (!reach.levels) return [];
  const found = [];
  for (let anchor = 0; anchor < DATA.anchors.reach.anchors; anchor += 1) {
    const level = levelOf(anchor, node);
    if (level && anchorNodes[anchor] !== node) found.push([anchor, level]);
  }
  return found.sort((one, other) => other[1] - one[1]).slice(0, wanted);
}

// Words and numbers

const plural = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

function brief(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  return size >= 0.01 ? value.toPrecision(3) : value.toExponential(1);
}

// A probability of a rare relation is small, and yet not zero.
const shownChance = (value) => (value < 0.0005 ? brief(value) : value.toFixed(3));

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;

// In a directed graph links have a direction.
const dash = DATA.graph.directed && DATA.task === "link" ? "→" : "–";
const namesOfPair = (pair) => `${ids[pair.nodes[0]]} ${dash} ${ids[pair.nodes[1]]}`;

const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;

function make(tag, options = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "text") element.textContent = value;
    else if (name === "class") element.className = value;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}
