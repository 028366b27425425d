for (const [name, draw] of [["errors", drawErrors], ["costs", drawCosts], ["table", drawTable]]) {
  const target = place(name);
  if (data !== null && target !== null) draw(target);
}
document.documentElement.dataset.drawn = "yes";
