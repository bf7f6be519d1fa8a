// The forms that steer, and the faults at work.

import { get } from "./api.js";
import { make, one, put } from "./dom.js";
import { form } from "./terminal.js";

form(one("#move"), (f, submitter) => {
  if (!f.slots.value || !f.to.value) return undefined;
  return [[submitter?.name === "begin" ? "migrate" : "move", f.slots.value.replaceAll(" ", ""), f.to.value]];
});

form(one("#fault"), (f) => {
  const on = ["command", "key", "node", "client", "times", "chance"].flatMap((name) => (f[name].value ? [name, f[name].value.trim()] : []));
  const value = f.value.value.trim();
  const action = { delay: ["delay", value], error: ["error", value], truncate: ["truncate", value], trickle: ["trickle", ...value.split(/\s+/)] }[f.action.value] || [f.action.value];
  return [["fault", ...(on.length ? ["on", ...on] : []), ...action]];
});

const values = { error: ["Text", "OOM"], delay: ["Time", "200ms"], truncate: ["Bytes", "3"], trickle: ["Bytes, pause", "1 10ms"] };
one("#fault").action.addEventListener("change", (event) => {
  const [label, value] = values[event.target.value] || [];
  const field = one("#fault-value");
  field.hidden = !label;
  if (!label) return;
  field.firstChild.textContent = `${label} `;
  one("input", field).value = value;
});

form(one("#advance"), (f) => (f.by.value ? [["clock", "advance", f.by.value.trim()]] : undefined));
form(one("#any"), (f) => [[f.verb.value, ...f.words.value.trim().split(/\s+/).filter(Boolean)]]);

// choose puts a range of slots into the form that moves them.
export function choose(first, last) {
  const field = one("#move").slots;
  field.value = first === last ? first : `${first}-${last}`;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

export function show(state) {
  const box = one("#faults"), text = JSON.stringify(state.faults);
  if (box.dataset.shown === text) return;
  box.dataset.shown = text;
  box.replaceChildren(...state.faults.map((f) => make("p", { class: "row" }, make("code", {}, `fault ${f.text}`), ` struck ${f.hits} times`,
    make("button", { type: "button", "aria-label": `Remove fault ${f.number}`, words: [["fault-remove", String(f.number)]] }, "Remove"))));
}

export async function begin() {
  const verbs = await get("/api/v1/verbs"), select = one("#any").verb;
  select.replaceChildren(...verbs.map((v) => make("option", {}, v.name)));
  const explain = () => {
    const v = verbs.find((known) => known.name === select.value);
    put(one("#usage"), `${v.name} ${v.usage} — ${v.help}`);
  };
  select.addEventListener("change", explain);
  explain();
}
