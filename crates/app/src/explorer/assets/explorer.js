// What a page can do with a script: search while one types, open rows in place, keys, copying, and noticing changes. Everything else
// works without it.
const part = { headers: { "X-Part": "main" }, credentials: "same-origin" };
const main = () => document.getElementById("main");
const field = document.getElementById("q");

async function load(address) {
  const answer = await fetch(address, part);
  if (answer.status === 401) return null;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return page.getElementById("main");
}

function show(fresh) {
  main().replaceWith(document.adoptNode(fresh));
  document.title = fresh.dataset.title + " · " + document.querySelector(".brand").textContent;
  wire();
}

// Search as one types: the address follows, so that it can be shared, and going back leaves the search.
let asked = 0;
let timer = 0;
async function search() {
  const text = field.value.trim();
  if (text.length < 2) return;
  const number = ++asked;
  const pairs = new URLSearchParams(new FormData(field.form));
  const address = "/search?" + pairs;
  const fresh = await load(address);
  // An answer to what was typed before is of no use.
  if (!fresh || number !== asked) return;
  const isOn = location.pathname === "/search";
  history[isOn ? "replaceState" : "pushState"](null, "", address);
  show(fresh);
}
field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(search, 120); });
addEventListener("popstate", async () => {
  const fresh = await load(location.href);
  if (fresh) { show(fresh); field.value = new URLSearchParams(location.search).get("q") ?? ""; }
});

// A row that is opened gets its list.
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
  const answer = await fetch(link.href, { credentials: "same-origin" });
  const said = link.textContent;
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
const keys = {
  "/": () => { field.focus(); field.select(); },
  "j": () => step(1),
  "k": () => step(-1),
  "Enter": () => here()?.querySelector("a")?.click(),
  "e": () => { const details = here()?.querySelector("details"); if (details) details.open = !details.open; },
  "y": () => document.querySelector("[data-copy]")?.click(),
  "?": () => document.getElementById("help").showModal(),
  "g h": () => go(".brand"),
  "g b": () => go("[data-go=b]"),
  "g s": () => go("[data-go=s]"),
  "g r": () => document.querySelector("form.where input")?.focus(),
};
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest("input, select, textarea");
  if (typing) {
    if (event.key === "Escape") event.target.blur();
    if (event.target === field && event.key === "ArrowDown") { field.blur(); step(1); event.preventDefault(); }
    return;
  }
  // A link that has the focus opens by itself.
  if (event.key === "Enter" && event.target.closest("a, button, summary")) return;
  const act = keys[before === "g" ? "g " + event.key : event.key];
  before = before === "" && event.key === "g" ? "g" : "";
  if (act) { event.preventDefault(); act(); }
});
const help = document.querySelector("[data-help]");
help.hidden = false;
help.addEventListener("click", () => keys["?"]());

// What could not be looked at in time is asked for again, a few times: each goes on where the last one ended.
let tries = ["", 0];
function isUnfinished() {
  if (!document.querySelector("main [data-partial]")) return false;
  tries = tries[0] === location.href ? [tries[0], tries[1] + 1] : [location.href, 1];
  return tries[1] < 10;
}

// An edit is on the page a moment later. What was opened stays open, and nobody who reads is moved.
async function look() {
  if (document.visibilityState !== "visible" || !main()) return;
  const answer = await fetch(document.body.dataset.live, { headers: { Accept: "application/json" }, credentials: "same-origin" });
  if (!answer.ok) return;
  const digest = (await answer.json()).state?.digest;
  const isWaiting = "waiting" in main().dataset || isUnfinished();
  if (!isWaiting && (!digest || digest === main().dataset.digest) || document.activeElement === field) return;
  const fresh = await load(location.href);
  if (!fresh) return;
  const open = [...main().querySelectorAll("details[open]")].map((details) => details.dataset.src ?? details.textContent);
  const scroll = [scrollX, scrollY, main().querySelector(".code")?.scrollLeft ?? 0];
  show(fresh);
  for (const details of main().querySelectorAll("details")) {
    if (open.includes(details.dataset.src ?? details.textContent)) details.open = true;
  }
  scrollTo(scroll[0], scroll[1]);
  const code = main().querySelector(".code");
  if (code) code.scrollLeft = scroll[2];
}
(async function watch() {
  for (;;) {
    await new Promise((wake) => setTimeout(wake, 1000));
    try { await look(); } catch { /* The server is away: it is asked again. */ }
  }
})();

wire();
