"use strict";
// The row that is typed or picked, a field a column, and the bars of shares; trees and rules share them.
const Form = (() => {
  const M = Model, data = M.data, byId = (id) => document.getElementById(id);
  const MOST_INPUTS = 150, MOST_SHARES = 12;
  const row = new Float64Array(data.names.length).fill(NaN);
  const rowsX = data.rows ? M.decode(data.rows.x) : null;
  let features = [], isTracing = false, traced = null, cleared = null;

  function element(name, attributes = {}, ...children) {
    const found = document.createElement(name);
    for (const key in attributes) found.setAttribute(key, attributes[key]);
    found.append(...children);  // text becomes text, never markup
    return found;
  }

  function shares(pairs, names, colourOf) {
    const table = element("table", { class: "shares" });
    for (const [k, part] of pairs.slice(0, MOST_SHARES)) {
      const bar = element("span", { class: "bar" });
      bar.style.width = `${Math.max(0.5, 100 * part)}%`;
      bar.style.background = colourOf(k);
      table.append(element("tr", {}, element("th", { scope: "row" }, element("bdi", {}, names[k])),
        element("td", { class: "bar-cell" }, bar), element("td", { class: "figure" }, M.percent(part))));
    }
    if (pairs.length > MOST_SHARES)
      table.append(element("tr", {}, element("td", { colspan: 3 }, "and other classes")));
    return table;
  }

  function inputs() {
    const holder = byId("inputs"), asked = byId("input-filter").value.trim().toLowerCase();
    const shown = features.filter((f) => data.names[f].toLowerCase().includes(asked));
    holder.replaceChildren();
    for (const f of shown.slice(0, MOST_INPUTS)) {
      const levels = data.levels[f], id = `value-${f}`;
      let input;
      if (levels) {
        input = element("select", { id }, element("option", { value: "" }, "missing"));
        levels.forEach((level, k) => input.append(element("option", { value: k }, level)));
        input.value = row[f] === row[f] ? String(row[f]) : "";
      } else {
        input = element("input", { id, type: "text", inputmode: "decimal", placeholder: "missing", autocomplete: "off" });
        input.value = row[f] === row[f] ? String(+row[f].toPrecision(9)) : "";  // what is traced has all digits
      }
      input.addEventListener(levels ? "change" : "input", () => {
        const text = input.value.trim().replace("−", "-"), x = text === "" ? NaN : Number(text);
        const isWrong = text !== "" && x !== x && text.toLowerCase() !== "nan";
        if (isWrong) input.setAttribute("aria-invalid", "true"); else input.removeAttribute("aria-invalid");
        row[f] = x;
        trace();
      });
      holder.append(element("label", { for: id, title: data.names[f] }, element("bdi", {}, data.names[f])), input);
    }
    if (shown.length > MOST_INPUTS)
      holder.append(element("p", { class: "dim" }, `${M.count(shown.length - MOST_INPUTS)} more columns: filter them`));
  }

  function trace() {
    isTracing = true;
    byId("clear").hidden = false;
    traced();
  }

  // What a row that was picked is, where that is known.
  function truth() {
    const at = byId("pick").value, known = data.rows && data.rows.y && at !== "" ? data.rows.y[Number(at)] : null;
    return known === null ? [] : [element("p", { class: "dim" }, "It is: ", element("bdi", {}, known))];
  }

  function pick(k) {
    const p = row.length;
    for (let f = 0; f < p; f++) row[f] = k === null ? NaN : rowsX[k * p + f];
    inputs();
    if (k !== null) trace();
  }

  function clear() {
    isTracing = false;
    byId("answer").replaceChildren();
    byId("clear").hidden = true;
    byId("pick").value = "";
    pick(null);
    cleared();
  }

  // times: how much each column is asked for, most of it first; toldOf: called when there is a row, or none any more.
  function start(times, toldOfRow, toldOfNone) {
    [traced, cleared] = [toldOfRow, toldOfNone];
    features = Array.from(times.keys()).filter((f) => times[f] > 0).sort((a, b) => times[b] - times[a]);
    byId("input-filter").hidden = features.length <= 12;
    byId("input-filter").addEventListener("input", inputs);
    byId("clear").addEventListener("click", clear);
    const picker = byId("pick");
    byId("pick-label").hidden = !data.rows;
    if (data.rows) {
      data.rows.numbers.forEach((number, k) => picker.append(element("option", { value: k },
        `row ${M.count(number)}${data.rows.y ? `: ${data.rows.y[k]}` : ""}`)));
      picker.addEventListener("change", () => picker.value === "" ? clear() : pick(Number(picker.value)));
    }
    inputs();
  }

  return { row, element, shares, truth, start, isTracing: () => isTracing };
})();
