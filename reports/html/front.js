/** A place for a label beside a mark where it covers no other and stays inside. */
function labelPlace(x, y, width, taken) {
  const places = [[9, -8], [-width - 9, -8], [9, 17], [-width - 9, 17], [9, 4], [-width - 9, 4], [-width / 2, -12], [-width / 2, 22]];
  const box = ([dx, dy]) => ({ left: x + dx, right: x + dx + width, top: y + dy - 11, bottom: y + dy + 3 });
  const free = places.find((place) => {
    const b = box(place);
    return b.left > PLOT.left && b.right < PLOT.width && b.top > 16 && b.bottom < PLOT.height - PLOT.bottom &&
      !taken.some((t) => b.left < t.right && b.right > t.left && b.top < t.bottom && b.bottom > t.top);
  }) ?? places[0];
  taken.push(box(free));
  return [x + free[0], y + free[1]];
}

function markShape(name, x, y) {
  if (name === "this plan") return svg("path", { class: "pick", d: `M${x} ${y - 8}l8 8l-8 8l-8 -8z` });
  if (name === "exact") return svg("rect", { class: "dot", x: x - 5, y: y - 5, width: 10, height: 10 });
  return svg("circle", { class: "dot", cx: x, cy: y, r: 5 });
}

/** One curve of the front with all marks: error to the right, what it costs upwards. */
function frontChart(points, kind, column, title, unit) {
  const shown = points.filter((point) => point[0] === kind || point[0] === "mark");
  const high = 1.12 * Math.max(...shown.map((point) => point[column]));
  const { node, px, py } = plot(`${title} against the error of the whole gradient`,
    { scale: logScale(shown.map((point) => point[2]), true), title: "relative error of the whole gradient →", text: (v) => numberText(v, "") },
    { scale: linearScale(high), title: `${title}, ${unit === "bytes" ? "bytes" : unit}`, text: (v) => numberText(v, unit) });
  const curve = shown.filter(([own]) => own === kind);
  node.append(svg("polyline", { class: "curve", points: curve.map((p) => `${px(p[2])},${py(p[column])}`).join(" ") }),
    ...curve.map((p) => svg("circle", { class: "small", cx: px(p[2]), cy: py(p[column]), r: 2.5 })));
  const marks = shown.filter(([own]) => own === "mark");
  const taken = marks.map((p) => ({ left: px(p[2]) - 7, right: px(p[2]) + 7, top: py(p[column]) - 7, bottom: py(p[column]) + 7 }));
  for (const [, name, error, ...rest] of marks) {
    const [x, y] = [px(error), py([null, null, error, ...rest][column])];
    const [tx, ty] = labelPlace(x, y, 7 * name.length, taken);
    node.append(markShape(name, x, y), svg("text", { x: tx, y: ty, class: name === "this plan" ? "strong" : "" }, name));
  }
  return readable(node, shown.map((p) => ({ x: px(p[2]), y: py(p[column]), text: pointText(p) })));
}

function pointText([kind, name, error, ms, bytes]) {
  const what = kind === "mark" ? name : kind === "time" ? "least time at this error" : "least memory at this error";
  return `${what}\nerror ${numberText(error, "")}, backward ${numberText(ms, "ms")}, kept ${numberText(bytes, "bytes")} (modelled)`;
}

function frontTable(points) {
  const cells = (values) => values.map((text) => el("td", { class: "number" }, text));
  return el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, "plan"), el("th", { class: "number" }, "relative error"),
    el("th", { class: "number" }, "backward"), el("th", { class: "number" }, "kept for backward"))),
  el("tbody", {}, ...points.map(([kind, name, error, ms, bytes]) => el("tr", {},
    el("th", { scope: "row" }, kind === "mark" ? name : `least ${kind}`),
    ...cells([numberText(error, ""), numberText(ms, "ms"), numberText(bytes, "bytes")])))));
}

function drawFront(target) {
  const points = data.front;
  target.append(el("div", { class: "pair" },
    el("div", { class: "chart" }, frontChart(points, "time", 3, "backward time of the eligible layers", "ms")),
    el("div", { class: "chart" }, frontChart(points, "memory", 4, "kept for backward, whole model", "bytes"))),
  el("div", { class: "scroll" }, frontTable(points.filter(([kind]) => kind === "mark"))),
  el("details", {}, el("summary", {}, "the lines' points"),
    el("div", { class: "scroll" }, frontTable(points.filter(([kind]) => kind !== "mark")))));
}
