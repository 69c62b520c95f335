// The console's script: it re-plans while ε moves, colours and completes SQL, and watches jobs. Every page works without it.
"use strict";

const KEYWORDS = new Set(("select from where group by having order limit and or not in is null like between case when then else end as on join left " +
  "inner union all distinct with cube rollup grouping sets asc desc true false date interval cast over partition using").split(" "));
const FUNCTIONS = ["COUNT(*)", "COUNT", "SUM", "AVG", "MEDIAN", "STDDEV", "VARIANCE", "MIN", "MAX", "MODE", "CORR", "FLOOR", "ROUND", "WIDTH_BUCKET", "DATE_TRUNC"];
const WORDS = ["SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "BETWEEN", "DISTINCT", "JOIN", "CASE WHEN"];
const PIECES = /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|('(?:[^']|'')*'?)|("(?:[^"]|"")*"?)|(\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|([\p{L}_][\p{L}\p{N}_]*)|([\s\S])/gu;

const one = (selector, inside = document) => inside.querySelector(selector);

function part(url, options = {}) {
  return fetch(url, { credentials: "same-origin", ...options, headers: { "Discreet-Part": "1", ...options.headers } });
}

// ── SQL in colour: a copy of the text behind it, made of text nodes and spans, never of HTML ──────────────────────────

function coloured(text, names) {
  const found = document.createDocumentFragment();
  for (const [all, comment, quoted, name, number, word] of text.matchAll(PIECES)) {
    const kind = comment ? "comment" : quoted ? "text" : number ? "number"
      : name ? "name" : word && KEYWORDS.has(word.toLowerCase()) ? "keyword" : word && names.has(word) ? "name" : "";
    if (!kind) { found.append(all); continue; }
    const span = document.createElement("span");
    span.className = "sql-" + kind;
    span.textContent = all;
    found.append(span);
  }
  found.append("\n");
  return found;
}

function edit(editor) {
  const area = one("textarea", editor), names = new Set(JSON.parse(editor.dataset.words)), copy = document.createElement("pre");
  copy.setAttribute("aria-hidden", "true");
  editor.prepend(copy);
  editor.classList.add("lit");
  const paint = () => { copy.replaceChildren(coloured(area.value, names)); copy.scrollTop = area.scrollTop; };
  area.addEventListener("input", paint);
  area.addEventListener("scroll", () => { copy.scrollTop = area.scrollTop; });
  paint();
  complete(area, one(".hints"), [...names]);
}

// ── completion: names that fit are buttons below the text, so Tab and Enter reach them like any other ────────────────

function complete(area, hints, names) {
  if (!hints) return;
  hints.hidden = false;
  const quoted = (name) => (/^[a-z_][a-z0-9_]*$/.test(name) ? name : '"' + name.replaceAll('"', '""') + '"');
  const choices = [...names.map((name) => [name, quoted(name)]), ...FUNCTIONS.map((f) => [f, f]), ...WORDS.map((w) => [w, w])];
  const begun = () => /[\p{L}_][\p{L}\p{N}_]*$/u.exec(area.value.slice(0, area.selectionStart))?.[0] ?? "";
  const show = () => {
    const typed = begun().toLowerCase();
    const fits = typed ? choices.filter(([name]) => name.toLowerCase().startsWith(typed) && name.toLowerCase() !== typed).slice(0, 8) : [];
    hints.replaceChildren(...fits.map(([name, written]) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = name;
      button.addEventListener("click", () => insert(written));
      return button;
    }));
  };
  const insert = (written) => {
    const end = area.selectionStart, start = end - begun().length;
    area.focus();
    area.setSelectionRange(start, end);
    area.setRangeText(written, start, end, "end");
    area.dispatchEvent(new Event("input", { bubbles: true }));
  };
  area.addEventListener("input", show);
  area.addEventListener("click", show);
  hints.addEventListener("keydown", (event) => { if (event.key === "Escape") { hints.replaceChildren(); area.focus(); } });
}

// ── the plan follows the question and ε; planning is free ────────────────────────────────────────────────────────────

function plan(form) {
  const panel = one("#plan"), epsilon = one("#epsilon"), slider = one("#slide");
  let timer = 0, asked = 0;
  const ask = async () => {
    const mine = ++asked;
    panel.classList.add("waiting");
    try {
      const answer = await part(form.dataset.plan, { method: "POST", body: new URLSearchParams(new FormData(form)) });
      const text = await answer.text();
      if (mine !== asked) return;
      const folded = new Set([...panel.querySelectorAll("details[open] > summary")].map((one) => one.textContent));
      panel.innerHTML = text;  // rendered and escaped by the server
      one("#told").textContent = [...panel.querySelectorAll("[data-told], .problem")].map((said) => said.textContent.trim()).join("; ");
      for (const summary of panel.querySelectorAll("summary")) summary.parentElement.open = folded.has(summary.textContent);
    } catch { /* the network is away: the plan that is shown stays */ } finally {
      if (mine === asked) panel.classList.remove("waiting");
    }
  };
  const later = () => { clearTimeout(timer); timer = setTimeout(ask, 250); };
  const follow = () => { const e = Number(epsilon.value.replace(",", ".")); if (e > 0) slider.value = Math.log10(e); };
  for (const field of [one("#sql"), epsilon, one("#size")]) field.addEventListener("input", later);
  if (slider) {
    one(".slider").hidden = false;
    follow();
    epsilon.addEventListener("input", follow);
    slider.addEventListener("input", () => { epsilon.value = String(Number((10 ** slider.value).toPrecision(2))); later(); });
  }
  if (one("#sql").value.trim() && !one("h3, .problem", panel)) ask();
  one("#sql").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); clearTimeout(timer); ask(); }
  });
}

// ── watch: a part of the page that is asked for again; 286 says that there is a new page ─────────────────────────────

function watch(place) {
  const every = Number(place.dataset.every);
  const look = async () => {
    if (document.hidden) { setTimeout(look, every); return; }
    try {
      const answer = await part(place.dataset.poll);
      if (answer.status === 286) { location.reload(); return; }
      if (answer.ok) { const text = await answer.text(); if (text !== place.dataset.shown) { place.innerHTML = text; place.dataset.shown = text; } }
      if (answer.status === 401) return;
    } catch { /* look again later */ }
    setTimeout(look, every);
  };
  setTimeout(look, every);
}

for (const editor of document.querySelectorAll(".editor[data-words]")) edit(editor);
for (const form of document.querySelectorAll("form[data-plan]")) plan(form);
for (const place of document.querySelectorAll("[data-poll]")) watch(place);
