/** Scales: `at` maps a value to 0..1 along an axis, `ticks` are the values written beside it. */
function linearScale(high) {
  const step = niceStep(high / 4);
  const ticks = Array.from({ length: Math.floor(high / step + 1e-9) + 1 }, (_, i) => i * step);
  return { at: (value) => value / (high || 1), ticks };
}
function niceStep(size) {
  const power = 10 ** Math.floor(Math.log10(size || 1));
  return power * ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= size) ?? 10);
}
/** Whole powers of ten around all `values` over 0; with `zero`, 0 has a place of its own at the start. */
function logScale(values, zero = false) {
  const positive = values.filter((value) => value > 0);
  const low = Math.floor(Math.log10(Math.min(...positive)) + 1e-9);
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...positive)) - 1e-9));
  const gap = zero ? 0.1 : 0;
  const at = (value) => (value > 0 ? gap + (1 - gap) * ((Math.log10(value) - low) / (high - low)) : 0);
  const ticks = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
  return { at, ticks: zero ? [0, ...ticks] : ticks };
}

const PLOT = { width: 600, height: 320, left: 64, right: 16, top: 26, bottom: 44 };
/** A drawing area with both axes, their titles and ticks. `x`, `y`: scale, title, text of a tick. */
function plot(label, x, y) {
  const { width, height, left, right, top, bottom } = PLOT;
  const px = (value) => left + x.scale.at(value) * (width - left - right);
  const py = (value) => height - bottom - y.scale.at(value) * (height - top - bottom);
  const lines = y.scale.ticks.flatMap((value) => [
    svg("line", { class: "grid", x1: left, x2: width - right, y1: py(value), y2: py(value) }),
    svg("text", { x: left - 6, y: py(value) + 4, "text-anchor": "end" }, y.text(value))]);
  const below = x.scale.ticks.flatMap((value) => [
    svg("line", { class: "grid", x1: px(value), x2: px(value), y1: height - bottom, y2: height - bottom + 5 }),
    svg("text", { x: px(value), y: height - bottom + 18, "text-anchor": "middle" }, x.text(value))]);
  const node = svg("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", tabindex: 0,
    "aria-label": `${label}; arrow keys read single points` }, ...lines, ...below,
    svg("text", { x: 4, y: 14, class: "axis" }, y.title),
    svg("text", { x: width - right, y: height - 6, "text-anchor": "end", class: "axis" }, x.title));
  return { node, px, py };
}

/** Lets pointer and arrow keys read a plot's points: [{x, y, text}] in its own coordinates. */
function readable(node, points) {
  if (points.length === 0) return node;
  const sorted = [...points].sort((a, b) => a.x - b.x || a.y - b.y);
  const here = svg("circle", { class: "here", r: 7, visibility: "hidden" });
  node.append(here);
  let at = -1;
  const show = (index) => {
    at = index;
    const { x, y, text } = sorted[index];
    here.setAttribute("cx", x);
    here.setAttribute("cy", y);
    here.setAttribute("visibility", "visible");
    const seen = new DOMPoint(x, y).matrixTransform(node.getScreenCTM());
    showTip(text, seen.x, seen.y);
  };
  const hide = () => {
    here.setAttribute("visibility", "hidden");
    hideTip();
  };
  node.addEventListener("pointermove", (event) => {
    const p = new DOMPoint(event.clientX, event.clientY).matrixTransform(node.getScreenCTM().inverse());
    const far = sorted.map(({ x, y, near }) => (near === "x" ? Math.abs(x - p.x) : Math.hypot(x - p.x, y - p.y)));
    const nearest = far.indexOf(Math.min(...far));
    if (far[nearest] < 30) show(nearest);
    else hide();
  });
  node.addEventListener("pointerleave", hide);
  node.addEventListener("blur", hide);
  node.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    show(Math.max(0, Math.min(sorted.length - 1, at + step)));
  });
  return node;
}

/** A list of colours with their words. */
function keyList(label, entries) {
  return el("ul", { class: "legend", "aria-label": label }, ...entries.map(([word, colour]) =>
    el("li", {}, el("span", { class: "swatch", style: `background:${colour}` }), word)));
}
function originMark(origin) {
  return el("span", { class: `origin ${origin}` }, origin);
}
