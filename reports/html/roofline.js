const PRODUCTS = ["forward", "input gradient", "weight gradient"];
const PRODUCT_COLOURS = ["#8b93a1", "#0072b2", "#e69f00"];

/** What a product reaches and may reach at most: FLOP/s, FLOP per byte. */
function placeOf([layer, path, flops, bytes, ms, planMs]) {
  const { flops: peak, bytes: rate } = data.roofline;
  const intensity = flops / bytes;
  const allowed = Math.min(peak, intensity * rate);
  return { layer, path, intensity, allowed, reached: (1e3 * flops) / ms, planned: planMs ? (1e3 * flops) / planMs : null,
    bound: intensity * rate < peak ? "memory" : "arithmetic" };
}
function gigaText(perSecond) {
  return `${numberText(perSecond / 1e9, "")} GFLOP/s`;
}
function placeText(p) {
  const share = `${numberText((100 * p.reached) / p.allowed, "")} % of the ${gigaText(p.allowed)} that ${numberText(p.intensity, "")} ` +
    `FLOP per byte allow (bound by ${p.bound})`;
  const plan = p.planned === null ? "" : `; by the plan ${gigaText(p.planned)} of the exact work`;
  return `${gigaText(p.reached)} exact, ${share}${plan} (measured)`;
}

function drawRoofline(target) {
  const { flops: peak, bytes: rate, in_steps: inSteps } = data.roofline;
  const places = data.roofline.places.map(placeOf);
  target.append(el("p", {}, `A product can't be faster than this machine multiplies, ${gigaText(peak)} in float32, nor than it ` +
    `moves the operands and the result, ${numberText(rate / 1e9, "")} GB/s `, originMark("measured"),
    `. Rings are exact products${inSteps ? " inside timed steps" : ", timed alone"}; triangles the same work by the plan, which ` +
    "may lie above the float32 line where integers or a part of the rank do it."));
  const xs = logScale([...places.map(({ intensity }) => intensity), peak / rate]);
  const ys = logScale(places.flatMap((p) => [p.reached, p.planned, p.allowed]).filter(Boolean).concat(peak));
  const { node, px, py } = plot("FLOP/s against FLOP per byte, every product of every layer",
    { scale: xs, title: "FLOP per byte of operands and result →", text: (v) => numberText(v, "") },
    { scale: ys, title: "GFLOP/s", text: (v) => numberText(v / 1e9, "") });
  const [first, last] = [xs.ticks[0], xs.ticks.at(-1)];
  const roof = [first, peak / rate, last].map((x) => `${px(x)},${py(Math.max(Math.min(peak, x * rate), ys.ticks[0]))}`);
  node.append(svg("polyline", { class: "curve", points: roof.join(" ") }));
  for (const p of places) {
    const [x, y] = [px(p.intensity), py(p.reached)];
    const colour = PRODUCT_COLOURS[p.path];
    if (p.planned !== null) {
      const top = py(p.planned);
      node.append(svg("line", { x1: x, x2: x, y1: y, y2: top, style: `stroke:${colour};stroke-opacity:0.5` }),
        svg("path", { d: `M${x} ${top - 6}l5 9h-10z`, style: `fill:${colour}` }));
    }
    node.append(svg("circle", { cx: x, cy: y, r: 4, style: `stroke:${colour};stroke-width:2;fill:none` }));
  }
  readable(node, places.flatMap((p) => [["exact", p.reached], ["by the plan", p.planned]].filter(([, v]) => v !== null)
    .map(([how, v]) => ({ x: px(p.intensity), y: py(v), text: `${p.layer}, ${PRODUCTS[p.path]}, ${how}\n${placeText(p)}` }))));
  const used = [...new Set(places.map(({ path }) => path))].sort();
  target.append(keyList("products", used.map((path) => [PRODUCTS[path], PRODUCT_COLOURS[path]])),
    el("div", { class: "chart wide" }, node));
}
