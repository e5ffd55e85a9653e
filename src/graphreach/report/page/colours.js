// Okabe and Ito's colours, which stay apart in every kind of colour vision. One is the ink of the page; yellow, the palest, comes last.
const OKABE_ITO = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "--group-last", "#F0E442"];
const SHADES = 24;

let theme = {};

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  theme = (name) => style.getPropertyValue(name).trim();
}

const hex = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));

function rampColours() {
  const stops = [0, 1, 2, 3].map((number) => hex(theme(`--ramp-${number}`)));
  return Array.from({ length: SHADES }, (_, shade) => {
    const at = (shade / (SHADES - 1)) * 3;
    const low = Math.min(2, Math.floor(at));
    const mixed = stops[low].map((value, channel) => Math.round(value + (stops[low + 1][channel] - value) * (at - low)));
    return `rgb(${mixed.join(" ")})`;
  });
}

function sizesOf(group) {
  if (group.totals) return new Map(group.totals.flatMap((size, each) => (size ? [[each, size]] : [])));
  const sizes = new Map();
  for (const each of group.of) sizes.set(each, (sizes.get(each) || 0) + 1);
  return sizes;
}

// A scheme gives each node a class, and each class a colour and a name; class 0 of a ramp is what is not reached.
// A group like another, as predicted classes are like labels, has its colours; a class without nodes has no name.
function groupScheme(group) {
  const sizes = sizesOf(group);
  const base = group.like ?? groups.indexOf(group);
  const main = sizesOf(groups[base]);
  const all = new Set(groups.flatMap((other, number) => (number === base || other.like === base ? [...sizesOf(other).keys()] : [])));
  const order = [...all].sort((one, other) => (main.get(other) || 0) - (main.get(one) || 0) || one - other);
  const fits = order.length <= OKABE_ITO.length;
  const own = fits ? order : order.slice(0, OKABE_ITO.length - 1);
  if (group.names) own.sort((one, other) => one - other);
  const shown = new Map(own.map((each, number) => [each, number]));
  const colours = own.map((_, number) => OKABE_ITO[number]).map((each) => (each.startsWith("--") ? theme(each) : each));
  const title = (each) => (group.names ? group.names[each] : `${group.name} ${each + 1}`);
  const names = own.map((each) => (sizes.has(each) ? `${title(each)} (${sizes.get(each).toLocaleString("en")})` : null));
  if (!fits) {
    colours.push(theme("--none"));
    names.push(`${order.length - own.length} others`);
  }
  return {
    classes: Uint16Array.from(group.of, (each) => shown.get(each) ?? own.length),
    colours,
    names,
    title: (node) => title(group.of[node]),
  };
}

function reachScheme(anchor) {
  const classes = new Uint16Array(count);
  let [least, top] = [255, 0];
  for (let node = 0; node < count; node += 1) {
    const level = levelOf(anchor, node);
    if (level) [least, top] = [Math.min(least, level), Math.max(top, level)];
  }
  const bottom = Math.min(top, Math.max(least, top - 200)); // four decades: what is rarer is far away all the same
  for (let node = 0; node < count; node += 1) {
    const level = levelOf(anchor, node);
    if (level) classes[node] = 1 + Math.round(((SHADES - 1) * Math.max(0, level - bottom)) / Math.max(1, top - bottom));
  }
  return { classes, colours: [theme("--none"), ...rampColours()], ramp: [shareOf(bottom), shareOf(top)] };
}
