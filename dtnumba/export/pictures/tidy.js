"use strict";
// Where nodes stand across: the layout of tidy.py for nodes of one size, which stand `step` apart.
function tidy(first, fan, step) {
  const m = first.length, array = () => new Float64Array(m);
  const middle = array(), beside = array(), moved = array(), shift = array(), change = array();
  const thread = new Int32Array(m).fill(-1), owner = new Int32Array(m), parent = new Int32Array(m).fill(-1);
  for (let i = 0; i < m; i++) {
    owner[i] = i;
    for (let k = 0; k < fan[i]; k++) parent[first[i] + k] = i;
  }
  const head = (i) => fan[i] ? first[i] : thread[i], tail = (i) => fan[i] ? first[i] + fan[i] - 1 : thread[i];

  function push(start, node, byDefault) {
    let ir = node, or = node, il = node - 1, ol = start;
    let atIr = moved[ir], atOr = moved[or], atIl = moved[il], atOl = moved[ol];
    while (tail(il) >= 0 && head(ir) >= 0) {
      il = tail(il); ir = head(ir); ol = head(ol); or = tail(or);
      owner[or] = node;
      const lacking = beside[il] + atIl - beside[ir] - atIr + step;
      if (lacking > 0) {
        const left = parent[owner[il]] === parent[node] ? owner[il] : byDefault, each = lacking / (node - left);
        change[node] -= each; shift[node] += lacking; change[left] += each;
        beside[node] += lacking; moved[node] += lacking;
        atIr += lacking; atOr += lacking;
      }
      atIl += moved[il]; atIr += moved[ir]; atOl += moved[ol]; atOr += moved[or];
    }
    if (tail(il) >= 0 && tail(or) < 0) { thread[or] = tail(il); moved[or] += atIl - atOr; }
    if (head(ir) >= 0 && head(ol) < 0) { thread[ol] = head(ir); moved[ol] += atIr - atOl; byDefault = node; }
    return byDefault;
  }

  for (let p = m - 1; p >= 0; p--) {
    if (!fan[p]) continue;
    const start = first[p], stop = start + fan[p];
    let byDefault = start;
    beside[start] = middle[start];
    for (let node = start + 1; node < stop; node++) {
      beside[node] = beside[node - 1] + step;
      moved[node] = beside[node] - middle[node];
      byDefault = push(start, node, byDefault);
    }
    let total = 0, sum = 0;
    for (let node = stop - 1; node >= start; node--) {
      beside[node] += total; moved[node] += total;
      sum += change[node]; total += shift[node] + sum;
    }
    middle[p] = (beside[start] + beside[stop - 1]) / 2;
  }
  const place = array(), all = array();
  if (m) place[0] = middle[0];
  for (let p = 0; p < m; p++)
    for (let k = 0; k < fan[p]; k++) {
      const i = first[p] + k;
      place[i] = beside[i] + all[p];
      all[i] = all[p] + moved[i];
    }
  return place;
}
