/** Where timed steps went, by layer and outside of them; `profile` alone measures it. */
function drawSteps(target) {
  const { layers, outside } = data.steps;
  const sum = (parts) => parts.reduce((total, ms) => total + ms, 0);
  const planned = layers.some(([, , , plan]) => plan !== null);
  const items = [...layers.map(([name, , exact, plan]) => ({ name, group: groupOf(name), before: sum(exact), after: plan && sum(plan) })),
    ...outside.map(([name, exact, plan]) => ({ name, group: "", before: Math.max(0, exact), after: plan === null ? null : Math.max(0, plan) }))]
    .map((item) => ({ ...item, unit: "ms", origin: "measured" }));
  target.append(stackedBars("Forward and backward pass", items, "Each piece is a layer's share in all of its products, or an operation outside of layers."));
  const whole = items.reduce((total, { before }) => total + before, 0);
  const places = data.roofline === null ? [] : data.roofline.places.map(placeOf);
  const heads = ["layer", "forward, ms", "input gradient, ms", "weight gradient, ms", "rest, ms", "of the step", ...(planned ? ["with the plan, ms"] : []), "of what the machine allows"];
  const rows = [...layers].sort((a, b) => sum(b[2]) - sum(a[2])).map(([name, , exact, plan]) => {
    const own = places.filter(({ layer }) => layer === name);
    const share = own.map((p) => `${numberText((100 * p.reached) / p.allowed, "")} %`).join(", ");
    return el("tr", {}, el("th", { scope: "row" }, ...nameText(name)),
      ...[...exact.map((ms) => numberText(ms, "")), `${numberText((100 * sum(exact)) / whole, "")} %`,
        ...(planned ? [plan === null ? "" : numberText(sum(plan), "")] : []), share].map((text) => el("td", { class: "number" }, text)));
  });
  const rest = outside.map(([name, exact, plan]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", { colspan: 4 }),
    el("td", { class: "number" }, `${numberText(exact, "ms")}, ${numberText((100 * exact) / whole, "")} %`),
    ...(planned ? [el("td", { class: "number" }, plan === null ? "" : numberText(plan, ""))] : []), el("td")));
  target.append(el("p", {}, "Milliseconds of one step ", originMark("measured"),
    "; the last column: share of what the roofline below allows, product by product in the order of the columns."),
  el("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "times by layer" },
    el("table", { id: "times" }, el("thead", {}, el("tr", {}, ...heads.map((head, i) => el("th", { class: i ? "number" : "" }, head)))),
      el("tbody", {}, ...rows, ...rest))));
}
