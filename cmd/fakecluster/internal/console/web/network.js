// Partitions: nodes are put on sides, and the ways between the sides cut.

import { make, one, put, swatch } from "./dom.js";
import { preview } from "./terminal.js";

const sides = one("#sides"), letters = "ABCDEFGH";
let where = new Map(), nodes = [], touched = false, cutNow = false, drawn = "";

export function show(state) {
  one("#network").hidden = state.standalone;
  nodes = state.nodes.map((n) => n.name);
  cutNow = state.nodes.some((n) => n.cut.length > 0);
  const actual = sidesOf(state.nodes);
  if (sameSides(actual)) touched = false;
  if (!touched) where = actual;
  for (const name of nodes) if (!where.has(name)) where.set(name, 0);
  put(one("#cuts"), told(state.nodes));
  draw();
}

// sidesOf puts those together that can hear each other.
function sidesOf(list) {
  const found = new Map(), heads = [];
  for (const n of list) {
    let i = heads.findIndex((h) => !n.cut.includes(h.name) && !h.cut.includes(n.name));
    if (i < 0) i = heads.push(n) - 1;
    found.set(n.name, Math.min(i, letters.length - 1));
  }
  return found;
}

const sameSides = (other) => JSON.stringify(groups(other)) === JSON.stringify(groups(where));

function groups(map) {
  const list = letters.split("").map((_, i) => nodes.filter((name) => (map.get(name) ?? 0) === i)).filter((g) => g.length > 0);
  return list.sort((a, b) => nodes.indexOf(a[0]) - nodes.indexOf(b[0]));
}

function told(list) {
  const cut = list.filter((n) => n.cut.length > 0);
  if (cut.length === 0) return "All nodes hear each other.";
  return cut.map((n) => `${n.name} is not heard by ${n.cut.join(", ")}`).join("; ") + ".";
}

// commands are what brings the sides about: nothing is cut that was before.
function commands() {
  const parts = groups(where);
  const words = parts.flatMap((g, i) => (i ? ["|", g.join(",")] : [g.join(",")]));
  if (parts.length < 2) return [["heal"]];
  return cutNow ? [["heal"], ["partition", ...words]] : [["partition", ...words]];
}

function draw() {
  const used = Math.max(1, ...nodes.map((n) => where.get(n)));
  const shown = Math.min(letters.length, Math.max(2, used + 1 + (nodes.length > 2 && nodes.some((n) => where.get(n) === used) ? 1 : 0)));
  const picture = JSON.stringify([shown, nodes, [...where], cutNow]);
  if (picture === drawn) return;
  drawn = picture;
  const focused = document.activeElement?.dataset?.chip;
  sides.replaceChildren(...letters.slice(0, shown).split("").map((letter, i) => make("div", { class: "side", "data-side": i, role: "group", "aria-label": `Side ${letter}` },
    make("h3", {}, `Side ${letter}`), ...nodes.filter((n) => where.get(n) === i).map(chip))));
  if (focused) one(`[data-chip="${focused}"]`)?.focus();
  const cut = one("#cut");
  cut.dataset.words = JSON.stringify(commands());
  cut.disabled = groups(where).length < 2 && !cutNow;
}

function move(name, to) {
  const target = Math.max(0, Math.min(letters.length - 1, to));
  where.set(name, target);
  touched = true;
  draw();
  preview(commands());
}

function chip(name) {
  const at = where.get(name);
  const button = make("button", { type: "button", class: "chip", "data-chip": name, "aria-label": `${name} on side ${letters[at]}; arrow keys move it` }, swatch(name), name);
  button.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    move(name, at + step);
  });
  button.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    button.focus();
    drag(button, name, event);
  });
  return button;
}

// drag follows the pointer until it lets go, over a side or elsewhere.
function drag(button, name, start) {
  const sideUnder = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest(".side");
  const follow = (event) => {
    button.classList.add("dragged");
    button.style.transform = `translate(${event.clientX - start.clientX}px, ${event.clientY - start.clientY}px)`;
    for (const side of sides.children) side.classList.toggle("over", side === sideUnder(event));
  };
  const drop = (event) => {
    removeEventListener("pointermove", follow);
    const side = event.type === "pointerup" && sideUnder(event);
    button.classList.remove("dragged");
    button.style.transform = "";
    for (const s of sides.children) s.classList.remove("over");
    if (side && Number(side.dataset.side) !== where.get(name)) move(name, Number(side.dataset.side));
  };
  addEventListener("pointermove", follow);
  addEventListener("pointerup", drop, { once: true });
}
