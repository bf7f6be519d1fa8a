// The page: it hands every state of the cluster to its parts.

import { get, stream } from "./api.js";
import { make, one, put } from "./dom.js";
import * as feed from "./feed.js";
import * as keys from "./keys.js";
import * as network from "./network.js";
import * as nodes from "./nodes.js";
import * as rates from "./rates.js";
import * as slots from "./slots.js";
import * as steer from "./steer.js";
import { preview, setCtl } from "./terminal.js";

const view = one("#view");
let stop = () => {};

function badge(selector, text, good) {
  const element = one(selector);
  put(element, text);
  element.className = `badge ${good ? "good" : "bad"}`;
}

function showState(state) {
  if (!one("#version").textContent) {
    setCtl(state.ctl);
    preview([["help"]]);
  }
  put(one("#version"), `Redis ${state.version}`);
  const down = state.nodes.filter((n) => n.state === "down").length;
  if (state.standalone) badge("#agree", "standalone", true);
  else badge("#agree", (state.agree ? "nodes agree" : "nodes disagree") + (down ? `, ${down} down` : ""), state.agree && !down);
  const ahead = state.ahead_ms >= 500 ? ` (+${Math.round(state.ahead_ms / 1000)} s)` : "";
  put(one("#clock"), state.now.slice(0, 19).replace("T", " ") + ahead);
  one("#steer").hidden = state.read_only;
  for (const part of [nodes, slots, rates, network, feed, keys, steer]) part.show(state);
  if (state.read_only) for (const button of document.querySelectorAll("[data-words]")) button.disabled = true;
}

function connect() {
  stop();
  feed.clear();
  const query = feed.query();
  if (view.value) query.view = view.value;
  stop = stream(query, (name, data) => (name === "state" ? showState(data) : feed.add(data)), (live) => badge("#live", live ? "live" : "reconnecting", live));
}

view.addEventListener("change", connect);
feed.listen(connect, (slot) => { slots.mark(slot); keys.bySlot(slot); });
slots.listen(keys.bySlot, steer.choose);

const stored = localStorage.getItem("theme");
if (stored) document.documentElement.dataset.theme = stored;
one("#theme").addEventListener("click", () => {
  const now = document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
  localStorage.setItem("theme", document.documentElement.dataset.theme);
  dispatchEvent(new Event("themed"));
});

// Clients are asked for only while their table is in sight.
let inSight = false;
new IntersectionObserver(([entry]) => { inSight = entry.isIntersecting; if (inSight) showClients(); }).observe(one("#clients"));
setInterval(() => { if (inSight && !document.hidden) showClients(); }, 2000);

async function showClients() {
  const { total, clients } = await get("/api/v1/clients", { limit: 100 });
  put(one("#clients-count"), `${total} connected` + (total > clients.length ? `, the first ${clients.length} shown` : ""));
  one("#clients tbody").replaceChildren(...clients.map((c) => make("tr", {},
    ...[c.node, c.addr, c.name || "–", c.library || "–", c.flags, c.command, `${c.age} s`, `${c.idle} s`].map((text) => make("td", {}, text)))));
}

connect();
steer.begin();
