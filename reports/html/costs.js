/** Colours that stay apart for the colour-blind (Okabe and Ito's), and grey for the rest. */
const GROUP_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800"];
const REST_COLOUR = "#8b93a1";

/** The last part of a layer's name, which says its part in a block: qkv, fc1, conv2 … */
function groupOf(name) {
  return name.split(".").filter((part) => !/^\d+$/.test(part)).at(-1) ?? name;
}

/** Colours by group, for the groups that have most of the work; the same in every chart. */
function groupColours() {
  const weight = new Map();
  for (const layer of data.layers.filter(({ verified }) => verified?.metrics.length)) {
    const flops = layer.paths.reduce((sum, path) => sum + path.flops, 0);
    weight.set(groupOf(layer.name), (weight.get(groupOf(layer.name)) ?? 0) + flops);
  }
  const order = [...weight].sort((a, b) => b[1] - a[1]).map(([group]) => group);
  return new Map(order.map((group, i) => [group, GROUP_COLOURS[i] ?? REST_COLOUR]));
}

/** Layers that have both metrics of a verification. */
function costsOf(beforeName, afterName) {
  return data.layers.flatMap((layer) => {
    const before = metric(layer.verified?.metrics, beforeName);
    const after = metric(layer.verified?.metrics, afterName);
    if (!before || !after) return [];
    return [{ name: layer.name, group: groupOf(layer.name), before: before.value, after: after.value,
      unit: before.unit, origin: after.origin }];
  });
}

function bar(items, key, whole, y, colours) {
  let x = 0;
  return items.map((item) => {
    const width = (100 * item[key]) / whole;
    const rect = svg("rect", { x: `${x}%`, y, width: `${width}%`, height: 26, style: `fill:${colours.get(item.group)}`,
      pointermove: (event) => showTip(`${item.name}\nexact ${numberText(item.before, item.unit)}, ` +
        `plan ${numberText(item.after, item.unit)} (${item.origin})`, event.clientX, event.clientY),
      pointerleave: hideTip });
    x += width;
    return rect;
  });
}

/** Two bars, exact above plan, a piece a layer in the order of the model. */
function stacked(title, beforeName, afterName, remark) {
  const items = costsOf(beforeName, afterName);
  if (items.length === 0) return null;
  const sum = (key) => items.reduce((total, item) => total + item[key], 0);
  const [before, after] = [sum("before"), sum("after")];
  const whole = Math.max(before, after);
  if (whole <= 0) return null;
  const colours = groupColours();
  const { unit, origin } = items[0];
  const chart = svg("svg", { class: "bars", role: "img",
    "aria-label": `${title}: exact ${numberText(before, unit)}, plan ${numberText(after, unit)}` },
    ...bar(items, "before", whole, 4, colours), ...bar(items, "after", whole, 40, colours));
  const shown = [...colours].filter(([, colour]) => colour !== REST_COLOUR);
  const rest = colours.size > shown.length ? [["others", REST_COLOUR]] : [];
  const keys = [...shown, ...rest].map(([group, colour]) =>
    el("li", {}, el("span", { class: "swatch", style: `background:${colour}` }), group));
  return el("div", {}, el("h3", {}, title),
    el("p", {}, `Above exact, ${numberText(before, unit)}; below the plan, ${numberText(after, unit)} `,
      el("span", { class: `origin ${origin}` }, origin), `. ${remark}`),
    chart, el("ul", { class: "legend", "aria-label": "layers by the last part of their name" }, ...keys));
}

/** "; the whole model: 2.58 MB → 1.91 MB", where that isn't what the layers add up to. */
function totalText(beforeName, afterName) {
  const [before, after] = [metric(data.total, beforeName), metric(data.total, afterName)];
  if (!before || !after) return "";
  const sum = costsOf(beforeName, afterName).reduce((total, item) => total + item.before, 0);
  if (Math.abs(sum - before.value) < 0.005 * before.value) return "";
  return `; the whole model: ${numberText(before.value, before.unit)} → ${numberText(after.value, after.unit)}`;
}

function drawCosts(target) {
  const charts = [
    stacked("Time of the backward products", "exact ms", "plan ms",
      `The sum of the planned layers' products${totalText("exact ms", "plan ms")}.`),
    stacked("Kept for the backward pass", "saved bytes exact", "saved bytes plan",
      `What the planned layers keep${totalText("saved bytes exact", "saved bytes plan")}.`),
  ].filter(Boolean);
  target.append(...(charts.length ? charts : [el("p", { class: "quiet" }, "No layer was timed.")]));
}
