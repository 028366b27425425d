"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const PATHS = ["input", "weight"];

/** An element with attributes and children; functions become listeners. */
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== ""));
  return node;
}
function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}
function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** A number with its unit, as the other formats write it. */
function numberText(value, unit) {
  if (value === null || value === undefined) return "not known";
  if (unit === "bytes") return bytesText(value);
  if (unit === "bytes/s") return `${bytesText(value)}/s`;
  if (unit === "FLOP/s") return `${numberText(value / 1e9, "")} GFLOP/s`;
  if (unit === "count") return String(Math.round(value));
  if (unit === "share") return numberText(100 * value, "%");
  const size = Math.abs(value);
  const text =
    size !== 0 && size < 1e-3 ? value.toExponential(2)
    : size >= 999.5 && size < 1e9 ? String(Math.round(value))
    : String(Number(value.toPrecision(3)));
  if (unit === "ratio") return `${text}x`;
  return unit === "" ? text : `${text} ${unit}`;
}
function bytesText(value) {
  const prefixes = ["", "k", "M", "G", "T"];
  let step = 0;
  while (Math.abs(value) >= 999.5 && step + 1 < prefixes.length) {
    value /= 1000;
    step += 1;
  }
  const digits = step === 0 || Math.abs(value) >= 99.95 ? 0 : Math.abs(value) >= 9.995 ? 1 : 2;
  return `${value.toFixed(digits)} ${prefixes[step]}B`;
}

/** The metric called `name` among a list's, or undefined: {value, unit, origin, half}. */
function metric(list, name) {
  const found = (list ?? []).find(([index]) => data.metrics[index][0] === name);
  return found && named(found);
}
function named([index, value, origin, half]) {
  const [name, unit, meaning] = data.metrics[index];
  return { name, unit, meaning, value, origin: data.origins[origin], half };
}

/** A table of metrics with value, interval and origin. */
function metricTable(list) {
  const rows = list.map(named).map((m) =>
    el("tr", { title: m.meaning },
      el("th", { scope: "row" }, m.name),
      el("td", { class: "number" }, numberText(m.value, m.unit)),
      el("td", { class: "number" }, m.half === undefined ? "" : `± ${numberText(m.half, m.unit)}`),
      el("td", {}, el("span", { class: `origin ${m.origin}` }, m.origin))));
  return el("table", {}, el("tbody", {}, ...rows));
}

const tip = document.getElementById("tip");
/** Shows text beside a point of the window. */
function showTip(text, x, y) {
  tip.textContent = text;
  tip.hidden = false;
  tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.max(4, Math.min(y + 14, innerHeight - tip.offsetHeight - 8))}px`;
}
function hideTip() {
  tip.hidden = true;
}

/** The element that a section leaves for a drawing, or null. */
function place(name) {
  return document.querySelector(`[data-draw="${name}"]`);
}
