"use strict";
// What one does with a page: mouse and keys, search, the panel of a node, the row that is traced.
(() => {
  const M = Model, V = View, c = M.c, data = M.data, byId = (id) => document.getElementById(id);
  const { element } = Form;
  const SENTENCE = { dir: "ltr" };  // also one that begins with a name that reads from the right
  const say = (text) => { byId("spoken").textContent = text; };

  // The panel of a node

  const shareRows = (pairs, o) => Form.shares(pairs, data.classes[o], V.colourOfClass);

  function pathOf(i) {
    const found = [];
    for (let at = i; M.parent[at] >= 0; at = M.parent[at]) found.unshift(at);
    return found;
  }

  function selected(i) {
    const panel = byId("node-panel"), o = V.state.out, path = pathOf(i);
    panel.replaceChildren();
    const name = c.kind[i] ? (M.parent[i] < 0 ? "Root" : "Node") : "Leaf";
    panel.append(element("h2", {}, `${name} ${M.count(i - V.root())}`));
    if (path.length) {
      const list = element("ol", { class: "rule" });
      for (const at of path) list.append(element("li", {}, element("bdi", SENTENCE, M.way(at, 40)),
        M.orMissing(at) ? element("small", {}, " or missing") : ""));
      panel.append(list);
    } else panel.append(element("p", { class: "dim" }, "All rows."));
    const facts = element("dl");
    const fact = (key, value) => facts.append(element("dt", {}, key), element("dd", {}, element("bdi", {}, value)));
    if (c.n) fact("Rows", M.count(c.n[i]) + (path.length ? ` (${M.percent(c.n[i] / c.n[V.root()])} of all)` : ""));
    if (c.weight) fact("Weight", M.number(c.weight[i]));
    if (M.isKnown(i)) data.sizes.forEach((_, k) => fact(data.sizes.length > 1 ? `Says, output ${k}` : "Says", M.says(i, k)));
    if (c.impurity) fact(data.impurity, M.number(c.impurity[i]));
    if (c.kind[i]) fact("Splits by", M.testOf(i, 40));
    if (c.kind[i]) fact("Below", `${M.count(M.below[i])} nodes`);
    panel.append(facts);
    if (M.isClasses && M.isKnown(i)) panel.append(shareRows(M.sharesOf(i, o), o));
    if (c.kind[i]) panel.append(element("p", { class: "dim" }, element("bdi", SENTENCE, M.missingWords(i))));
    const standIns = M.standIns(i);
    if (standIns.length) {
      panel.append(element("h3", {}, "Where the value is missing, first child if"));
      const list = element("ol", { class: "rule" });
      for (const one of standIns) list.append(element("li", {}, element("bdi", SENTENCE, one)));
      panel.append(list);
    }
  }

  // Hover

  const tip = byId("tip");
  function hover(i, x, y) {
    tip.replaceChildren();
    const path = pathOf(i), shown = path.slice(-6);
    const rule = shown.map((at) => M.way(at)).join(" and ");
    tip.append(element("strong", {}, element("bdi", SENTENCE, path.length ? (path.length > 6 ? "… and " : "") + rule : "all rows")));
    const says = M.says(i, V.state.out);
    tip.append(element("div", {}, [V.rows(i), says].filter(Boolean).join(" · ")));
    if (M.isClasses && M.isKnown(i)) {
      const most = M.sharesOf(i, V.state.out).slice(0, 4).map(([k, part]) => `${M.isolate(data.classes[V.state.out][k])} ${M.percent(part)}`
        + (c.n && !c.weight ? ` (${M.count(Math.round(part * c.n[i]))})` : ""));
      tip.append(element("div", { class: "dim" }, element("bdi", SENTENCE, most.join(", "))));
    }
    if (c.kind[i]) tip.append(element("div", { class: "dim" }, element("bdi", {}, `splits by ${M.testOf(i)}`)));
    tip.hidden = false;
    tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - tip.offsetWidth - 12))}px`;
    tip.style.top = `${y + 18 + tip.offsetHeight > innerHeight ? Math.max(8, y - tip.offsetHeight - 12) : y + 18}px`;
  }

  // Search

  const search = { text: "", found: [], at: -1 };
  function find(text) {
    const asked = text.trim().toLowerCase(), found = [];
    search.text = text;
    if (asked) {
      const first = V.root(), stop = c.root[V.state.t + 1];
      const columns = data.names.map((name) => name.toLowerCase().includes(asked));
      const classes = (data.classes || []).map((own) => own.map((name) => name.toLowerCase().includes(asked)));
      for (let i = first; i < stop; i++) {
        if (c.kind[i] ? M.columnsOf(i).some((f) => columns[f]) : classes.some((own, o) => own[M.codeOf(i, o)])) found.push(i);
      }
    }
    search.found = found;
    search.at = -1;
    V.mark(found);
    tell();
  }
  function tell() {
    const { found, at, text } = search;
    byId("found").textContent = !text.trim() ? "" : at >= 0 ? `${M.count(at + 1)} of ${M.count(found.length)}`
      : found.length ? `${M.count(found.length)} found` : "nothing found";
  }
  function next(by) {
    const n = search.found.length;
    if (!n) return;
    search.at = search.at < 0 ? (by > 0 ? 0 : n - 1) : (search.at + by + n) % n;
    const i = search.found[search.at];
    V.reveal(i);
    V.select(i, true);
    tell();
    say(`${byId("found").textContent}: ${M.way(i)}`);
  }

  // The row

  const { row } = Form;
  function used() {
    const times = new Float64Array(row.length);
    for (let i = 0; i < M.m; i++) if (c.kind[i]) for (const f of M.columnsOf(i)) times[f] += c.n ? c.n[i] : 1;
    if (c.stand_in_feature) for (const f of c.stand_in_feature) times[f] += 1e-9;
    return times;
  }

  function trace() {
    const { passed, ends } = M.descend(V.state.t, row), result = byId("answer"), said = M.answer(row);
    V.state.traced = passed;
    for (const i of passed.keys()) if (M.parent[i] >= 0) V.open[M.parent[i]] = 1;
    V.layOut();
    const largest = ends.reduce((a, b) => b[1] > a[1] ? b : a);
    V.select(largest[0], true);
    result.replaceChildren();
    const whole = c.root.length - 1 === data.nTrees;
    const who = !M.isMany ? "The tree says" : whole ? `The ${M.count(data.nTrees)} trees say`
      : `The ${M.count(c.root.length - 1)} trees of this page say`;
    data.sizes.forEach((size, o) => {
      const text = M.isClasses ? data.classes[o][said.codes[o]] : M.number(said.numbers[o]);
      result.append(element("p", { class: "said" }, `${who}${data.sizes.length > 1 ? ` (output ${o})` : ""}: `,
        element("strong", {}, element("bdi", {}, text))));
      if (M.isClasses) {
        const own = said.numbers.slice(M.offsets[o], M.offsets[o + 1]);
        const pairs = own.map((x, k) => [k, x]).filter(([, x]) => x > 0).sort((a, b) => b[1] - a[1]);
        result.append(shareRows(pairs, o));
      }
    });
    if (M.isMany) result.append(element("p", { class: "dim" }, element("bdi", {},
      `This tree: ${M.says(largest[0], V.state.out)}`)));
    if (ends.length > 1)
      result.append(element("p", { class: "dim" }, `In parts, to ${ends.length} leaves; the largest part is ${M.percent(largest[1])}.`));
    result.append(...Form.truth());
    say(result.textContent);
  }

  function cleared() {
    V.state.traced = null;
    V.draw();
  }

  // Mouse and touch

  function mouse() {
    const fingers = new Map();
    let moved = 0, apart = 0;
    const nodeAt = (event) => {
      const found = event.target.closest && event.target.closest("[data-node]");
      return found ? Number(found.dataset.node) : -1;
    };
    V.svg.addEventListener("pointerdown", (event) => {
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      moved = 0;
      tip.hidden = true;
    });
    V.svg.addEventListener("pointermove", (event) => {
      if (!fingers.has(event.pointerId)) {
        const i = nodeAt(event);
        if (i >= 0 && event.pointerType === "mouse") hover(i, event.clientX, event.clientY); else tip.hidden = true;
        return;
      }
      const [x, y] = fingers.get(event.pointerId), dx = event.clientX - x, dy = event.clientY - y;
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      moved += Math.abs(dx) + Math.abs(dy);
      if (moved > 4 && !V.svg.hasPointerCapture(event.pointerId)) V.svg.setPointerCapture(event.pointerId);
      if (fingers.size === 1) { V.state.view.x += dx; V.state.view.y += dy; V.draw(); return; }
      const [a, b] = [...fingers.values()], box = V.svg.getBoundingClientRect(), now = Math.hypot(a[0] - b[0], a[1] - b[1]);
      if (apart) V.zoom(now / apart, (a[0] + b[0]) / 2 - box.left, (a[1] + b[1]) / 2 - box.top);
      apart = now;
    });
    const release = (event) => { fingers.delete(event.pointerId); apart = 0; };
    V.svg.addEventListener("pointerup", release);
    V.svg.addEventListener("pointercancel", release);
    V.svg.addEventListener("pointerleave", () => { tip.hidden = true; });
    V.svg.addEventListener("click", (event) => {
      if (moved > 4) return;
      const fold = event.target.closest("[data-fold]"), i = nodeAt(event);
      if (fold) V.toggle(Number(fold.dataset.fold));
      if (i >= 0) { V.select(i); openPanel("node"); }
    });
    V.svg.addEventListener("dblclick", (event) => { const i = nodeAt(event); if (i >= 0) V.toggle(i); });
    V.svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = V.svg.getBoundingClientRect(), by = Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016));
      V.zoom(by, event.clientX - box.left, event.clientY - box.top);
      tip.hidden = true;
    }, { passive: false });
  }

  // Keys

  function keys() {
    V.svg.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const i = V.state.at, q = V.state.place.get(i), ids = V.state.ids, p = M.parent[i];
      const same = (by) => {  // the next one that is drawn at this depth
        const other = ids[q + by];
        return other !== undefined && M.depth[other] === M.depth[i] ? other : i;
      };
      const jobs = {
        ArrowRight: () => { if (c.kind[i] && !V.open[i]) V.toggle(i, true); else if (c.kind[i]) V.select(c.left[i], true); },
        ArrowLeft: () => { if (c.kind[i] && V.open[i]) V.toggle(i, false); else if (p >= 0) V.select(p, true); },
        ArrowDown: () => V.select(same(1), true),
        ArrowUp: () => V.select(same(-1), true),
        Home: () => V.select(V.root(), true),
        Enter: () => V.toggle(i),
        " ": () => V.toggle(i),
        "+": () => V.zoom(1.25),
        "=": () => V.zoom(1.25),
        "-": () => V.zoom(0.8),
        0: () => V.fit(),
      };
      if (!jobs[event.key]) return;
      event.preventDefault();
      jobs[event.key]();
      const at = V.state.at, fold = c.kind[at] ? (V.open[at] ? ", unfolded" : ", folded") : ", leaf";
      say(`${M.way(at)}, ${V.rows(at)}, ${M.says(at, V.state.out)}${fold}`);
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "/" && !/INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) {
        event.preventDefault();
        byId("search").focus();
      }
      if (event.key === "Escape") { byId("search").value = ""; find(""); tip.hidden = true; }
    });
  }

  // Around the tree

  function openPanel(name) {
    for (const one of ["node", "row", "about"]) {
      byId(`${one}-tab`).setAttribute("aria-selected", one === name);
      byId(`${one}-part`).hidden = one !== name;
    }
  }

  function legend() {
    const holder = byId("legend");
    holder.replaceChildren();
    const o = V.state.out, spot = (colour) => { const s = element("span", { class: "spot" }); s.style.background = colour; return s; };
    if (M.isClasses) {
      data.classes[o].slice(0, 12).forEach((name, k) => holder.append(element("span", {}, spot(V.colourOfClass(k)),
        element("bdi", {}, V.cut(name, 160, false)))));
      if (data.classes[o].length > 12) holder.append(element("span", { class: "dim" }, `${data.classes[o].length - 12} more`));
    } else if (M.ranges[o]) {
      const [low, high] = M.ranges[o], bar = element("span", { class: "ramp" });
      bar.style.background = `linear-gradient(90deg, ${[0, 1, 2, 3, 4].map((k) =>
        V.colourOfNumber(low + (high - low) * k / 4, o)).join(",")})`;
      holder.append(element("span", {}, M.number(low), bar, M.number(high)));
    }
    if (!c.share) holder.append(element("span", { class: "dim" }, element("span", { class: "absent-spot" }), "missing values go here"));
  }

  function theme() {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const html = document.documentElement;
    html.dataset.theme = dark.matches ? "dark" : "light";
    dark.addEventListener("change", () => { html.dataset.theme = dark.matches ? "dark" : "light"; });
    byId("theme").addEventListener("click", () => { html.dataset.theme = html.dataset.theme === "dark" ? "light" : "dark"; });
  }

  function pickers() {
    const trees = byId("trees"), picker = byId("tree-picker"), n = c.root.length - 1;
    trees.hidden = n < 2;
    picker.max = n - 1;
    byId("tree-count").textContent = `of ${M.count(n)}${n < data.nTrees ? ` (the model has ${M.count(data.nTrees)})` : ""}`;
    const go = (t) => {
      if (!Number.isInteger(t) || t < 0 || t >= n) { picker.setAttribute("aria-invalid", "true"); return; }
      picker.removeAttribute("aria-invalid");
      picker.value = t;
      V.state.traced = null;
      V.tree(t);
      find(search.text);
      if (Form.isTracing()) trace();
      say(`tree ${t}`);
    };
    picker.addEventListener("change", () => go(picker.value.trim() ? Number(picker.value) : NaN));
    byId("tree-before").addEventListener("click", () => go((V.state.t + n - 1) % n));
    byId("tree-next").addEventListener("click", () => go((V.state.t + 1) % n));
    const outputs = byId("outputs");
    byId("output-label").hidden = data.sizes.length < 2;
    data.sizes.forEach((_, o) => outputs.append(element("option", { value: o }, `output ${o}`)));
    outputs.addEventListener("change", () => { V.state.out = Number(outputs.value); legend(); selected(V.state.at); V.draw(); });
  }

  function start() {
    theme();
    byId("print").addEventListener("click", () => window.print());
    if (!byId("tree")) return;
    V.top.selected = selected;
    pickers();
    mouse();
    keys();
    legend();
    Form.start(used(), trace, cleared);
    const on = (id, job) => byId(id).addEventListener("click", job);
    on("fold-all", V.foldAll);
    on("unfold-level", V.unfoldLevel);
    on("unfold-all", V.unfoldAll);
    on("closer", () => V.zoom(1.25));
    on("farther", () => V.zoom(0.8));
    on("fit", V.fit);
    for (const one of ["node", "row", "about"]) on(`${one}-tab`, () => openPanel(one));
    byId("search").addEventListener("input", (event) => find(event.target.value));
    byId("search").addEventListener("keydown", (event) => { if (event.key === "Enter") next(event.shiftKey ? -1 : 1); });
    on("find-next", () => next(1));
    on("find-before", () => next(-1));
    addEventListener("resize", V.draw);
    addEventListener("beforeprint", () => { V.fit(); V.drawNow(); });
    V.tree(0);
    V.drawNow();
    window.treePage = { model: M, view: V, answer: M.answer };
    document.documentElement.dataset.ready = "yes";
  }
  start();
})();
