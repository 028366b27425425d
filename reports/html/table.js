function schemeText(pick) {
  if (pick === null) return "";
  if (pick === -1) return "exact";
  return typeof pick === "string" ? pick : data.schemes[pick][0];
}

/** One row a gradient, with what can be sorted by. */
function gradientRows() {
  const work = data.layers.flatMap((layer) => layer.paths.map((path) => path.flops));
  const all = work.reduce((sum, flops) => sum + flops, 0) || 1;
  return data.layers.flatMap((layer, index) => layer.paths.map((path, p) => {
    const error = typeof path.pick === "number" && path.pick >= 0 ? data.errors[p][index][path.pick] : null;
    const metrics = layer.verified?.metrics;
    const exact = metric(metrics, "saved bytes exact")?.value;
    const plan = metric(metrics, "saved bytes plan")?.value;
    return { layer, index, path, p, place: 2 * index + p, name: layer.name, kind: layer.kind,
      gradient: PATHS[p], product: path.product, share: path.flops / all, scheme: schemeText(path.pick),
      error, speedup: metric(metrics, "speedup")?.value ?? null,
      saved: exact === undefined || plan === undefined ? null : exact - plan,
      outcome: layer.verified?.outcome ?? (layer.reason ? "not eligible" : "") };
  }));
}

const COLUMNS = [
  { title: "layer", key: "name", sort: "place" },
  { title: "kind", key: "kind" },
  { title: "gradient", key: "gradient" },
  { title: "m × n × k", key: "product", number: true, sort: "share" },
  { title: "FLOPs", key: "share", number: true, text: (v) => `${(100 * v).toFixed(1)} %`,
    meaning: "share of the layers' backward FLOPs (modelled: counted from shapes)" },
  { title: "scheme", key: "scheme", code: true },
  { title: "error", key: "error", number: true, text: (v) => numberText(v, ""), meaning: "relative error of the gradient" },
  { title: "speed-up", key: "speedup", number: true, text: (v) => `${numberText(v, "")} ×`,
    meaning: "of the layer's backward products: exact time / plan's time (measured)" },
  { title: "saved", key: "saved", number: true, text: (v) => numberText(v, "bytes"),
    meaning: "bytes that the layer keeps less than exact (measured)" },
  { title: "outcome", key: "outcome" },
];

/** Schemes of one gradient by error; the pick and its runner-up are named. */
function alternatives(row) {
  const errors = data.errors[row.p][row.index]
    .map((error, scheme) => ({ error, scheme })).filter(({ error }) => error !== null)
    .sort((a, b) => a.error - b.error);
  if (errors.length === 0) return null;
  const shown = errors.filter(({ scheme }, i) => i < 10 || scheme === row.path.pick);
  const rows = shown.map(({ error, scheme }) => el("tr", {},
    el("td", { class: "code" }, data.schemes[scheme][0], scheme === row.path.pick ? el("strong", {}, " ← pick") : ""),
    el("td", { class: `number ${colourOf(error)}` }, numberText(error, ""))));
  return el("div", {}, el("h3", {}, "Schemes with the lowest error"),
    el("table", {}, el("tbody", {}, ...rows)),
    errors.length > shown.length ? el("p", { class: "quiet" }, `${errors.length - shown.length} more were measured.`) : "");
}

function details(row) {
  const { layer, path } = row;
  const facts = [
    layer.weight && `weight ${layer.weight}`,
    `${path.calls} backward product${path.calls === 1 ? "" : "s"} in a step`,
    `${bytesText(layer.saved)} saved by the layer's forward pass (measured)`,
  ].filter(Boolean).join("; ");
  const reasons = [path.why && `Why ${row.scheme}: ${path.why}.`, layer.reason && `Not eligible: ${layer.reason}.`,
    layer.verified?.reason && `${layer.verified.outcome}: ${layer.verified.reason}.`, ...layer.notes].filter(Boolean);
  const reached = data.roofline?.places.find(([name, p]) => name === layer.name && p === row.p + 1);
  const metrics = data.rows[`${row.index}.${row.p}.${path.pick}`];
  const blocks = [
    el("div", {}, el("h3", {}, `${layer.name}, ${row.gradient} gradient`), el("p", {}, facts),
      reached ? el("p", {}, `${placeText(placeOf(reached))}.`) : "",
      ...reasons.map((reason) => el("p", {}, reason))),
    metrics ? el("div", {}, el("h3", {}, `What ${row.scheme} does to it`), metricTable(metrics)) : null,
    layer.facts?.length ? el("div", {}, el("h3", {}, "The layer, whatever scheme it gets"), metricTable(layer.facts)) : null,
    layer.verified?.metrics.length ? el("div", {}, el("h3", {}, "The layer with the plan's kernels"),
      el("p", {}, `${layer.verified.ran} of ${layer.verified.expected} products went through them.`),
      metricTable(layer.verified.metrics)) : null,
    alternatives(row),
  ].filter(Boolean);
  return el("tr", { class: "details" }, el("td", { colspan: COLUMNS.length },
    el("div", { class: "columns" }, ...blocks)));
}

/** Long names break after their dots. */
function nameText(name) {
  return name.split(/(?<=\.)/).flatMap((part) => [part, el("wbr")]);
}

function cell(row, column) {
  const value = row[column.key];
  const empty = value === null || value === "";
  const text = empty ? "" : column.text ? column.text(value) : value;
  const classes = [column.number && "number", column.code && "code",
    column.key === "outcome" && `outcome-${value}`,
    column.key === "error" && !empty && colourOf(value)].filter(Boolean).join(" ");
  if (column.key !== "name") return el("td", { class: classes }, text);
  const opener = el("button", { class: "opener", type: "button", "aria-expanded": "false", click: () => {
    const open = opener.getAttribute("aria-expanded") === "true";
    opener.setAttribute("aria-expanded", String(!open));
    const line = opener.closest("tr");
    if (open) line.nextElementSibling.remove();
    else line.after(details(row));
  } }, ...nameText(text));
  return el("th", { scope: "row" }, opener);
}

function compare(a, b, key) {
  const [x, y] = [a[key], b[key]];
  const missing = (v) => v === null || v === "";
  if (missing(x) || missing(y)) return missing(x) - missing(y);
  return typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
}

function drawTable(target) {
  const rows = gradientRows();
  const columns = COLUMNS.filter(({ key }) => rows.some((row) => row[key] !== null && row[key] !== ""));
  const body = el("tbody");
  const count = el("output", { class: "quiet" });
  let order = { key: "place", down: false };
  const unique = (key) => [...new Set(rows.map((row) => row[key]).filter(Boolean))].sort();
  const filter = (title, key) => el("select", { change: show, "data-key": key },
    el("option", { value: "" }, `all ${title}`), ...unique(key).map((value) => el("option", { value }, value)));
  const search = el("input", { type: "search", placeholder: "e.g. attn or int4", input: show });
  const selects = [filter("gradients", "gradient"), filter("kinds", "kind"), filter("outcomes", "outcome")];

  function show() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = rows.filter((row) =>
      words.every((word) => `${row.name} ${row.scheme} ${row.kind} ${row.gradient}`.toLowerCase().includes(word)) &&
      selects.every((select) => select.value === "" || row[select.dataset.key] === select.value));
    // Rows without a value stay last either way.
    const has = (row) => row[order.key] !== null && row[order.key] !== "";
    shown.sort((a, b) => (order.down && has(a) && has(b) ? compare(b, a, order.key) : compare(a, b, order.key)) ||
      a.place - b.place);
    body.replaceChildren(...shown.map((row) => el("tr", {}, ...columns.map((column) => cell(row, column)))));
    count.textContent = `${shown.length} of ${rows.length} gradients`;
  }

  const heads = columns.map((column) => {
    const key = column.sort ?? column.key;
    const head = el("th", { scope: "col", class: column.number ? "number" : "", title: column.meaning ?? "" },
      el("button", { type: "button", click: () => {
        order = { key, down: order.key === key && order.head === head ? !order.down : Boolean(column.number), head };
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
        show();
      } }, column.title));
    return head;
  });
  target.append(
    el("p", {}, "Click a column's title to sort, a layer's name to see its numbers and reasons. Speed-up, saved " +
      "bytes and outcome are the layer's, the rest the gradient's."),
    el("div", { class: "controls" }, el("label", {}, "layer or scheme", search),
      ...selects.map((select, i) => el("label", {}, ["gradient", "kind", "outcome"][i], select)), count),
    el("div", { class: "scroll" }, el("table", { id: "gradients" }, el("thead", {}, el("tr", {}, ...heads)), body)));
  if (data.rows_left_out > 0) {
    target.append(el("p", { class: "quiet" }, `To keep this file small, the further metrics of ${data.rows_left_out} ` +
      "measured schemes that were not picked stand in the JSON report alone."));
  }
  show();
}
