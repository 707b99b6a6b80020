"use strict";
// The tree of a page: what is unfolded is laid out, and what is in sight is drawn.
const View = (() => {
  const M = Model, c = M.c, W = 192, H = 46, GAP = 10, STEP = W + 66, SPACE = "http://www.w3.org/2000/svg";
  const AT_FIRST = 31, TEXT_FROM = 0.42, BOXES_FROM = 0.2, READABLE = 0.78, LEAST = 0.004, MOST = 2.5;
  const svg = document.getElementById("tree"), scene = svg.querySelector("#scene");
  const open = new Uint8Array(M.m), hits = new Uint8Array(M.m), hitsBelow = new Uint8Array(M.m), top = {};
  const state = { t: 0, out: 0, at: 0, ids: [], y: new Float64Array(0), view: { x: 0, y: 0, k: 1 }, traced: null };
  const measure = document.createElement("canvas").getContext("2d"), cuts = new Map();
  const FONT = '12px system-ui, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif';

  function make(name, attributes, text) {
    const found = document.createElementNS(SPACE, name);
    for (const key in attributes) found.setAttribute(key, attributes[key]);
    if (text !== undefined) found.textContent = text;
    return found;
  }

  const asIs = (text) => text;  // of sentences, in which names are isolated already

  function cut(text, room, bold, isolate = M.isolate) {  // so that a text is no wider than its room
    const key = `${room} ${bold} ${text}`;
    if (cuts.has(key)) return cuts.get(key);
    measure.font = (bold ? "600 " : "") + FONT;
    let found = isolate(text);
    if (measure.measureText(found).width > room) {
      const signs = Array.from(text.slice(0, 400));
      let low = 0, high = signs.length;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (measure.measureText(isolate(signs.slice(0, middle).join("") + "…")).width <= room) low = middle;
        else high = middle - 1;
      }
      found = isolate(signs.slice(0, low).join("").trimEnd() + "…");
    }
    if (cuts.size > 20000) cuts.clear();
    cuts.set(key, found);
    return found;
  }

  // The way to a node: where it does not fit, the name of the column is cut, and the value that it is held against stays.
  function cutWay(i, room) {
    const whole = M.way(i);
    measure.font = "600 " + FONT;
    const over = measure.measureText(whole).width - room;
    if (over <= 0 || M.parent[i] < 0) return cut(whole, room, true, asIs);
    const name = M.testOf(M.parent[i]), wide = measure.measureText(M.isolate(name)).width;
    return cut(M.way(i, 4, cut(name, Math.max(room / 3, wide - over - 2), true)), room, true, asIs);
  }

  const HUES = ["#3b78c3", "#d9822b", "#2a9d6f", "#b8489a", "#8a6d3b", "#6a5acd", "#c9a227", "#c0392b", "#3aa6b9", "#7f8c8d"];
  const RAMP = [[47, 111, 196], [152, 156, 164], [222, 124, 36]];
  const colourOfClass = (k) => k < HUES.length ? HUES[k] : `hsl(${(k * 137.5) % 360} 45% 50%)`;
  function colourOfNumber(x, o) {
    const [low, high] = M.ranges[o], part = high > low ? Math.min(1, Math.max(0, (x - low) / (high - low))) : 0.5;
    const at = 2 * part < 1 ? [RAMP[0], RAMP[1], 2 * part] : [RAMP[1], RAMP[2], 2 * part - 1];
    return `rgb(${at[0].map((from, k) => Math.round(from + (at[1][k] - from) * at[2])).join(" ")})`;
  }
  function colour(i) {
    if (!M.isKnown(i)) return "var(--line)";
    return M.isClasses ? colourOfClass(M.codeOf(i, state.out)) : colourOfNumber(M.numberOf(i, state.out), state.out);
  }

  // What is unfolded

  const root = () => c.root[state.t];
  const weightOf = (i) => c.n ? c.n[i] : M.below[i];

  function openSome(most) {  // the nodes of most rows first, no deeper than can be read side by side
    const waiting = [root()], deepest = Math.max(2, Math.floor((room().width / READABLE - W - 50) / STEP));
    let shown = 1;
    while (waiting.length && shown < most) {
      let best = 0;
      for (let k = 1; k < waiting.length; k++) if (weightOf(waiting[k]) > weightOf(waiting[best])) best = k;
      const i = waiting.splice(best, 1)[0];
      if (!c.kind[i] || M.depth[i] >= deepest || shown + c.fan[i] > most + 8) continue;
      open[i] = 1;
      shown += c.fan[i];
      for (let k = 0; k < c.fan[i]; k++) waiting.push(c.left[i] + k);
    }
  }

  function layOut() {  // children stand side by side in `ids`, parents before them
    const ids = [root()], first = [], fan = [];
    for (let q = 0; q < ids.length; q++) {
      const i = ids[q], n = open[i] ? c.fan[i] : 0;
      first.push(ids.length);
      fan.push(n);
      for (let k = 0; k < n; k++) ids.push(c.left[i] + k);
    }
    state.ids = ids;
    state.y = tidy(first, fan, H + GAP);
    state.place = new Map();
    state.fan = fan;
    state.first = first;
    let low = Infinity, high = -Infinity, deep = 0;
    for (let q = 0; q < ids.length; q++) {
      state.place.set(ids[q], q);
      low = Math.min(low, state.y[q]);
      high = Math.max(high, state.y[q]);
      deep = Math.max(deep, M.depth[ids[q]]);
    }
    state.box = { x: 0, y: low, width: deep * STEP + W + 50, height: high - low + H };
  }

  const xOf = (i) => M.depth[i] * STEP;
  const yOf = (i) => state.y[state.place.get(i)];

  // Where one looks

  const room = () => ({ width: svg.clientWidth || 900, height: svg.clientHeight || 600 });

  function roomAbove() {  // what stands at the foot, the legend and the buttons, unless that is most of it
    const r = room(), over = Array.from(svg.parentNode.children).filter((one) => one !== svg && one.offsetHeight);
    return { width: r.width, height: Math.max(r.height * 0.6, Math.min(r.height, ...over.map((one) => one.offsetTop))) };
  }
  const limit = (k) => Math.min(MOST, Math.max(LEAST, k));

  function fit() {
    const r = roomAbove(), b = state.box, k = limit(Math.min((r.width - 40) / b.width, (r.height - 40) / b.height, 1));
    state.view = { k, x: (r.width - b.width * k) / 2, y: (r.height - b.height * k) / 2 - b.y * k };
    draw();
  }

  function begin() {  // all of it where that can be read, else the root
    const r = roomAbove(), b = state.box, k = Math.min((r.width - 40) / b.width, (r.height - 40) / b.height, 1);
    if (k >= 0.7) return fit();
    const readable = Math.max(READABLE, Math.min(1, (r.height - 40) / b.height));
    state.view = { k: readable, x: 24, y: r.height / 2 - (yOf(root()) + H / 2) * readable };
    draw();
  }

  function show(i) {
    const r = roomAbove(), v = state.view;
    if (v.k < TEXT_FROM) v.k = 0.8;
    const x = xOf(i) * v.k + v.x, y = yOf(i) * v.k + v.y;
    if (x < 20 || x + (W + 40) * v.k > r.width) v.x = r.width / 2 - (xOf(i) + W / 2) * v.k;
    if (y < 20 || y + (H + 20) * v.k > r.height) v.y = r.height / 2 - (yOf(i) + H / 2) * v.k;
    draw();
  }

  function zoom(by, x, y) {
    const r = room(), v = state.view, k = limit(v.k * by);
    const cx = x === undefined ? r.width / 2 : x, cy = y === undefined ? r.height / 2 : y;
    v.x = cx - (cx - v.x) * (k / v.k);
    v.y = cy - (cy - v.y) * (k / v.k);
    v.k = k;
    draw();
  }

  // Drawing

  function inSight() {
    const r = room(), v = state.view, left = -v.x / v.k - STEP, right = (r.width - v.x) / v.k;
    const low = -v.y / v.k - H, high = (r.height - v.y) / v.k, boxes = [], edges = [];
    for (let q = 0; q < state.ids.length; q++) {
      const i = state.ids[q], x = xOf(i), y = state.y[q];
      const isHere = x > left && x < right && y > low && y < high;
      if (isHere) boxes.push(q);
      const n = state.fan[q];
      if (!n || x + STEP < left || x > right) continue;
      const a = state.y[state.first[q]], b = state.y[state.first[q] + n - 1];
      if (b < low - H && y < low - H || a > high + H && y > high + H) continue;
      for (let k = 0; k < n; k++) edges.push([q, state.first[q] + k]);
    }
    return { boxes, edges };
  }

  function edgePath(p, q) {
    const x = xOf(state.ids[p]) + W + 20, y = state.y[p] + H / 2, x2 = xOf(state.ids[q]), y2 = state.y[q] + H / 2;
    return `M${x},${y.toFixed(1)}C${x + 22},${y.toFixed(1)} ${x2 - 24},${y2.toFixed(1)} ${x2},${y2.toFixed(1)}`;
  }

  function drawEdges(edges) {
    const groups = new Map(), all = c.n ? c.n[root()] : 1;
    for (const [p, q] of edges) {
      const i = state.ids[q], isTraced = state.traced && state.traced.has(i);
      const size = isTraced ? "traced" : c.n ? Math.max(1, Math.round(9 * Math.sqrt(c.n[i] / all))) : 1;
      const group = groups.get(size);
      if (group) group.push(edgePath(p, q)); else groups.set(size, [edgePath(p, q)]);
    }
    for (const [size, paths] of groups) {
      const edge = make("path", { d: paths.join(""), class: size === "traced" ? "edge traced" : "edge" });
      if (size !== "traced") edge.setAttribute("stroke-width", size);
      scene.append(edge);
    }
  }

  function bars(group, i, y, size) {
    group.append(make("rect", { x: 9, y, width: W - 18, height: size, class: "bar-room", rx: 1.5 }));
    if (!M.isKnown(i)) return;
    if (!M.isClasses) {
      const [low, high] = M.ranges[state.out], x = M.numberOf(i, state.out);
      const part = high > low ? Math.min(1, Math.max(0, (x - low) / (high - low))) : 0.5;
      group.append(make("rect", { x: 9, y, width: Math.max(2, part * (W - 18)), height: size, fill: colour(i), rx: 1.5 }));
      return;
    }
    let x = 9;
    for (const [k, part] of M.sharesOf(i, state.out).slice(0, 12)) {
      group.append(make("rect", { x: x.toFixed(2), y, width: (part * (W - 18)).toFixed(2), height: size, fill: colourOfClass(k) }));
      x += part * (W - 18);
    }
  }

  function rows(i) {
    return c.n ? `${M.count(c.n[i])} row${c.n[i] === 1 ? "" : "s"}` : "";
  }

  function short(n) {
    return n < 1000 ? String(n) : n < 1e6 ? (n / 1000).toFixed(n < 1e4 ? 1 : 0) + "k" : (n / 1e6).toFixed(1) + "m";
  }

  function label(i) {
    const parts = [M.way(i), rows(i), M.says(i, state.out)].filter(Boolean);
    if (c.kind[i]) parts.push(`splits by ${M.testOf(i)}`, `${M.count(M.below[i])} nodes below`);
    return parts.join(", ");
  }

  function drawBox(q, withText) {
    const i = state.ids[q], isInner = c.kind[i] > 0;
    const classes = ["node"];
    if (i === state.at) classes.push("at");
    if (hits[i]) classes.push("hit");
    if (state.traced && state.traced.has(i)) classes.push("passed");
    const group = make("g", { class: classes.join(" "), id: `node-${i}`, "data-node": i, role: "treeitem",
      "aria-level": M.depth[i] + 1, "aria-selected": i === state.at, "aria-label": label(i),
      transform: `translate(${xOf(i)},${state.y[q].toFixed(1)})` });
    if (isInner) group.setAttribute("aria-expanded", open[i] === 1);
    group.append(make("rect", { width: W, height: H, rx: 6, class: "box" }));
    group.append(make("rect", { x: 0, y: 0, width: 4, height: H, rx: 2, fill: colour(i) }));
    if (withText) {
      group.append(make("text", { x: 10, y: 16, class: "way" }, cutWay(i, W - 18)));
      const says = M.says(i, state.out);
      let share = "";
      if (M.isClasses && says) {
        const own = M.sharesOf(i, state.out).find(([k]) => k === M.codeOf(i, state.out));
        share = ` ${M.percent(own ? own[1] : 0)}`;
      }
      const counts = rows(i);
      measure.font = FONT;
      const left = W - 22 - measure.measureText(counts).width - measure.measureText(share).width - 4;
      group.append(make("text", { x: 10, y: 31, class: "says" }, cut(says, left, false) + share));
      group.append(make("text", { x: W - 9, y: 31, class: "rows", "text-anchor": "end" }, counts));
      bars(group, i, H - 9, 4);
      if (M.takesMissing(i)) {
        const mark = make("circle", { cx: 0, cy: H / 2, r: 4, class: "absent" });
        group.append(mark);
      }
    }
    if (isInner) {
      const fold = make("g", { class: hitsBelow[i] && !open[i] ? "fold found" : "fold", "data-fold": i });
      fold.append(make("rect", { x: W, y: H / 2 - 12, width: 24, height: 24, fill: "transparent" }));
      fold.append(make("circle", { cx: W + 12, cy: H / 2, r: 8 }));
      const arm = open[i] ? "" : `M${W + 12},${H / 2 - 4}v8`;
      fold.append(make("path", { d: `M${W + 8},${H / 2}h8${arm}` }));
      if (!open[i] && withText) fold.append(make("text", { x: W + 24, y: H / 2 + 4, class: "more" }, short(M.below[i])));
      group.append(fold);
    }
    scene.append(group);
  }

  function drawFar(boxes) {  // one path a colour
    const groups = new Map();
    for (const q of boxes) {
      const i = state.ids[q], key = hits[i] ? "hit" : state.traced && state.traced.has(i) ? "passed" : colour(i);
      const mark = `M${xOf(i)},${state.y[q].toFixed(0)}h${W}v${H}h${-W}z`, group = groups.get(key);
      if (group) group.push(mark); else groups.set(key, [mark]);
    }
    for (const [key, marks] of groups) {
      const isName = key === "hit" || key === "passed";
      scene.append(make("path", isName ? { d: marks.join(""), class: `far ${key}` } : { d: marks.join(""), fill: key }));
    }
  }

  let waiting = 0;
  function draw() { if (!waiting) waiting = requestAnimationFrame(drawNow); }
  function drawNow() {
    waiting = 0;
    const v = state.view, { boxes, edges } = inSight();
    scene.setAttribute("transform", `translate(${v.x.toFixed(2)},${v.y.toFixed(2)}) scale(${v.k})`);
    scene.replaceChildren();
    drawEdges(edges);
    if (v.k < BOXES_FROM) drawFar(boxes);
    else for (const q of boxes) drawBox(q, v.k >= TEXT_FROM);
    svg.setAttribute("aria-activedescendant", `node-${state.at}`);
    if (top.drawn) top.drawn();
  }

  // What one does

  function toggle(i, isOpen = !open[i]) {
    if (!c.kind[i]) return;
    const before = state.place.has(i) ? yOf(i) : null;
    open[i] = isOpen ? 1 : 0;
    layOut();
    if (before !== null && state.place.has(i)) state.view.y += (before - yOf(i)) * state.view.k;  // it stays in its place
    if (!state.place.has(state.at)) select(i);
    draw();
  }

  function reveal(i) {
    for (let p = M.parent[i]; p >= 0; p = M.parent[p]) open[p] = 1;
    layOut();
  }

  function select(i, isShown) {
    state.at = i;
    if (top.selected) top.selected(i);
    if (isShown) show(i); else draw();
  }

  function foldAll() {
    open.fill(0, root(), c.root[state.t + 1]);
    layOut();
    select(root());
    begin();
  }

  function unfoldAll() {
    for (let i = root(); i < c.root[state.t + 1]; i++) open[i] = c.kind[i] ? 1 : 0;
    unfolded();
  }

  function unfoldLevel() {
    for (const i of state.ids.slice()) if (c.kind[i]) open[i] = 1;
    unfolded(TEXT_FROM);
  }

  function unfolded(least = BOXES_FROM / 2) {  // all of it where boxes can be told apart (or read), else where one was
    layOut();
    fit();
    if (state.view.k >= least) return;
    state.view.k = 0.8;
    show(state.at);
  }

  function tree(t) {
    state.t = t;
    state.at = root();
    if (!open[root()]) openSome(AT_FIRST);
    layOut();
    select(root());
    begin();
  }

  function mark(found) {  // nodes that were searched for
    hits.fill(0);
    hitsBelow.fill(0);
    for (const i of found) hits[i] = 1;
    for (let i = c.root[state.t + 1] - 1; i > root(); i--) if (hits[i] || hitsBelow[i]) hitsBelow[M.parent[i]] = 1;
    draw();
  }

  return { state, top, svg, open, hits, cut, colour, colourOfClass, colourOfNumber, make, rows, root, tree, toggle, reveal,
    select, show, fit, begin, zoom, draw, drawNow, foldAll, unfoldAll, unfoldLevel, mark, layOut, W, H, STEP };
})();
