/** Colours that stay apart for the colour-blind (Okabe and Ito's), and grey for the rest. */
const GROUP_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800"];
const REST_COLOUR = "#8b93a1";

/** The last part of a layer's name, which says its part in a block: qkv, fc1, conv2 … */
function groupOf(name) {
  return name.split(".").filter((part) => !/^\d+$/.test(part)).at(-1) ?? name;
}

/** Shares of the work and of the kept bytes by group: those with most get a colour, the same in every chart. */
const groupColours = (() => {
  let colours = null;
  return () => {
    if (colours !== null) return colours;
    const weight = new Map();
    const add = (pairs) => {
      const all = pairs.reduce((sum, [, amount]) => sum + amount, 0) || 1;
      for (const [name, amount] of pairs) weight.set(groupOf(name), (weight.get(groupOf(name)) ?? 0) + amount / all);
    };
    add(data.layers.map(({ name, paths }) => [name, paths.reduce((sum, path) => sum + path.flops, 0)]));
    add(data.memory ? data.memory.saved : data.layers.map(({ name, saved }) => [name, saved]));
    weight.delete("");
    const order = [...weight].sort((a, b) => b[1] - a[1]).map(([group]) => group);
    colours = new Map(order.slice(0, GROUP_COLOURS.length).map((group, i) => [group, GROUP_COLOURS[i]]));
    return colours;
  };
})();
function colourOfGroup(group) {
  return groupColours().get(group) ?? REST_COLOUR;
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

function bar(items, key, whole, y) {
  let x = 0;
  return items.map((item) => {
    const width = (100 * item[key]) / whole;
    const rect = svg("rect", { x: `${x}%`, y, width: `${width}%`, height: 26, style: `fill:${colourOfGroup(item.group)}`,
      pointermove: (event) => showTip(`${item.name}\nexact ${numberText(item.before, item.unit)}` +
        `${item.after === null ? "" : `, plan ${numberText(item.after, item.unit)}`} (${item.origin})`, event.clientX, event.clientY),
      pointerleave: hideTip });
    x += width;
    return rect;
  });
}

/** Two bars, exact above plan, a piece a layer in the order of the model; one where nothing was planned. */
function stackedBars(title, items, remark) {
  const sum = (key) => items.reduce((total, item) => total + (item[key] ?? 0), 0);
  const planned = items.some(({ after }) => after !== null);
  const [before, after] = [sum("before"), sum("after")];
  const whole = Math.max(before, after);
  if (items.length === 0 || whole <= 0) return null;
  const { unit, origin } = items[0];
  const plan = planned ? `; ${numberText(after, unit)} with the plan` : "";
  const chart = svg("svg", { class: planned ? "bars" : "bars one", role: "img",
    "aria-label": `${title}: exact ${numberText(before, unit)}${plan}` },
    ...bar(items, "before", whole, 4), ...(planned ? bar(items, "after", whole, 40) : []));
  const groups = new Set(items.map(({ group }) => group));
  const keys = [...groupColours()].filter(([group]) => groups.has(group));
  const rest = [...groups].some((group) => !groupColours().has(group)) ? [["all else", REST_COLOUR]] : [];
  return el("div", {}, el("h3", {}, title),
    el("p", {}, planned ? "Above " : "", `exact, ${numberText(before, unit)}`,
      planned ? `; below the plan, ${numberText(after, unit)} ` : " ", originMark(origin), `. ${remark}`),
    chart, keyList("layers by the last part of their name", [...keys, ...rest]));
}

/** "; a whole step: 12.1 ms → 10.3 ms", as it was timed. */
function stepText() {
  const [before, after] = [metric(data.total, "step exact ms"), metric(data.total, "step plan ms")];
  return before && after ? `; a whole step took ${numberText(before.value, "ms")} exact and ${numberText(after.value, "ms")} with the plan` : "";
}

/** What every module keeps for backward, from the observed steps; else what planned layers keep. */
function keptItems() {
  if (!data.memory?.plan) return costsOf("saved bytes exact", "saved bytes plan");
  return data.memory.saved.map(([name, before, after]) => ({ name: name || "outside modules", group: groupOf(name), before, after,
    unit: "bytes", origin: "measured" }));
}

function drawCosts(target) {
  const charts = [
    stackedBars("Backward of the planned layers", costsOf("exact ms", "plan ms"), `Each piece is a layer's products${stepText()}.`),
    stackedBars("Kept for the backward pass", keptItems(), data.memory?.plan
      ? "Each piece is what a module keeps, every storage once." : "What the planned layers keep."),
  ].filter(Boolean);
  target.append(...(charts.length ? charts : [el("p", { class: "quiet" }, "No layer was timed.")]));
}
