// The API: requests, the token, and the stream of events.

import { one } from "./dom.js";

if (location.hash.startsWith("#token=")) {
  sessionStorage.setItem("token", decodeURIComponent(location.hash.slice(7)));
  history.replaceState(null, "", location.pathname);
}

function headers(more = {}) {
  const token = sessionStorage.getItem("token");
  return token ? { ...more, Authorization: `Bearer ${token}` } : more;
}

let asked; // the answer to the question for the token, while it is open

function askToken() {
  const dialog = one("#ask");
  asked ??= new Promise((resolve) => {
    dialog.showModal();
    dialog.addEventListener("close", () => {
      sessionStorage.setItem("token", one("input", dialog).value);
      asked = undefined;
      resolve();
    }, { once: true });
  });
  return asked;
}

async function request(path, options = {}) {
  const response = await fetch(path, { ...options, headers: headers(options.headers) });
  if (response.status === 401) {
    await askToken();
    return request(path, options);
  }
  if (!response.ok) {
    const problem = await response.json().catch(() => ({ detail: response.statusText }));
    throw new Error(problem.detail || problem.title);
  }
  return response;
}

export const get = async (path, query = {}) => (await request(`${path}?${new URLSearchParams(query)}`)).json();
export const follow = async (href) => (await request(href)).json();
export const verb = async ([name, ...args]) => (await request(`/api/v1/verbs/${encodeURIComponent(name)}`, {
  method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ args }),
})).json();

// stream hands over events until it is stopped, and connects again when the
// connection is lost. EventSource cannot send the token.
export function stream(query, heard, told) {
  const stop = new AbortController();
  (async () => {
    while (!stop.signal.aborted) {
      try {
        const response = await request(`/api/v1/events?${new URLSearchParams(query)}`, { signal: stop.signal });
        told(true);
        await read(response.body.pipeThrough(new TextDecoderStream()).getReader(), heard);
      } catch (error) {
        if (stop.signal.aborted) return;
        console.warn(error);
      }
      if (stop.signal.aborted) return;
      told(false);
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  })();
  return () => stop.abort();
}

async function read(reader, heard) {
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events) {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/s.exec(event) || [];
      if (name) heard(name, JSON.parse(data));
    }
  }
}
