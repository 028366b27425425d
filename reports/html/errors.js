/** Upper bounds of the colours' ranges; the last has none. */
const BOUNDS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1];
function colourOf(error) {
  const bin = BOUNDS.findIndex((bound) => error <= bound);
  return `b${bin < 0 ? BOUNDS.length : bin}`;
}
function legend() {
  const items = [...BOUNDS, null].map((bound, i) =>
    el("li", {}, el("span", { class: `swatch b${i}` }),
      bound === null ? `above ${BOUNDS.at(-1)}` : `to ${bound}`));
  return el("ul", { class: "legend", "aria-label": "colours: relative error" }, ...items);
}

/** Layers of which some gradient was measured. */
function measuredLayers() {
  return data.layers.map((layer, index) => ({ layer, index })).filter(({ index }) =>
    data.errors.some((path) => path[index].some((error) => error !== null)));
}

/** Kinds of schemes that were measured on a path, in order: "none+int8", "had+int4" … */
function kindsOf(path) {
  const used = data.schemes.filter((_, s) => data.errors[path].some((row) => row[s] !== null));
  return [...new Set(used.map(([, kind]) => kind))];
}

/** The cell of a kind: the pick if it is one of the kind, else the scheme with the lowest error. */
function bestOf(path, index, kind) {
  const pick = data.layers[index].paths[path].pick;
  let best = null;
  data.errors[path][index].forEach((error, scheme) => {
    if (error === null || data.schemes[scheme][1] !== kind) return;
    const picked = scheme === pick;
    if (picked || best === null || (!best.picked && error < best.error)) {
      best = { error, scheme, picked };
    }
  });
  return best;
}

function heatCell(path, index, kind) {
  const best = bestOf(path, index, kind);
  if (best === null) return el("td", { class: "none" }, "·");
  const about = `${data.schemes[best.scheme][0]}${best.picked ? " (the plan's pick)" : ""}`;
  return el("td", { class: `${colourOf(best.error)}${best.picked ? " pick" : ""}`, title: about },
    numberText(best.error, ""));
}

/** One row a layer, one column a kind and gradient. */
function kindTable() {
  const kinds = PATHS.map((_, path) => kindsOf(path));
  const head = el("tr", {}, el("th", { rowspan: 2 }, "layer"));
  const second = el("tr");
  PATHS.forEach((name, path) => {
    if (kinds[path].length === 0) return;
    head.append(el("th", { colspan: kinds[path].length }, `${name} gradient`), path === 0 ? el("th", { rowspan: 2 }) : "");
    second.append(...kinds[path].map((kind) => el("th", { scope: "col" }, kind)));
  });
  const rows = measuredLayers().map(({ layer, index }) => {
    const row = el("tr", {}, el("th", { scope: "row" }, ...nameText(layer.name)));
    PATHS.forEach((_, path) => {
      if (kinds[path].length === 0) return;
      row.append(...kinds[path].map((kind) => heatCell(path, index, kind)), path === 0 ? el("td", { class: "gap" }) : "");
    });
    return row;
  });
  return el("div", { class: "scroll tall", tabindex: 0, role: "region", "aria-label": "errors by kind of scheme" },
    el("table", { class: "heat" }, el("thead", {}, head, second), el("tbody", {}, ...rows)));
}

/** Every scheme as a small square; one path element a colour keeps large models light. */
function schemeMap(path) {
  const layers = measuredLayers();
  const schemes = data.schemes.map((_, s) => s).filter((s) =>
    data.errors[path].some((row) => row[s] !== null));
  if (schemes.length === 0) return null;
  const W = 14, H = 15, SLANT = Math.PI / 3;
  const longest = 6.6 * Math.max(...schemes.map((scheme) => data.schemes[scheme][0].length));
  const TOP = 16 + longest * Math.sin(SLANT);
  const LEFT = 16 + 7 * Math.max(...layers.map(({ layer }) => layer.name.length));
  const shapes = {};
  const marks = svg("g", { class: "mark" });
  layers.forEach(({ layer, index }, row) => schemes.forEach((scheme, column) => {
    const error = data.errors[path][index][scheme];
    if (error === null) return;
    const x = LEFT + column * W, y = TOP + row * H;
    const colour = colourOf(error);
    shapes[colour] = (shapes[colour] ?? "") + `M${x} ${y}h${W - 1}v${H - 1}h-${W - 1}z`;
    if (layer.paths[path].pick === scheme) marks.append(svg("rect", { x, y, width: W - 1, height: H - 1 }));
  }));
  const names = layers.map(({ layer }, row) =>
    svg("text", { x: LEFT - 6, y: TOP + row * H + 11, "text-anchor": "end" }, layer.name));
  const heads = schemes.map((scheme, column) => {
    const x = LEFT + column * W + 10;
    return svg("text", { x, y: TOP - 6, transform: `rotate(-60 ${x} ${TOP - 6})` }, data.schemes[scheme][0]);
  });
  const here = svg("rect", { class: "here", width: W - 1, height: H - 1, visibility: "hidden" });
  const width = LEFT + schemes.length * W + 16 + longest * Math.cos(SLANT), height = TOP + layers.length * H + 6;
  const map = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "img",
    "aria-label": `relative error of the ${PATHS[path]} gradient, ${layers.length} layers by ` +
      `${schemes.length} schemes; arrow keys read single cells` },
    ...Object.entries(shapes).map(([colour, d]) => svg("path", { class: colour, d })),
    marks, ...names, ...heads, here);
  let at = { row: 0, column: 0 };
  const read = (row, column, x, y) => {
    if (row < 0 || column < 0 || row >= layers.length || column >= schemes.length) return hideTip();
    at = { row, column };
    here.setAttribute("x", LEFT + column * W);
    here.setAttribute("y", TOP + row * H);
    here.setAttribute("visibility", "visible");
    const { layer, index } = layers[row];
    const error = data.errors[path][index][schemes[column]];
    showTip(`${layer.name}, ${PATHS[path]} gradient\n${data.schemes[schemes[column]][0]}\n` +
      `relative error ${error === null ? "not measured" : numberText(error, "")}`, x, y);
  };
  map.addEventListener("pointermove", (event) => {
    const box = map.getBoundingClientRect();
    read(Math.floor((event.clientY - box.top - TOP) / H), Math.floor((event.clientX - box.left - LEFT) / W),
      event.clientX, event.clientY);
  });
  map.addEventListener("pointerleave", hideTip);
  map.addEventListener("blur", hideTip);
  map.addEventListener("keydown", (event) => {
    const [rows, columns] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key] ?? [];
    if (rows === undefined) return;
    event.preventDefault();
    const row = Math.max(0, Math.min(layers.length - 1, at.row + rows));
    const column = Math.max(0, Math.min(schemes.length - 1, at.column + columns));
    const box = map.getBoundingClientRect();
    read(row, column, box.left + LEFT + column * W, box.top + TOP + row * H);
  });
  return el("div", {}, el("h3", {}, `${PATHS[path]} gradient`),
    el("div", { class: "scroll tall" }, map));
}

function drawErrors(target) {
  const chart = el("div");
  const views = { kinds: () => [kindTable()], schemes: () => PATHS.map((_, path) => schemeMap(path)) };
  const choice = el("select", { change: () => chart.replaceChildren(...views[choice.value]().filter(Boolean)) },
    el("option", { value: "kinds" }, "the best scheme of each kind"),
    el("option", { value: "schemes" }, `all ${data.schemes.length} schemes`));
  chart.append(...views.kinds());
  target.append(el("div", { class: "controls" }, el("label", {}, "show", choice)), legend(), chart);
}
