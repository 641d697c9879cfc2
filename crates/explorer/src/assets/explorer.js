// Script features of a page: search and completion while typing, rows that expand in place, keys, copying, and live updates. Everything else
// works without the script.
const part = { headers: { "X-Part": "main" }, credentials: "same-origin" };
const main = () => document.getElementById("main");
const field = document.getElementById("q");
const place = () => location.pathname + location.search;

// The server may be down, or a new one without our login: the page is then outdated, and a bar says so.
const bar = document.getElementById("away");
let failures = 0;
async function ask(address, options) {
  try {
    const answer = await fetch(address, options);
    failures = 0;
    bar.hidden = answer.status !== 401;
    bar.textContent = "This page is logged out: open the address that the server prints.";
    return answer.status === 401 ? null : answer;
  } catch {
    failures += 1;
    bar.hidden = failures < 2;
    bar.textContent = "The server is not reachable: this page may be outdated.";
    return null;
  }
}

async function load(address) {
  const answer = await ask(address, part);
  if (!answer) return null;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return page.getElementById("main");
}

let shownAt = place();
let shownText = main().innerHTML;
function show(fresh) {
  shownText = fresh.innerHTML;
  shownAt = place();
  main().replaceWith(document.adoptNode(fresh));
  document.title = fresh.dataset.title + " · " + document.querySelector(".brand").textContent;
  // The form that chooses a ref stays on the current page.
  const form = document.querySelector("form.where");
  if (form) {
    form.action = location.pathname;
    for (const old of form.querySelectorAll("input[type=hidden]")) old.remove();
    for (const [name, value] of new URLSearchParams(location.search)) {
      if (["ref", "tree", "as", "cursor"].includes(name) || name === "head") continue;
      const kept = document.createElement("input");
      [kept.type, kept.name, kept.value] = ["hidden", name, value];
      form.append(kept);
    }
  }
  light();
  wire();
}

// Highlights the line in the address; a page loaded after its address has no `:target`.
function light() {
  const line = location.hash.startsWith("#L") && document.getElementById(location.hash.slice(1));
  if (!line) return;
  for (const lit of document.querySelectorAll(".l.lit")) lit.classList.remove("lit");
  line.classList.add("lit");
}

// Search while typing: the address is updated, so that it can be shared, and going back leaves the search.
let asked = 0;
let timer = 0;
function forget() {
  asked += 1;
  clearTimeout(timer);
}
async function search() {
  if (field.value.trim().length < 2) return;
  const number = ++asked;
  const address = "/search?" + new URLSearchParams(new FormData(field.form));
  const fresh = await load(address);
  // Ignore answers to earlier input, or to a page that was left.
  if (!fresh || number !== asked) return;
  history[location.pathname === "/search" ? "replaceState" : "pushState"](null, "", address);
  show(fresh);
}
field.addEventListener("input", () => { forget(); timer = setTimeout(search, 120); });
addEventListener("popstate", async () => {
  forget();
  if (place() === shownAt) return light();
  const number = asked;
  const fresh = await load(location.href);
  if (!fresh || number !== asked) return;
  show(fresh);
  field.value = new URLSearchParams(location.search).get("q") ?? "";
});

// Completion while typing: names and files below the field. Down and Up choose one, Enter opens it, Escape closes the list.
const offers = document.getElementById("offers");
const chosen = () => offers.querySelector("[aria-selected=true]");
for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-controls", "offers"], ["aria-expanded", "false"]]) {
  field.setAttribute(name, value);
}
let offered = 0;
let offerTimer = 0;
function closeOffers() {
  offered += 1;
  clearTimeout(offerTimer);
  offers.hidden = true;
  offers.replaceChildren();
  field.setAttribute("aria-expanded", "false");
  field.removeAttribute("aria-activedescendant");
}
async function offer() {
  const number = ++offered;
  const typed = field.value.trim();
  // Several words are a question, not a name.
  if (!typed || /\s/.test(typed)) return closeOffers();
  const fresh = await load("/complete?" + new URLSearchParams(new FormData(field.form)));
  if (number !== offered || document.activeElement !== field) return;
  const rows = [...(fresh?.querySelectorAll("[data-row]") ?? [])];
  if (!rows.length) return closeOffers();
  offers.replaceChildren(...rows.map((row, at) => {
    const option = document.adoptNode(row);
    // A row of the page behind the list is something else.
    delete option.dataset.row;
    option.id = "offer-" + at;
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", "false");
    option.querySelector("a").tabIndex = -1;
    return option;
  }));
  offers.hidden = false;
  offers.scrollTop = 0;
  field.setAttribute("aria-expanded", "true");
  field.removeAttribute("aria-activedescendant");
}
function choose(by) {
  const all = [...offers.children];
  const now = all.indexOf(chosen());
  chosen()?.setAttribute("aria-selected", "false");
  // Before the first one and after the last one is the field itself.
  const next = now < 0 && by < 0 ? all.length - 1 : now + by;
  const option = all[next];
  if (!option) return field.removeAttribute("aria-activedescendant");
  option.setAttribute("aria-selected", "true");
  option.scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", option.id);
}
field.addEventListener("input", () => { clearTimeout(offerTimer); offerTimer = setTimeout(offer, 40); });
field.addEventListener("blur", closeOffers);
field.form.addEventListener("submit", closeOffers);
// The field keeps the focus when an option is clicked.
offers.addEventListener("mousedown", (event) => event.preventDefault());
offers.addEventListener("click", (event) => { if (!event.target.closest("a")) event.target.closest("li")?.querySelector("a").click(); });
field.addEventListener("keydown", (event) => {
  if (offers.hidden || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") choose(event.key === "ArrowDown" ? 1 : -1);
  else if (event.key === "Enter" && chosen()) location.href = chosen().querySelector("a").href;
  else if (event.key === "Escape") closeOffers();
  else return;
  event.preventDefault();
  event.stopPropagation();
});

// Loads the list of an expanded row; a partial list is requested again.
async function fill(details) {
  if (!details.open || details.dataset.done) return;
  details.dataset.done = "1";
  const fresh = await load(details.dataset.src);
  const list = fresh?.querySelector("[data-list]");
  if (!list) { delete details.dataset.done; return; }
  details.replaceChildren(details.querySelector("summary"), document.adoptNode(list));
  wire(details);
}

function wire(root = document) {
  for (const details of root.querySelectorAll("details[data-src]")) details.addEventListener("toggle", () => fill(details));
  for (const link of root.querySelectorAll("[data-copy]")) link.addEventListener("click", copy);
  for (const choice of root.querySelectorAll("select[data-submit]")) choice.addEventListener("change", () => choice.form.submit());
}

async function copy(event) {
  event.preventDefault();
  const link = event.currentTarget;
  const said = link.textContent;
  const answer = await ask(link.href, { credentials: "same-origin" });
  if (!answer?.ok) { location.href = link.href; return; }
  try {
    await navigator.clipboard.writeText(await answer.text());
    link.textContent = "Copied";
  } catch {
    location.href = link.href;
    return;
  }
  setTimeout(() => { link.textContent = said; }, 1500);
}

// Keys.
let before = "";
const rows = () => [...document.querySelectorAll("main [data-row]")].filter((row) => row.offsetParent !== null);
function step(by) {
  const all = rows();
  const now = all.findIndex((row) => row.classList.contains("at"));
  const next = all[Math.min(Math.max(now + by, 0), all.length - 1)];
  if (!next) return;
  all[now]?.classList.remove("at");
  next.classList.add("at");
  next.scrollIntoView({ block: "nearest" });
  next.querySelector("a")?.focus({ preventScroll: true });
}
const here = () => rows().find((row) => row.classList.contains("at"));
const go = (selector) => { const link = document.querySelector(selector); if (link) location.href = link.href; };
const help = document.getElementById("help");
const keys = {
  "/": () => { field.focus(); field.select(); },
  "j": () => step(1),
  "k": () => step(-1),
  "Enter": () => here()?.querySelector("a")?.click(),
  "e": () => { const details = here()?.querySelector("details"); if (details) details.open = !details.open; },
  "y": () => document.querySelector("[data-copy]")?.click(),
  "?": () => help.showModal(),
  "g h": () => go(".brand"),
  "g b": () => go("[data-go=b]"),
  "g s": () => go("[data-go=s]"),
  "g r": () => document.querySelector("form.where input")?.focus(),
};
addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k" && !help.open) {
    event.preventDefault();
    return keys["/"]();
  }
  if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  const typing = event.target.closest("input, select, textarea");
  if (typing) {
    if (event.key === "Escape") event.target.blur();
    if (event.target === field && event.key === "ArrowDown") { field.blur(); step(1); event.preventDefault(); }
    return;
  }
  // A focused link handles Enter itself.
  if (event.key === "Enter" && event.target.closest("a, button, summary")) return;
  const act = keys[before === "g" ? "g " + event.key : event.key];
  before = before === "" && event.key === "g" ? "g" : "";
  if (act) { event.preventDefault(); act(); }
});
const button = document.querySelector("[data-help]");
button.hidden = false;
button.addEventListener("click", () => help.showModal());

// Partial results are requested again, a few times: each request continues where the last one ended.
let tries = ["", 0];
function isUnfinished() {
  if (!document.querySelector("main [data-partial]")) return false;
  tries = tries[0] === shownAt ? [tries[0], tries[1] + 1] : [shownAt, 1];
  return tries[1] < 10;
}

// A fold is identified by its source or summary, below its enclosing folds; counts in the summary may change.
function key(details) {
  const around = details.parentElement.closest("details");
  const own = details.dataset.src ?? details.querySelector("summary").textContent.replace(/\d+/g, "");
  return (around ? key(around) + " › " : "") + own;
}

// Updates the page after an edit. Folds stay open or closed, and the scroll position stays.
async function renew(fresh) {
  const folds = new Map([...main().querySelectorAll("details")].map((details) => [key(details), details.open]));
  const at = here()?.querySelector("a")?.getAttribute("href");
  const focus = document.activeElement?.closest("main a")?.getAttribute("href");
  const scroll = [scrollX, scrollY, main().querySelector(".code")?.scrollLeft ?? 0];
  show(fresh);
  // Nested folds exist only after their enclosing folds are loaded.
  for (let depth = 0; depth < 6; depth += 1) {
    const due = [...main().querySelectorAll("details")].filter((details) => !details.dataset.kept && folds.has(key(details)));
    if (!due.length) break;
    for (const details of due) {
      details.dataset.kept = "1";
      details.open = folds.get(key(details));
    }
    await Promise.all(due.filter((details) => details.open && details.dataset.src).map(fill));
  }
  const row = at && rows().find((one) => one.querySelector("a")?.getAttribute("href") === at);
  if (row) row.classList.add("at");
  if (focus) [...main().querySelectorAll("a")].find((link) => link.getAttribute("href") === focus)?.focus({ preventScroll: true });
  const code = main().querySelector(".code");
  if (code) code.scrollLeft = scroll[2];
  scrollTo(scroll[0], scroll[1]);
}

async function look() {
  // A text selection may be about to be copied.
  if (document.visibilityState !== "visible" || document.activeElement === field || !getSelection().isCollapsed) return;
  const answer = await ask(document.body.dataset.live, { headers: { Accept: "application/json" }, credentials: "same-origin" });
  if (!answer?.ok) return;
  const digest = (await answer.json()).state?.digest;
  const old = main().dataset.digest;
  const isWaiting = "waiting" in main().dataset || isUnfinished();
  if (!isWaiting && (!digest || !old || digest === old)) return;
  const from = shownAt;
  const fresh = await load(location.href);
  if (!fresh || shownAt !== from) return;
  // An unchanged result will not change next time.
  if (fresh.innerHTML === shownText && fresh.dataset.digest === old) { tries[1] = 10; return; }
  await renew(fresh);
}
(async function watch() {
  for (;;) {
    await new Promise((wake) => setTimeout(wake, 1000));
    await look();
  }
})();

// On a narrow screen the text comes first, so the outline is closed.
if (innerWidth < 600) for (const outline of document.querySelectorAll(".outline > details")) outline.open = false;
light();
wire();
