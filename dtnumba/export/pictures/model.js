"use strict";
// What a page knows of a model: its nodes as columns, the words for them, and the way of a row.
const Model = (() => {
  const SHOWN_TERMS = 4, LEAF = -1, THRESHOLD = 1, AMONG = 2, CUTS = 3, MAP = 4, STAYS = 255, TIE = 1e-9;
  const TYPES = { i1: Int8Array, u1: Uint8Array, i2: Int16Array, u2: Uint16Array, i4: Int32Array, u4: Uint32Array,
    f4: Float32Array, f8: Float64Array };
  const data = JSON.parse(document.getElementById("model").textContent);
  const given = data.columns || {};

  function bytesOf(packed) {
    const text = atob(packed.b), bytes = new Uint8Array(text.length);
    for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
    return new TYPES[packed.t](bytes.buffer);
  }

  function decode(packed) {
    if (!packed) return null;
    const own = bytesOf(packed);
    if (!packed.d) return own;
    const known = bytesOf(packed.d), found = new known.constructor(own.length);
    for (let k = 0; k < own.length; k++) found[k] = known[own[k]];
    return found;
  }

  function starts(name) {
    const counts = decode(given[name]);
    if (!counts) return null;
    const found = new Int32Array(counts.length + 1);
    for (let k = 0; k < counts.length; k++) found[k + 1] = found[k] + counts[k];
    return found;
  }

  const c = {};
  for (const name of Object.keys(given)) if (!name.endsWith("_start")) c[name] = decode(given[name]);
  for (const name of Object.keys(given)) if (name.endsWith("_start")) c[name] = starts(name);
  const m = c.kind ? c.kind.length : 0;
  const parent = new Int32Array(m).fill(-1), below = new Int32Array(m), depth = new Int32Array(m);
  const threshold = new Float64Array(m).fill(NaN);
  for (let i = 0, t = 0; i < m; i++) {
    if (c.kind[i] === THRESHOLD) threshold[i] = c.threshold[t++];
    for (let k = 0; k < c.fan[i]; k++) { parent[c.left[i] + k] = i; depth[c.left[i] + k] = depth[i] + 1; }
  }
  for (let i = m - 1; i >= 0; i--) if (parent[i] >= 0) below[parent[i]] += below[i] + 1;
  const isClasses = Boolean(data.classes), sizes = data.sizes || [], offsets = [0];
  for (const k of sizes) offsets.push(offsets[offsets.length - 1] + k);
  const width = offsets[offsets.length - 1], labelFrom = data.labelFrom || 0;
  const isSure = data.voting === "sure", isMany = data.isMean || isSure;
  const nSaid = width + labelFrom + (data.prior ? 1 : 0);
  const ranges = sizes.map((_, o) => {  // of numbers, for colours
    if (isClasses || !c.number) return null;
    let low = Infinity, high = -Infinity;
    for (let i = 0; i < m; i++) if (c.kind[i] === 0) {
      const x = c.number[i * width + o];
      if (x < low) low = x;
      if (x > high) high = x;
    }
    return [low, high];
  });

  // Words

  const number = (x) => {
    if (!Number.isFinite(x)) return x > 0 ? "∞" : x < 0 ? "−∞" : "missing";
    const text = Math.abs(x) >= 1e6 || (x !== 0 && Math.abs(x) < 1e-4) ? x.toPrecision(6) : String(+x.toPrecision(6));
    return text.replace(/^-/, "−");
  };
  const count = (x) => Number.isInteger(x) ? x.toLocaleString("en") : number(x);
  const percent = (x) => x >= 0.995 && x < 1 ? ">99%" : x > 0 && x <= 0.005 ? "<1%" : Math.round(100 * x) + "%";
  const isIn = (codes) => codes.length === 1 ? "is" : "in";

  // A name that reads from the right turns nothing around it.
  const isolate = (name) => /[\u0590-\u08ff\ufb1d-\ufefc]/.test(name) ? `\u2068${name}\u2069` : name;
  const nameOf = (f) => isolate(data.names[f]);

  // The terms of a sum that a node tests; none where it tests one column.
  function termsOf(i) {
    const found = [];
    if (c.term_start) for (let s = c.term_start[i]; s < c.term_start[i + 1]; s++) found.push(s);
    return found;
  }

  const columnsOf = (i) => {
    const terms = termsOf(i);
    return terms.length ? terms.map((s) => c.term_column[s]) : [c.feature[i]];
  };

  function testOf(i, most = SHOWN_TERMS) {  // the name of what a node tests
    const terms = termsOf(i);
    if (!terms.length) return nameOf(c.feature[i]);
    const shown = terms.slice(0, most).map((s) => {
      const weight = c.term_weight[s];
      return ` ${weight < 0 ? "−" : "+"} ${number(+Math.abs(weight).toPrecision(3))}·${nameOf(c.term_column[s])}`;
    }).join("").replace(/^ \+ /, "").replace(/^ /, "");
    return terms.length > most ? `${shown} + ${count(terms.length - most)} more` : shown;
  }

  function setOf(feature, codes, most) {
    const names = data.levels[feature] || [], shown = codes.slice(0, most).map((k) => isolate(names[k]));
    if (codes.length === 1) return shown[0];
    if (codes.length > most) shown.push(`${count(codes.length - most)} more`);
    return `{${shown.join(", ")}}`;
  }

  const rangeOf = (name, low, high) => low === null && high === null ? `${name} known`
    : low === null ? `${name} ≤ ${number(high)}` : high === null ? `${name} > ${number(low)}`
    : `${number(low)} < ${name} ≤ ${number(high)}`;

  function thresholdWay(f, cut, isFirst, most, name = nameOf(f)) {
    const levels = data.levels[f];
    if (!Number.isFinite(cut)) return `${name} ${(cut > 0) === isFirst ? "known" : "missing"}`;
    if (!levels) return isFirst ? rangeOf(name, null, cut) : rangeOf(name, cut, null);
    const codes = levels.map((_, k) => k).filter((k) => (k <= cut) === isFirst);
    return `${name} ${isIn(codes)} ${setOf(f, codes, most)}`;
  }

  // What sends a value that is there to a node from its parent.
  function way(i, most = 4, short = null) {
    const p = parent[i];
    if (p < 0) return "all rows";
    const k = i - c.left[p], f = c.feature[p], name = short === null ? testOf(p) : short;
    if (c.kind[p] === THRESHOLD) return thresholdWay(f, threshold[p], k === 0, most, name);
    if (c.kind[p] === AMONG) {
      const codes = Array.from(c.level.subarray(c.level_start[p], c.level_start[p + 1]));
      if (codes.length === data.levels[f].length) return `${name} ${k ? "missing" : "known"}`;
      const relation = !k ? isIn(codes) : codes.length === 1 ? "is not" : "not in";
      return `${name} ${relation} ${setOf(f, codes, most)}`;
    }
    const cuts = c.cut_start ? Array.from(c.cut.subarray(c.cut_start[p], c.cut_start[p + 1])) : [];
    const map = c.branch_start ? Array.from(c.branch.subarray(c.branch_start[p], c.branch_start[p + 1])) : [];
    const ways = map.length ? map : cuts.map((_, j) => j).concat([cuts.length]);
    const places = ways.map((_, j) => j).filter((j) => ways[j] === k);
    if (!places.length) return `${name} missing`;
    if (c.kind[p] === MAP) return `${name} ${isIn(places)} ${setOf(f, places, most)}`;
    const found = [];
    for (let at = 0; at < places.length;) {
      let stop = at;
      while (stop + 1 < places.length && places[stop + 1] === places[stop] + 1) stop++;
      found.push(rangeOf(name, places[at] > 0 ? cuts[places[at] - 1] : null,
        places[stop] < cuts.length ? cuts[places[stop]] : null));
      at = stop + 1;
    }
    return found.join(" or ");
  }

  const takesMissing = (i) => {
    const p = parent[i];
    return p >= 0 && !c.share && c.absent[p] !== STAYS && c.left[p] + c.absent[p] === i;
  };

  const orMissing = (i) => takesMissing(i) && way(i) !== `${nameOf(c.feature[parent[i]])} missing`;

  function missingWords(i) {
    if (!c.kind[i]) return "";
    if (c.share) return "Missing values go to all children, in parts.";
    if (c.absent[i] === STAYS) return "Missing values stay here.";
    return `Missing values go to: ${way(c.left[i] + c.absent[i])}.`;
  }

  function standIns(i) {
    if (!c.stand_in_start) return [];
    const found = [];
    for (let s = c.stand_in_start[i]; s < c.stand_in_start[i + 1]; s++) {
      const f = c.stand_in_feature[s], cut = c.stand_in_threshold[s];
      if (cut === cut) found.push(thresholdWay(f, cut, c.stand_in_below_left[s] === 1, 4));
      else {
        const own = Array.from(c.stand_in_branch.subarray(c.stand_in_branch_start[s], c.stand_in_branch_start[s + 1]));
        const codes = own.map((_, k) => k).filter((k) => own[k] === 0);
        found.push(`${nameOf(f)} ${isIn(codes)} ${setOf(f, codes, 4)}`);
      }
    }
    return found;
  }

  // What nodes hold

  function vectorOf(i, out) {  // shares of classes, or numbers, added with a part
    const found = out || new Float64Array(nSaid);
    if (isClasses) for (let s = c.share_start[i]; s < c.share_start[i + 1]; s++) found[c.share_class[s]] = c.share_of[s];
    else for (let k = 0; k < width; k++) found[k] = c.number[i * width + k];
    return found;
  }

  function sharesOf(i, o) {  // [class, share], the largest first
    const found = [];
    for (let s = c.share_start[i]; s < c.share_start[i + 1]; s++) {
      const k = c.share_class[s] - offsets[o];
      if (k >= 0 && k < sizes[o]) found.push([k, c.share_of[s]]);
    }
    return found.sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  }

  const isKnown = (i) => !data.isCompact || c.kind[i] === 0;
  const codeOf = (i, o) => c["code" + o][i];
  const numberOf = (i, o) => c.number[i * width + o];
  const says = (i, o) => !isKnown(i) ? "" : isClasses ? data.classes[o][codeOf(i, o)] : number(numberOf(i, o));

  // The way of a row

  function valueAt(i, row) {  // that a node tests: of a column, or a sum, NaN where all of it is missing
    const terms = termsOf(i);
    if (!terms.length) return row[c.feature[i]];
    let total = 0, isKnown = false;
    for (const s of terms) {
      const x = row[c.term_column[s]];
      isKnown = isKnown || x === x;
      total += c.term_weight[s] * (x === x ? x : c.term_stand_in[s]);
    }
    return isKnown ? total : NaN;
  }

  function childNumber(i, x) {
    if (x !== x) return -1;
    if (c.kind[i] === THRESHOLD) return x <= threshold[i] ? 0 : 1;
    if (c.kind[i] === AMONG) {
      for (let k = c.level_start[i]; k < c.level_start[i + 1]; k++) if (c.level[k] === x) return 0;
      return 1;
    }
    let place = 0;
    const mapStart = c.branch_start ? c.branch_start[i] : 0, mapStop = c.branch_start ? c.branch_start[i + 1] : 0;
    if (c.kind[i] === CUTS) {
      for (let k = c.cut_start[i]; k < c.cut_start[i + 1]; k++) if (c.cut[k] < x) place++;
      if (mapStart === mapStop) return place;
    } else if (x < 0 || x >= mapStop - mapStart) return -1;
    else place = x;
    return c.branch[mapStart + place];
  }

  function sideOf(s, x) {
    if (x !== x) return -1;
    const cut = c.stand_in_threshold[s], first = c.stand_in_branch_start[s];
    if (cut === cut) return (x <= cut) !== (c.stand_in_below_left[s] === 1) ? 1 : 0;
    return x < 0 || x >= c.stand_in_branch_start[s + 1] - first ? -1 : c.stand_in_branch[first + x];
  }

  // Return what part of a row comes to each node of a tree, and where it ends: [node, part].
  function descend(t, row) {
    const passed = new Map(), ends = [], waiting = [[c.root[t], 1]];
    while (waiting.length) {
      const [i, part] = waiting.pop();
      passed.set(i, part);
      if (!c.kind[i]) { ends.push([i, part]); continue; }
      let child = childNumber(i, valueAt(i, row));
      if (child < 0 && c.stand_in_start)
        for (let s = c.stand_in_start[i]; child < 0 && s < c.stand_in_start[i + 1]; s++)
          child = sideOf(s, row[c.stand_in_feature[s]]);
      if (child >= 0) waiting.push([c.left[i] + child, part]);
      else if (c.share) {
        for (let k = c.fan[i] - 1; k >= 0; k--)
          if (c.share[c.left[i] + k] > 0) waiting.push([c.left[i] + k, part * c.share[c.left[i] + k]]);
      } else if (c.absent[i] === STAYS) ends.push([i, part]);
      else waiting.push([c.left[i] + c.absent[i], part]);
    }
    return { passed, ends };
  }

  function labelOf(part, costs) {
    let best = 0;
    if (!costs) {
      for (let k = 1; k < part.length; k++) if (part[k] > part[best]) best = k;
      return best;
    }
    const expected = costs[0].map((_, k) => part.reduce((sum, share, j) => sum + share * costs[j][k], 0));
    const least = Math.min(...expected);
    return expected.findIndex((x) => x <= least * (1 + TIE));
  }

  const partOf = (vector, o) => Array.from(vector.subarray(labelFrom + offsets[o], labelFrom + offsets[o + 1]));

  // Return what the model says of a row: numbers (shares, or values), and codes of labels.
  function answer(row) {
    const total = new Float64Array(nSaid), nTrees = c.root.length - 1, scratch = new Float64Array(total.length);
    for (let t = 0; t < nTrees; t++) {
      const own = new Float64Array(total.length);
      for (const [i, part] of descend(t, row).ends) {
        vectorOf(i, scratch.fill(0));
        for (let k = 0; k < own.length; k++) own[k] += part * scratch[k];
      }
      if (isSure) { vote(own, data.prior[t]); }
      else if (isClasses && data.voting !== "soft") sizes.forEach((size, o) => {
        const code = labelOf(partOf(own, o), data.votingCosts);
        for (let k = 0; k < size; k++) own[offsets[o] + k] = k === code ? 1 : 0;
      });
      for (let k = 0; k < own.length; k++) total[k] += own[k];
    }
    if (data.isMean) for (let k = 0; k < total.length; k++) total[k] /= nTrees;
    if (data.saysSecond) total[0] = 1 - total[1];
    const codesOf = () => isClasses ? sizes.map((_, o) => labelOf(partOf(total, o), data.costs)) : null;
    if (isSure) {
      const sum = total.subarray(0, width).reduce((a, b) => a + b, 0), codes = codesOf();
      return { numbers: Array.from(total.subarray(0, width), (x) => x / sum), codes };
    }
    if (data.prior) for (let k = 0; k < width; k++) total[k] = (total[k] * total[width] + data.prior[k]) / (total[width] + 1);
    return { numbers: Array.from(total.subarray(0, width)), codes: codesOf() };
  }

  // Leave of what a tree says of the classes, and of its cases behind, its vote for the likeliest.
  function vote(own, prior) {
    const most = Math.max(...own.subarray(0, width)), n = own[width];
    let best = 0;
    while (!(own[best] >= most - data.even)) best++;
    const sure = (own[best] * n + prior[best]) / (n + 1);
    own.fill(0)[best] = sure;
  }

  return { data, c, m, isMany, parent, below, depth, threshold, isClasses, sizes, offsets, width, ranges, decode, number, count,
    percent, isolate, columnsOf, testOf, way, takesMissing, orMissing, missingWords, standIns, sharesOf, isKnown, codeOf, numberOf, says, descend, answer };
})();
