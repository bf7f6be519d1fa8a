// The map of the 16384 slots: 128 rows of 128, coloured by owner.

import { colourOf, make, one, put, rate, swatch } from "./dom.js";

const side = 128, count = side * side;
const canvas = one("#slots"), paper = canvas.getContext("2d");
let owners = new Array(count).fill(""), state, chosen = 0, range = null, marked = null;
let onChosen = () => {}, onRange = () => {};

export function listen(chose, selected) { onChosen = chose; onRange = selected; }

export function show(next) {
  state = next;
  owners.fill("");
  for (const { first, last, node } of state.slots) owners.fill(node, first, last + 1);
  one("#map").hidden = state.standalone;
  draw();
  legend();
  moving();
  say();
}

// mark draws attention to the slot of a key.
export function mark(slot) {
  marked = slot;
  if (slot !== null) chosen = slot;
  draw();
  say();
}

export const ownerOf = (slot) => owners[slot];

function draw() {
  const cell = Math.max(1, Math.round(canvas.clientWidth * devicePixelRatio / side)); // whole pixels: no seams
  if (canvas.width !== cell * side) canvas.width = canvas.height = cell * side;
  const empty = getComputedStyle(canvas).color;
  const at = (slot) => [(slot % side) * cell, Math.floor(slot / side) * cell];
  for (let row = 0; row < side; row++) { // neighbours of one colour at once
    for (let from = row * side, slot = from; slot < (row + 1) * side; slot++) {
      if (slot + 1 < (row + 1) * side && owners[slot + 1] === owners[slot]) continue;
      paper.fillStyle = owners[slot] ? colourOf(owners[slot]) : empty;
      const [x, y] = at(from);
      paper.fillRect(x, y, (slot + 1 - from) * cell, cell);
      from = slot + 1;
    }
  }
  if (!state) return;
  const hottest = state.hot[0]?.ops || 1;
  for (const { slot, ops } of state.hot) glow(...at(slot), cell, Math.sqrt(ops / hottest));
  for (const move of state.moving) ring(...at(move.slot), cell, colourOf(move.to || "n1"));
  if (range) {
    paper.fillStyle = "#ffffff66";
    for (let slot = range[0]; slot <= range[1]; slot++) { const [x, y] = at(slot); paper.fillRect(x, y, cell, cell); }
  }
  if (document.activeElement === canvas || marked !== null) crosshair(...at(chosen), cell);
}

function glow(x, y, cell, strength) {
  const radius = cell * (1.5 + 3 * strength), cx = x + cell / 2, cy = y + cell / 2;
  const light = paper.createRadialGradient(cx, cy, 0, cx, cy, radius);
  light.addColorStop(0, `rgb(255 255 230 / ${0.6 + 0.4 * strength})`);
  light.addColorStop(0.35, `rgb(255 214 90 / ${0.5 * strength + 0.2})`);
  light.addColorStop(1, "rgb(255 214 90 / 0)");
  paper.fillStyle = light;
  paper.fillRect(cx - radius, cy - radius, 2 * radius, 2 * radius);
}

function ring(x, y, cell, colour) {
  for (const [width, style] of [[cell * 2.2, "#fff"], [cell * 1.2, colour]]) {
    paper.lineWidth = width;
    paper.strokeStyle = style;
    paper.beginPath();
    paper.arc(x + cell / 2, y + cell / 2, cell * 3, 0, 2 * Math.PI);
    paper.stroke();
  }
}

function crosshair(x, y, cell) {
  for (const [grow, style] of [[3, "#000"], [2, "#fff"]]) {
    paper.lineWidth = Math.max(1.5, cell / 2);
    paper.strokeStyle = style;
    paper.strokeRect(x - grow * cell, y - grow * cell, cell * (2 * grow + 1), cell * (2 * grow + 1));
  }
}

function legend() {
  const totals = new Map();
  for (const { first, last, node } of state.slots) totals.set(node, (totals.get(node) || 0) + last - first + 1);
  const owned = [...totals.values()].reduce((a, b) => a + b, 0);
  const entries = [...totals].sort((a, b) => parseInt(a[0].slice(1)) - parseInt(b[0].slice(1)));
  const text = JSON.stringify([entries, owned]);
  const list = one("#legend");
  if (list.dataset.shown === text) return;
  list.dataset.shown = text;
  list.replaceChildren(...entries.map(([node, n]) => make("li", {}, swatch(node), `${node} ${n}`)));
  if (owned < count) list.append(make("li", { class: "down" }, `nobody ${count - owned}`));
}

function moving() {
  const box = one("#moving"), text = JSON.stringify(state.moving);
  if (box.dataset.shown === text) return;
  box.dataset.shown = text;
  box.replaceChildren(...state.moving.map((m) => {
    const slot = String(m.slot);
    return make("p", { class: "row" }, `Slot ${slot}: ${m.from || "?"} → ${m.to || "?"}, ${m.left} keys left, ${m.done} moved`,
      make("button", { type: "button", words: [["migrate-keys", slot, "1"]] }, "Move one key"),
      make("button", { type: "button", words: [["migrate-finish", slot]] }, "Finish"),
      make("button", { type: "button", words: [["migrate-abort", slot]] }, "Abort"));
  }));
}

function say() {
  const owner = owners[chosen] || "nobody", hot = state?.hot.find((h) => h.slot === chosen), move = state?.moving.find((m) => m.slot === chosen);
  const text = `Slot ${chosen}: ${owner}` + (move ? `, moving from ${move.from} to ${move.to}` : "") + (hot ? `, ${rate(hot.ops)} commands/s` : "")
    + (range ? ` — ${range[1] - range[0] + 1} slots chosen, ${range.join("–")}` : "");
  put(one("#slot-said"), text);
  canvas.setAttribute("aria-valuenow", chosen);
  canvas.setAttribute("aria-valuetext", text);
}

function choose(slot, extend) {
  if (extend) {
    const anchor = range ? (chosen === range[0] ? range[1] : range[0]) : chosen;
    range = [Math.min(anchor, slot), Math.max(anchor, slot)];
    onRange(...range);
  } else range = null;
  chosen = slot;
  marked = null;
  draw();
  say();
}

function slotAt(event) {
  const box = canvas.getBoundingClientRect();
  const clamp = (n) => Math.max(0, Math.min(side - 1, Math.floor(n * side)));
  return clamp((event.clientY - box.top) / box.height) * side + clamp((event.clientX - box.left) / box.width);
}

let pressed = null;
canvas.addEventListener("pointerdown", (event) => {
  pressed = slotAt(event);
  canvas.setPointerCapture(event.pointerId);
  choose(pressed, event.shiftKey);
});
canvas.addEventListener("pointermove", (event) => {
  const slot = slotAt(event);
  if (pressed === null) { canvas.title = `slot ${slot}: ${owners[slot] || "nobody"}`; return; }
  if (slot === pressed && !range) return;
  range = [Math.min(pressed, slot), Math.max(pressed, slot)];
  chosen = slot;
  draw();
  say();
});
canvas.addEventListener("pointerup", (event) => {
  if (pressed !== null && range) onRange(...range);
  else if (pressed !== null && !event.shiftKey) onChosen(chosen);
  pressed = null;
});
canvas.addEventListener("keydown", (event) => {
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -side, ArrowDown: side, PageUp: -side * 8, PageDown: side * 8, Home: -count, End: count };
  if (event.key === "Enter") onChosen(chosen);
  else if (event.key in steps) choose(Math.max(0, Math.min(count - 1, chosen + steps[event.key])), event.shiftKey);
  else return;
  event.preventDefault();
});
canvas.addEventListener("focus", draw);
canvas.addEventListener("blur", draw);
new ResizeObserver(draw).observe(canvas);
addEventListener("themed", draw);
