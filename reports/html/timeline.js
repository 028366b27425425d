/** Colours of the uses that a byte can be held for, in the stack's order from below. */
const USE_COLOURS = ["#8b93a1", "#0072b2", "#56b4e9", "#009e73", "#e69f00", "#cc79a7", "#d55e00"];

/** Live bytes of one step by use, stacked, with its peak. */
function timelineChart(name, step, uses, wholeMs, wholeBytes) {
  const rows = step.timeline;
  const { node, px, py } = plot(`memory through one step, ${name}: peak ${numberText(step.peak, "bytes")}`,
    { scale: linearScale(wholeMs), title: "ms since the step's start, while it is watched →", text: (v) => numberText(v, "") },
    { scale: linearScale(wholeBytes), title: `${name}: live bytes above the step's start`, text: (v) => bytesText(v) });
  const base = rows.map(() => 0);
  for (const { index } of uses) {
    const lower = rows.map((row, i) => `${px(row[0])},${py(base[i])}`);
    rows.forEach((row, i) => { base[i] += row[index + 1]; });
    const upper = rows.map((row, i) => `${px(row[0])},${py(base[i])}`);
    node.append(svg("polygon", { class: "area", style: `fill:${USE_COLOURS[index]}`, points: [...lower, ...upper.reverse()].join(" ") }));
  }
  const y = py(step.peak);
  node.append(svg("line", { class: "limit", x1: PLOT.left, x2: PLOT.width - PLOT.right, y1: y, y2: y }),
    svg("text", { x: PLOT.width - PLOT.right, y: y - 5, "text-anchor": "end" }, `peak ${numberText(step.peak, "bytes")}: ${step.place}`));
  return readable(node, rows.map((row, i) => ({ x: px(row[0]), y: py(base[i]), near: "x",
    text: [`${name}, ${numberText(row[0], "ms")}: ${bytesText(base[i])} (measured)`,
      ...uses.filter(({ index }) => row[index + 1] > 0).map(({ use, index }) => `${use} ${bytesText(row[index + 1])}`)].join("\n") })));
}

function drawMemory(target) {
  const { exact, plan, fixed, explanation } = data.memory;
  const steps = [["exact", exact], ["with the plan", plan]].filter(([, step]) => step !== null && step.timeline.length > 1);
  const held = (index) => steps.some(([, step]) => step.timeline.some((row) => row[index + 1] > 0));
  const uses = data.memory.uses.map((use, index) => ({ use, index })).filter(({ index }) => held(index));
  const lives = Object.entries(fixed).map(([name, bytes]) => `${name} ${bytesText(bytes)}`).join(", ");
  target.append(el("p", {}, "Every allocation of a step by what it is held for ", originMark("measured"),
    `. Beside it live from step to step: ${lives}.${explanation ? ` ${explanation}` : ""}`));
  if (steps.length === 0) return;
  const ms = Math.max(...steps.map(([, step]) => step.timeline.at(-1)[0]));
  const bytes = 1.12 * Math.max(...steps.map(([, step]) => step.peak));
  target.append(keyList("what bytes are held for", uses.map(({ use, index }) => [use, USE_COLOURS[index]])),
    el("div", { class: "pair" }, ...steps.map(([name, step]) =>
      el("div", { class: "chart" }, timelineChart(name, step, uses, ms, bytes)))));
}
