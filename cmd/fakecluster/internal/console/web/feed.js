// What clients sent lately.

import { make, one, put } from "./dom.js";

const kept = 200; // rows
const body = one("#feed tbody"), filter = one("#filter"), record = one("#record");
let onSlot = () => {}, held = [];

// query is what the stream is asked to let through.
export function query() {
  const fields = new FormData(filter);
  return Object.fromEntries(["node", "verdict", "command", "client"].map((name) => [name, fields.get(name)]).filter(([, value]) => value));
}

export function listen(changed, slotChosen) {
  onSlot = slotChosen;
  let wait;
  filter.addEventListener("submit", (event) => event.preventDefault());
  filter.addEventListener("input", (event) => {
    if (event.target.name === "hold") {
      if (!event.target.checked) add(held.splice(0));
      return;
    }
    clearTimeout(wait);
    wait = setTimeout(changed, 250);
  });
}

export function clear() { body.replaceChildren(); held = []; }

export function show(state) {
  put(record, state.recording ? "Stop recording" : "Record");
  record.dataset.words = JSON.stringify([["trace", state.recording ? "off" : "on"]]);
}

export function add(commands) {
  if (filter.hold.checked) {
    held = [...held, ...commands].slice(-kept);
    return;
  }
  body.prepend(...commands.reverse().map(row));
  while (body.children.length > kept) body.lastChild.remove();
}

const colour = (verdict) => (["serve", "blocked", "MOVED", "ASK", "TRYAGAIN"].includes(verdict) ? verdict : "refused");

function row(c) {
  const slot = c.slot < 0 ? "–" : make("button", { type: "button", class: "link", "aria-label": `slot ${c.slot}`, onclick: () => onSlot(c.slot) }, c.slot);
  const told = c.redirects > 0 ? `${c.verdict} ×${c.redirects}` : c.verdict;
  return make("tr", {}, make("td", {}, c.at.slice(11, 23)), make("td", {}, c.node), make("td", {}, slot),
    make("td", { class: colour(c.verdict) }, told), make("td", { class: "mono" }, c.text), make("td", { class: "number" }, c.us), make("td", {}, c.client));
}
