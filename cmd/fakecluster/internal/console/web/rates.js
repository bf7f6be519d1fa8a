// Rates as figures and as charts of the last minutes.

import { make, one, put, rate } from "./dom.js";

const shown = 60, kept = 90; // seconds, and samples that they may have
const kinds = [
  ["commands", "Commands", "#2f7ed8"], ["moved", "MOVED", "#d9822b"], ["ask", "ASK", "#c9a400"], ["tryagain", "TRYAGAIN", "#1ba7b5"],
  ["crossslot", "CROSSSLOT", "#a356c4"], ["clusterdown", "CLUSTERDOWN", "#d2527f"], ["other", "Other errors", "#8a6d4b"],
];
const times = [], series = kinds.map(() => []);
const figures = kinds.map(([, label, colour]) => {
  const value = make("dd", {}, "0"), box = make("div", {}, make("dt", {}, label), value);
  box.style.borderColor = colour;
  one("#figures").append(box);
  return value;
});
let charts = [];

export function show(state) {
  times.push(Date.now() / 1000);
  kinds.forEach(([name], i) => {
    series[i].push(state.rates[name]);
    put(figures[i], rate(state.rates[name]));
  });
  if (times.length > kept) for (const list of [times, ...series]) list.shift();
  if (charts.length === 0) build();
  else fill();
}

function fill() {
  charts[0].setData([times, series[0]]);
  charts[1].setData([times, ...series.slice(1)]);
}

function build() {
  for (const old of charts) old.destroy();
  charts = [chart("#chart-commands", kinds.slice(0, 1)), chart("#chart-errors", kinds.slice(1))];
  fill();
}

function chart(selector, lines) {
  const box = one(selector), ink = getComputedStyle(box).color;
  const axis = { stroke: ink, grid: { stroke: `color-mix(in srgb, ${ink} 15%, transparent)`, width: 1 }, ticks: { show: false } };
  return new uPlot({
    width: box.clientWidth || 300, height: 150, cursor: { drag: { x: false } }, legend: { show: false },
    scales: { x: { range: (_, __, max) => [max - shown, max] }, y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
    axes: [{ ...axis, size: 28, space: 90, values: (_, at) => at.map((s) => new Date(s * 1000).toLocaleTimeString("en-GB")) }, { ...axis, size: 56 }],
    series: [{}, ...lines.map(([, label, stroke]) => ({ label, stroke, width: 2, points: { show: false } }))],
  }, [[], ...lines.map(() => [])], box);
}

new ResizeObserver(() => {
  for (const c of charts) if (c.root.parentElement.clientWidth) c.setSize({ width: c.root.parentElement.clientWidth, height: 150 });
}).observe(one("#rates"));
addEventListener("themed", () => { if (charts.length) build(); });
