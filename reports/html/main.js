const DRAWINGS = [["errors", drawErrors], ["front", drawFront], ["steps", drawSteps], ["costs", drawCosts],
  ["memory", drawMemory], ["roofline", drawRoofline], ["layers", drawTable]];
for (const [name, draw] of DRAWINGS) {
  const target = place(name);
  if (data !== null && target !== null) draw(target);
}
document.documentElement.dataset.drawn = "yes";
