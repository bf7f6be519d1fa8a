// Keys: where one belongs, and which there are.

import { follow, get } from "./api.js";
import { make, marked, one, put, span } from "./dom.js";
import * as map from "./slots.js";

const answer = one("#answer"), body = one("#keys tbody"), browse = one("#browse"), more = one("#more");
let page = {}, standalone = false;

export function show(state) { standalone = state.standalone; }

let wait, asked = 0;
one("#lookup").addEventListener("submit", (event) => { event.preventDefault(); which(); });
one("#key").addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(which, 120); });

// which tells where the key in the field belongs.
async function which() {
  const name = one("#key").value, turn = ++asked;
  if (!name) { answer.replaceChildren("Type a key."); map.mark(null); return; }
  const [key] = await get("/api/v1/key", { key: name });
  if (turn !== asked) return; // another was typed meanwhile
  const owner = key.owner ? `node ${key.owner}` : "no node that runs";
  const place = standalone ? [] : [" is in ", make("strong", { "data-slot": key.slot }, `slot ${key.slot}`), " of ", make("strong", { "data-owner": key.owner }, owner)];
  const what = key.type === "none" ? "; there is no such key." : `; a ${key.type}${key.node !== key.owner ? `, already on ${key.node}` : ""}${key.ttl_ms >= 0 ? ` for ${span(key.ttl_ms)}` : ""}. `;
  const tag = key.tag ? [" Only the hash tag ", make("mark", {}, marked(key)[1].textContent), " counts."] : [];
  answer.replaceChildren(make("code", {}, ...marked(key)), ...place, what, ...tag);
  if (key.type !== "none") answer.append(" ", make("button", { type: "button", class: "link", onclick: () => open(key.href) }, "Show its value"));
  if (!standalone) map.mark(key.slot);
}

browse.addEventListener("submit", (event) => { event.preventDefault(); find(); });
browse.by.addEventListener("change", () => {
  put(one("#by-what"), { match: "Pattern", tag: "Tag", slot: "Slot" }[browse.by.value]);
  browse.what.placeholder = { match: "*", tag: "user:42", slot: "0" }[browse.by.value];
});
more.addEventListener("click", () => find(page.cursor));

// bySlot shows the keys of a slot.
export function bySlot(slot) {
  browse.by.value = "slot";
  browse.by.dispatchEvent(new Event("change"));
  browse.what.value = slot;
  find();
}

async function find(cursor = "") {
  const what = browse.what.value.trim(), kind = browse.by.value, filter = { type: browse.type.value, ttl: browse.ttl.value };
  try {
    if (kind === "slot") page = await get(`/api/v1/slots/${encodeURIComponent(what || "0")}`, filter);
    else if (kind === "tag") page = await get("/api/v1/keys", { ...filter, tag: what.replace(/^\{|\}$/g, "") });
    else page = await get("/api/v1/keys", { ...filter, match: what === "*" ? "" : what, cursor });
  } catch (error) {
    put(one("#found"), error.message);
    return;
  }
  if (!cursor) body.replaceChildren();
  body.append(...page.keys.map(row));
  more.hidden = !page.cursor;
  put(one("#found"), body.children.length === 0 ? "no keys" : `${body.children.length} keys${page.cursor ? " so far" : ""}`);
}

function row(key) {
  return make("tr", {}, make("td", {}, make("button", { type: "button", class: "link mono", onclick: () => open(key.href) }, ...marked(key))),
    make("td", {}, key.type), make("td", {}, key.slot), make("td", {}, key.node || "–"), make("td", {}, span(key.ttl_ms)));
}

// open shows a value.
async function open(href) {
  const [key] = await follow(href), box = one("#value");
  const facts = [key.type, key.encoding, key.type === "string" ? `${key.length} bytes` : `${key.length} elements`, `slot ${key.slot}`, key.node, key.ttl_ms < 0 ? "does not expire" : `expires in ${span(key.ttl_ms)}`];
  box.replaceChildren(make("h3", { class: "mono" }, ...marked(key)));
  if (key.type === "none") { box.append(make("p", {}, "is not there any more")); return; }
  const head = make("tr", {}, ...(key.columns || []).map((c) => make("th", { scope: "col" }, c)));
  box.append(make("p", {}, facts.filter(Boolean).join(", ")), make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Value" },
    make("table", {}, make("thead", {}, head), make("tbody", {}, ...(key.rows || []).map((cells) => make("tr", {}, ...cells.map((c) => make("td", { class: "mono" }, c))))))));
  if ((key.rows || []).length < key.length && key.type !== "string") box.append(make("p", { class: "hint" }, `the first ${key.rows.length} of ${key.length}`));
  box.scrollIntoView({ block: "nearest" });
}
