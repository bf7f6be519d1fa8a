// What every part of the page needs to put things on it.

export const one = (selector, root = document) => root.querySelector(selector);

// make builds an element; children are elements or texts.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "words") element.dataset.words = JSON.stringify(value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// put changes a text only if it is another: readers are not told twice.
export function put(element, text) {
  if (element.textContent !== String(text)) element.textContent = text;
}

export const swatch = (node) => {
  const s = make("span", { class: "swatch", "aria-hidden": "true" });
  s.style.background = colourOf(node);
  return s;
};

const palette = ["#2f7ed8", "#d9822b", "#3a9d5d", "#a356c4", "#c9a400", "#d2527f", "#1ba7b5", "#8a6d4b", "#7a86e0", "#7fae2e"];

// colourOf is the colour of a node by its number, the same wherever it is shown.
export function colourOf(node) {
  const number = parseInt(node.slice(1), 10) || 1;
  if (number <= palette.length) return palette[number - 1];
  return `hsl(${Math.round(number * 137.508) % 360} 60% ${number % 2 ? 45 : 60}%)`;
}

export function bytes(n) {
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (n < 1000 || unit === "GB") return `${unit === "B" ? n : n.toFixed(1)} ${unit}`;
    n /= 1000;
  }
}

export const rate = (n) => (n === 0 || n >= 10 ? Math.round(n).toLocaleString("en") : n.toFixed(1));

export function span(ms) {
  if (ms < 0) return "never";
  const units = [["d", 86400e3], ["h", 3600e3], ["min", 60e3], ["s", 1e3]];
  for (const [unit, size] of units) if (ms >= size) return `${(ms / size).toFixed(ms < 10 * size ? 1 : 0)} ${unit}`;
  return `${ms} ms`;
}

// marked is a key with its hash tag highlighted; the tag's place is in bytes.
export function marked(key) {
  if (!key.tag) return [key.key];
  const raw = new TextEncoder().encode(key.key), decode = (a, b) => new TextDecoder().decode(raw.slice(a, b));
  const [begin, end] = key.tag;
  return [decode(0, begin), make("mark", { title: "hash tag" }, decode(begin, end)), decode(end)];
}
