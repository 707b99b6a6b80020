"use strict";
// A table of rules: those that hold a word are shown, and a row is held against all of them.
const Rules = (() => {
  const M = Model, data = M.data, OUTSIDE = 1, LEVELS = 2;
  const c = {};
  for (const name of Object.keys(data.rules)) c[name] = M.decode(data.rules[name]);
  const startsOf = (counts) => {
    const found = new Int32Array(counts.length + 1);
    for (let k = 0; k < counts.length; k++) found[k + 1] = found[k] + counts[k];
    return found;
  };
  const start = startsOf(c.n_tests), levelStart = startsOf(c.n_levels), n = data.nRules;

  function holds(t, row) {
    const x = row[c.feature[t]];
    if (x !== x) return c.missing[t] === 1;
    if (c.kind[t] === LEVELS) return c.level.subarray(levelStart[t], levelStart[t + 1]).includes(x);
    return (!(x <= c.low[t]) && x <= c.high[t]) !== (c.kind[t] === OUTSIDE);
  }

  function passes(r, row) {
    for (let t = start[r]; t < start[r + 1]; t++) if (!holds(t, row)) return false;
    return true;
  }

  // The same of sets of C5.0: each says a class, as surely as the first rule for it that holds or as all.
  function answerOfSets(row) {
    const k = data.classes[0].length, passed = [], total = new Float64Array(k), many = c.set_stop.length > 1;
    let begin = 0, label = 0, shares = null;
    c.set_stop.forEach((stop, s) => {
      const votes = new Float64Array(k), first = new Float64Array(k), own = [];
      for (const r of c.order.subarray(begin, stop)) {
        if (!passes(r, row)) continue;
        own.push(r);
        votes[c.label[r]] += c.vote[r];
        first[c.label[r]] ||= c.vote[r];
      }
      begin = stop;
      passed.push(...own.sort((a, b) => a - b));
      label = own.length ? votes.indexOf(Math.max(...votes)) : c.defaults[s];
      const sure = Math.max(first[label], votes[label] / own.length) / data.thousand;
      total[label] += own.length ? sure : data.undecided;
      shares = Array.from(first, (x, j) => !own.length ? 1 : j === label ? x : x / own.length);
    });
    if (many) { shares = Array.from(total); label = total.indexOf(Math.max(...total)); }
    const sum = shares.reduce((a, b) => a + b, 0);
    return { passed, first: passed.length ? passed[0] : n, shares: shares.map((x) => x / sum), code: label };
  }

  // Which rules hold, which of them answers first (n: none, the default), and the share of each class.
  function answer(row) {
    if (c.set_stop) return answerOfSets(row);
    const passed = [], votes = new Float64Array(data.classes[0].length);
    for (let r = 0; r < n; r++) {
      if (passes(r, row)) { passed.push(r); votes[c.label[r]] += c.confidence[r]; }
    }
    const first = passed.length ? passed[0] : n, k = votes.length;
    let shares = Array.from(c.shares.subarray(first * k, (first + 1) * k)), code = first < n ? c.label[first] : data.default;
    if (data.byVotes && first < n) {
      const total = votes.reduce((a, b) => a + b, 0);
      shares = Array.from(votes, (x) => x / Math.max(total, 1e-300));
      code = votes.indexOf(Math.max(...votes));
    }
    return { passed, first, shares, code };
  }

  return { c, start, holds, answer };
})();
(() => {
  const M = Model, data = M.data, { element } = Form, byId = (id) => document.getElementById(id), html = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  html.dataset.theme = dark.matches ? "dark" : "light";
  byId("theme").addEventListener("click", () => { html.dataset.theme = html.dataset.theme === "dark" ? "light" : "dark"; });
  byId("print").addEventListener("click", () => window.print());
  const rows = Array.from(document.querySelectorAll("[data-rule]")), otherwise = document.querySelector("[data-default]");
  const texts = rows.map((row) => Array.from(row.cells).slice(1, 3).map((cell) => cell.textContent).join(" ").replace(/[\u2068\u2069]/g, "").toLowerCase());
  const only = byId("only-passed");
  let passed = null;

  function show() {
    const asked = byId("rule-filter").value.trim().toLowerCase();
    let n = 0;
    rows.forEach((row, r) => {
      row.hidden = !texts[r].includes(asked) || (passed !== null && only.checked && !passed.has(r));
      n += row.hidden ? 0 : 1;
    });
    byId("found").textContent = n < rows.length ? `${M.count(n)} of ${M.count(rows.length)}` : "";
  }

  // Mark which rules and which of their tests hold, and which answer.
  function mark(said) {
    const decides = (r) => said !== null && (data.byVotes ? Rules.c.label[r] === said.code : r === said.first);
    passed = said === null ? null : new Set(said.passed);
    rows.forEach((row, r) => {
      const isPassed = passed !== null && passed.has(r);
      row.classList.toggle("passed", isPassed);
      row.classList.toggle("decides", isPassed && decides(r));
      row.cells[0].querySelector("small").textContent = !isPassed ? "" : decides(r) && !data.byVotes ? "answers" : "holds";
      row.querySelectorAll("[data-test]").forEach((test, k) => {
        test.classList.toggle("holds", said !== null && Rules.holds(Rules.start[r] + k, Form.row));
        test.classList.toggle("fails", said !== null && !Rules.holds(Rules.start[r] + k, Form.row));
      });
    });
    otherwise.classList.toggle("decides", said !== null && !said.passed.length);
    otherwise.cells[0].querySelector("small").textContent = said !== null && !said.passed.length ? "answers" : "";
    byId("only-label").hidden = said === null;
    show();
  }

  function goTo(r) {
    const row = r < rows.length ? rows[r] : otherwise;
    row.hidden = false;
    row.scrollIntoView({ block: "center" });
    row.focus({ preventScroll: true });
  }
  function link(r) {
    const found = element("button", { type: "button", class: "to-rule" }, r < rows.length ? M.count(r + 1) : "otherwise");
    found.addEventListener("click", () => goTo(r));
    return found;
  }

  const MOST_LINKS = 60;
  function trace() {
    const said = Rules.answer(Form.row), result = byId("answer"), n = said.passed.length;
    mark(said);
    const who = !n ? "No rule holds, so the default answers" : data.byVotes ? `${n === 1 ? "The rule that holds votes" : `${M.count(n)} rules that hold vote`}`
      : `Rule ${M.count(said.first + 1)} answers`;
    result.replaceChildren(element("p", { class: "said" }, `${who}: `, element("strong", {}, element("bdi", {}, data.classes[0][said.code]))));
    const pairs = said.shares.map((x, k) => [k, x]).filter(([, x]) => x > 0).sort((a, b) => b[1] - a[1]);
    result.append(Form.shares(pairs, data.classes[0], () => "var(--accent)"));
    const list = element("p", { class: "dim" }, n ? "Rules that hold: " : "Go to ");
    for (const r of n ? said.passed.slice(0, MOST_LINKS) : [rows.length]) list.append(link(r), " ");
    if (n > MOST_LINKS) list.append(`and ${M.count(n - MOST_LINKS)} more`);
    result.append(list, ...Form.truth());
    byId("spoken").textContent = result.textContent;
  }

  byId("rule-filter").addEventListener("input", show);
  only.addEventListener("change", show);
  const times = new Float64Array(data.names.length);
  for (const f of Rules.c.feature) times[f] += 1;
  Form.start(times, trace, () => mark(null));
  window.rulePage = { model: M, answer: Rules.answer };
  html.dataset.ready = "yes";
})();
