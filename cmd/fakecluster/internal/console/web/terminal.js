// The line at the bottom: what a button does, as a command and done.
//
// Whatever has data-words, a list of verbs with their words, is a button of
// this kind.

import { verb } from "./api.js";
import { one, put } from "./dom.js";

let ctl = "fakecluster ctl";

export function setCtl(line) { ctl = line; }

function quote(word) {
  return /^[A-Za-z0-9\-_=+:,./@%]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export const line = (commands) => commands.map((words) => [ctl, ...words.map(quote)].join(" ")).join(" && ");

export function preview(commands) { put(one("#line"), line(commands)); }

// run does verbs one after the other and says what they answered.
export async function run(commands) {
  preview(commands);
  const said = one("#said");
  said.className = "";
  put(said, "…");
  try {
    const answers = [];
    for (const words of commands) answers.push((await verb(words)).text);
    put(said, answers.filter((a, i) => a !== "OK" || i === answers.length - 1).join("\n"));
    return answers;
  } catch (error) {
    said.className = "failed";
    put(said, error.message);
    return undefined;
  }
}

const wordsOf = (event) => {
  const button = event.target.closest?.("[data-words]");
  return button && !button.disabled && JSON.parse(button.dataset.words);
};

for (const kind of ["pointerover", "focusin"]) {
  document.addEventListener(kind, (event) => { const words = wordsOf(event); if (words) preview(words); });
}
document.addEventListener("click", (event) => { const words = wordsOf(event); if (words) run(words); });
one("#copy").addEventListener("click", () => navigator.clipboard?.writeText(one("#line").textContent));

// form makes a form do what wordsOf says of its fields, and show it before.
export function form(element, wordsOf) {
  const show = (event) => { const words = wordsOf(element, event?.submitter); if (words) preview(words); };
  element.addEventListener("input", () => show());
  element.addEventListener("focusin", (event) => { if (!event.target.dataset.words) show(); });
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    const words = wordsOf(element, event.submitter);
    if (words) run(words);
  });
}
