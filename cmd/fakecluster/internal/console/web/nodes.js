// The table of nodes, and the lists of them in forms.

import { bytes, make, one, put, rate, swatch } from "./dom.js";

const body = one("#nodes tbody"), rows = new Map();
const columns = ["Role", "State", "Slots", "Epoch", "Offset", "Lag", "Keys", "Memory", "Clients", "Ops/s"];
const textual = 2; // of the columns

function rowOf(node) {
  let row = rows.get(node.name);
  if (row) return row;
  const cells = columns.map((label, i) => make("td", { "data-label": label, class: i < textual ? "" : "number" }));
  const button = (cls) => make("button", { type: "button", class: cls });
  const actions = { failover: button(), life: button(), freeze: button(), remove: button("grave") };
  const name = make("th", { scope: "row" }, swatch(node.name), node.name, make("span", { class: "hint" }));
  row = { element: make("tr", { "data-node": node.name }, name, ...cells, make("td", { class: "actions" }, ...Object.values(actions))), cells, actions, addr: one(".hint", name) };
  rows.set(node.name, row);
  body.append(row.element);
  return row;
}

function offer(button, label, words, wanted = true) {
  put(button, label);
  button.hidden = !wanted;
  const text = JSON.stringify([words]);
  if (button.dataset.words !== text) {
    button.dataset.words = text;
    button.setAttribute("aria-label", `${label} ${words[1] || ""}`.trim());
  }
}

export function show(state) {
  for (const node of state.nodes) {
    const { element, cells, actions, addr } = rowOf(node);
    put(addr, ` ${node.addr}`);
    element.title = node.id;
    element.className = node.state === "down" ? "dead" : "";
    const replicas = state.nodes.filter((n) => n.master === node.name).length;
    put(cells[0], node.role + (node.master ? ` of ${node.master}` : ""));
    const seen = node.failed_by.length ? `, failed for ${node.failed_by.join(" ")}` : node.suspects.length ? `, suspected by ${node.suspects.join(" ")}` : "";
    put(cells[1], node.state + seen + (node.link === "down" ? ", link down" : ""));
    cells[1].className = node.failed_by.length ? "down" : node.state;
    put(cells[2], node.slots.toLocaleString("en"));
    cells[2].title = node.ranges.join(" ");
    const figures = [node.epoch, node.offset.toLocaleString("en"), node.master ? bytes(node.lag) : "–", node.keys.toLocaleString("en"), bytes(node.memory), node.clients, rate(node.ops)];
    figures.forEach((figure, i) => put(cells[i + 3], figure));
    offer(actions.failover, "Fail over", ["failover", node.name], !state.standalone && (node.role === "replica" || replicas > 0));
    if (node.state === "down") offer(actions.life, "Restart", ["restart", node.name]);
    else offer(actions.life, "Kill", ["kill", node.name]);
    if (node.state === "paused") offer(actions.freeze, "Resume", ["resume", node.name]);
    else offer(actions.freeze, "Pause", ["pause", node.name], node.state !== "down");
    offer(actions.remove, "Remove", ["remove", node.name], !state.standalone && node.slots === 0 && node.role === "master" && state.nodes.length > 1);
  }
  for (const [name, row] of rows) {
    if (state.nodes.some((n) => n.name === name)) continue;
    row.element.remove();
    rows.delete(name);
  }
  lists(state.nodes);
}

// lists fills every <select data-nodes> and the one of views.
function lists(nodes) {
  for (const select of document.querySelectorAll("select[data-nodes], #view")) {
    const master = select.dataset.nodes === "master";
    const names = nodes.filter((n) => !master || n.role === "master").map((n) => n.name);
    if (!master) names.unshift("");
    if (select.dataset.shown === names.join()) continue;
    select.dataset.shown = names.join();
    const before = select.value;
    select.replaceChildren(...names.map((name) => make("option", { value: name }, name || (select.id === "view" ? "all" : "any"))));
    select.value = names.includes(before) ? before : names[0] ?? "";
  }
}
