"use strict";
// A table of rules: those that hold a word are shown.
(() => {
  const byId = (id) => document.getElementById(id), html = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  html.dataset.theme = dark.matches ? "dark" : "light";
  byId("theme").addEventListener("click", () => { html.dataset.theme = html.dataset.theme === "dark" ? "light" : "dark"; });
  byId("print").addEventListener("click", () => window.print());
  const rows = Array.from(document.querySelectorAll("[data-rule]"));
  const texts = rows.map((row) => Array.from(row.cells).slice(1, 3).map((cell) => cell.textContent).join(" ").toLowerCase());
  byId("rule-filter").addEventListener("input", (event) => {
    const asked = event.target.value.trim().toLowerCase();
    let n = 0;
    rows.forEach((row, r) => { row.hidden = !texts[r].includes(asked); n += row.hidden ? 0 : 1; });
    byId("found").textContent = asked ? `${n} of ${rows.length}` : "";
  });
  html.dataset.ready = "yes";
})();
