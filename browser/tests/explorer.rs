//! Tests of the explorer in a browser: every screen, the keys, live edits, another branch, with and without JavaScript.

mod support;

use codecompass_testkit::Repository;
use fantoccini::Locator;
use serde_json::json;
use support::{Browser, Explorer};

/// A small repository with tests and a branch that breaks a caller.
fn repository() -> Repository {
    let repository = Repository::new();
    repository.write(
        "src/lib.rs",
        "mod part;\n\n/// Adds one to a number, which is what most people want.\npub fn add_one(n: u32) -> u32 {\n    part::add(n, 1)\n}\n\n\
         pub fn add_two(n: u32) -> u32 {\n    add_one(add_one(n))\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn one_and_one() {\n        \
         assert_eq!(super::add_one(1), 2);\n    }\n}\n",
    );
    repository.write("src/part.rs", "pub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n\npub trait Sum {\n    fn sum(&self) -> u32;\n}\n\npub struct Pair(pub u32, pub u32);\n\nimpl Sum for Pair {\n    fn sum(&self) -> u32 {\n        add(self.0, self.1)\n    }\n}\n");
    repository.write("README.md", "# Small\n\nAdds <b>numbers</b>.\n");
    repository.commit("a small library");
    repository.git(&["checkout", "-q", "-b", "feature"]);
    repository.write("src/part.rs", "pub fn add(a: u32, b: u32, c: u32) -> u32 {\n    a + b + c\n}\n");
    repository.commit("three numbers");
    repository.git(&["checkout", "-q", "main"]);
    repository
}

/// The screens, each with a text that it must show.
const SCREENS: &[(&str, &str)] = &[
    ("/", "README.md"),
    ("/folder/src", "part.rs"),
    ("/file/src/lib.rs", "add_two"),
    ("/search?q=add+one+to+a+number", "add_one"),
    ("/why?q=add_one&path=src/lib.rs&line=4", "the sum of"),
    ("/symbol/add_one", "Adds one to a number"),
    ("/symbol/Pair", "Used by"),
    ("/calls/add_one", "add_two"),
    ("/graph/add_one", "callers left"),
    ("/references/add_one", "src/lib.rs"),
    ("/hierarchy/Sum", "Implemented by"),
    ("/branch?base=main&head=feature", "May break callers"),
    ("/compare/add?base=main&head=feature", "signature changed"),
    ("/status", "Languages"),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_screen_renders_in_all_themes_and_widths() {
    let Some(browser) = Browser::start(true).await else { return };
    let explorer = Explorer::start(repository());
    browser.go(&explorer.link).await;
    browser.wait_for_element("main .files").await;
    for (path, word) in SCREENS {
        browser.set_theme_and_width("light", 1440).await;
        browser.go(&format!("{}{path}", explorer.origin)).await;
        browser.wait_for_text(word).await;
        for scheme in ["light", "dark"] {
            for width in [1440, 360] {
                browser.set_theme_and_width(scheme, width).await;
                let over = browser.run_script("return document.documentElement.scrollWidth - innerWidth").await;
                assert!(over.as_i64().is_some_and(|over| over <= 0), "{path} is {over} pixels wider than {width}");
            }
            let pale = browser.run_script(CONTRAST_SCRIPT).await;
            assert_eq!(pale, json!([]), "{path}, {scheme}");
        }
    }
    browser.check(&explorer.origin).await;
    browser.quit().await;
}

/// Returns every text of the page with too little contrast to its background (WCAG AA, 4.5 : 1), with the ratio.
const CONTRAST_SCRIPT: &str = r#"
const parse = (text) => { const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number); return [r, g, b, a]; };
const light = (color) => { const [r, g, b] = color.map((part) => { const share = part / 255; return share <= .03928 ? share / 12.92 : ((share + .055) / 1.055) ** 2.4; }); return .2126 * r + .7152 * g + .0722 * b; };
const behind = (element) => { for (let at = element; at; at = at.parentElement) { const color = parse(getComputedStyle(at).backgroundColor); if (color[3] > 0) return color; } return parse(getComputedStyle(document.body).backgroundColor); };
const found = new Map();
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const element = walk.currentNode.parentElement;
  if (!walk.currentNode.data.trim() || !element.getClientRects().length || element.closest("svg, option")) continue;
  const [one, other] = [light(parse(getComputedStyle(element).color)), light(behind(element))].sort((a, b) => b - a);
  const ratio = (one + .05) / (other + .05);
  if (ratio < 4.5) found.set(element.className + ": " + walk.currentNode.data.trim().slice(0, 30), ratio.toFixed(2));
}
return [...found];
"#;

#[tokio::test(flavor = "multi_thread")]
async fn keyboard_navigation() {
    let Some(browser) = Browser::start(true).await else { return };
    let explorer = Explorer::start(repository());
    browser.go(&explorer.link).await;
    browser.wait_for_element("main .files").await;
    browser.press("/").await;
    assert_eq!(browser.run_script("return document.activeElement.id").await, "q");
    browser.press("add_one").await;
    browser.wait_for_element("main .results [data-row]").await;
    assert!(browser.address().await.contains("/search?q=add_one"), "the address contains the query");
    // The first one closes the names that the search field offers.
    browser.press("\u{e00c}").await;
    browser.press("\u{e00c}").await;
    browser.press("j").await;
    browser.wait_for_element("main [data-row].at").await;
    browser.press("e").await;
    browser.wait_for_text("the sum of").await;
    browser.press("\u{e007}").await;
    browser.wait_for_element("main .sides").await;
    assert!(browser.address().await.contains("/symbol/sym_"), "{}", browser.address().await);
    // One more hop, in place; tests are folded.
    browser
        .wait_for_element(".left details.hop > summary")
        .await
        .click()
        .await
        .expect("because the list can be opened");
    browser.wait_for_element(".left details.hop [data-list]").await;
    assert_eq!(browser.run_script("return document.querySelector('.left details.tests').open").await, false);
    // A name in the code links to its definition.
    browser.wait_for_element("pre.code a.r").await.click().await.expect("because the link can be clicked");
    browser.wait_for_text("pub fn add(a: u32, b: u32)").await;
    browser.press("?").await;
    browser.wait_for_element("dialog[open]").await;
    browser.press("\u{e00c}").await;
    browser.wait_for_script("a closed dialog", "return !document.querySelector('dialog').open", &[]).await;
    for (keys, word) in [("gs", "Languages"), ("gb", "Changes of"), ("gh", "README.md")] {
        browser
            .page
            .find(Locator::Css("main"))
            .await
            .expect("because the page has a main element")
            .send_keys(keys)
            .await
            .expect("because keys can be sent");
        browser.wait_for_text(word).await;
    }
    browser.check(&explorer.origin).await;
    browser.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_and_files_are_completed_while_typing() {
    let Some(browser) = Browser::start(true).await else { return };
    let explorer = Explorer::start(repository());
    browser.go(&explorer.link).await;
    browser.wait_for_element("main .files").await;
    for (width, theme) in [(1440, "light"), (390, "dark")] {
        browser.set_theme_and_width(theme, width).await;
        browser.go(&format!("{}/status", explorer.origin)).await;
        browser.wait_for_text("Languages").await;
        // Ctrl-K; the last character releases Ctrl.
        browser.press("\u{e009}k\u{e000}").await;
        assert_eq!(browser.run_script("return document.activeElement.id").await, "q");
        // The beginnings of two words.
        browser.press("ao").await;
        browser.wait_for_element("#offers:not([hidden]) li").await;
        assert_eq!(browser.run_script("return document.querySelector('#offers li a').textContent").await, "add_one");
        let outside = browser.run_script(OUTSIDE_SCRIPT).await;
        assert_eq!(outside, json!([]), "at {width} pixels");
        browser.press("\u{e015}").await;
        browser.wait_for_element("#offers li[aria-selected=true]").await;
        assert_eq!(
            browser.run_script("return document.activeElement.getAttribute('aria-activedescendant')").await,
            "offer-0"
        );
        assert_eq!(browser.run_script(CONTRAST_SCRIPT).await, json!([]), "{theme}");
        browser.press("\u{e007}").await;
        browser.wait_for_element("main .sides").await;
        browser.wait_for_text("Adds one to a number").await;
        // A file, from the end of the list. A name in several words is a question.
        browser.press("/").await;
        browser.press("part").await;
        browser
            .wait_for_script(
                "the file",
                "return document.querySelector('#offers li:last-child a')?.textContent === 'src/part.rs'",
                &[],
            )
            .await;
        browser.press("\u{e013}\u{e007}").await;
        browser.wait_for_text("pub trait Sum").await;
        assert!(browser.address().await.contains("/file/src/part.rs"), "{}", browser.address().await);
        browser.press("/").await;
        browser.press("Pai").await;
        browser.wait_for_element("#offers:not([hidden]) li").await;
        browser.press("\u{e00c}").await;
        browser
            .wait_for_script(
                "a closed list",
                "return document.getElementById('offers').hidden && document.activeElement.id === 'q'",
                &[],
            )
            .await;
        browser.press("r").await;
        browser.wait_for_element("#offers:not([hidden]) li").await;
        browser.press(" of").await;
        browser.wait_for_script("a closed list", "return document.getElementById('offers').hidden", &[]).await;
        // A click opens a name, too.
        browser.go(&format!("{}/", explorer.origin)).await;
        browser.wait_for_element("main .files").await;
        browser.press("/").await;
        browser.press("add_t").await;
        browser
            .wait_for_element("#offers:not([hidden]) li")
            .await
            .click()
            .await
            .expect("because a name can be clicked");
        browser.wait_for_text("add_one(add_one(n))").await;
    }
    browser.check(&explorer.origin).await;
    browser.quit().await;
}

/// Returns the offered names that are not within the window, and the number of pixels by which the page is too wide.
const OUTSIDE_SCRIPT: &str = r#"
const wide = document.documentElement.scrollWidth - innerWidth;
const rows = [...document.querySelectorAll('#offers li')].filter((row) => {
  const { left, right, width } = row.getBoundingClientRect();
  return left < 0 || right > innerWidth || width < 200;
});
return [...rows.map((row) => row.textContent), ...(wide > 0 ? [wide] : [])];
"#;

#[tokio::test(flavor = "multi_thread")]
async fn edits_appear_and_branches_have_own_pages() {
    let Some(browser) = Browser::start(true).await else { return };
    let explorer = Explorer::start(repository());
    browser.go(&explorer.link).await;
    browser.wait_for_element("main .files").await;
    browser.go(&format!("{}/symbol/add", explorer.origin)).await;
    browser.wait_for_text("pub fn add(a: u32, b: u32)").await;
    explorer.repository.write("src/part.rs", "pub fn add(a: u32, b: u32) -> u32 {\n    a.wrapping_add(b)\n}\n");
    browser.wait_for_text("a.wrapping_add(b)").await;
    browser.wait_for_text("edited, not committed").await;
    // Opened lists stay open, two hops deep, while another edit arrives.
    let hop = ".left details.hop";
    browser.wait_for_element(&format!("{hop} > summary")).await.click().await.expect("because the list can be opened");
    browser
        .wait_for_element(&format!("{hop} [data-list] details.hop > summary"))
        .await
        .click()
        .await
        .expect("because the inner list can be opened");
    browser.wait_for_element(&format!("{hop} [data-list] details.hop [data-list]")).await;
    explorer.repository.write("src/part.rs", "pub fn add(a: u32, b: u32) -> u32 {\n    a.saturating_add(b)\n}\n");
    browser.wait_for_text("a.saturating_add(b)").await;
    browser.wait_for_element(&format!("{hop}[open] [data-list] details.hop[open] [data-list]")).await;
    // A clicked line is highlighted without a page load.
    browser.run_script("document.querySelector('main').dataset.mine = '1'").await;
    browser.wait_for_element("#L2 .n").await.click().await.expect("because the link can be clicked");
    browser.wait_for_script("a highlighted line", "return location.hash === '#L2' && document.querySelector('main').dataset.mine === '1' && !!document.querySelector('#L2.lit, #L2:target')", &[]).await;
    let field = browser.wait_for_element("form.where input[name=ref]").await;
    field.send_keys("feature\u{e007}").await.expect("because a ref can be typed");
    browser.wait_for_text("pub fn add(a: u32, b: u32, c: u32)").await;
    assert!(browser.address().await.contains("ref=feature"), "{}", browser.address().await);
    // A new commit on that branch appears, too.
    explorer.repository.git(&["stash", "-q"]);
    explorer.repository.git(&["checkout", "-q", "feature"]);
    explorer
        .repository
        .write("src/part.rs", "pub fn add(a: u32, b: u32, c: u64) -> u64 {\n    u64::from(a + b) + c\n}\n");
    explorer.repository.commit("a longer one");
    browser.wait_for_text("u64::from(a + b)").await;
    browser.wait_for_element("[data-copy]").await.click().await.expect("because the button can be clicked");
    browser
        .wait_for_script(
            "a copy",
            "return document.body.innerText.includes('Copied') || document.contentType === 'text/plain'",
            &[],
        )
        .await;
    browser.check(&explorer.origin).await;
    browser.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unchanged_pages_stay_and_lost_servers_are_reported() {
    let Some(browser) = Browser::start(true).await else { return };
    let explorer = Explorer::start(repository());
    browser.go(&explorer.link).await;
    browser.wait_for_element("main .files").await;
    for path in ["/nothing", "/symbol/none", "/symbol/add_one"] {
        browser.go(&format!("{}{path}", explorer.origin)).await;
        browser.wait_for_element("main h1").await;
        browser.wait_for_script("three polls", "window.looks ??= new Set(); performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/live')).forEach((one) => looks.add(one.startTime)); return looks.size >= 3", &[]).await;
        let loads = browser
            .run_script(
                "return performance.getEntriesByType('resource').filter((one) => one.name === location.href).length",
            )
            .await;
        assert!(loads.as_u64().is_some_and(|loads| loads <= 1), "{path} was loaded {loads} times more");
    }
    let Explorer { repository, server, .. } = explorer;
    drop(server);
    browser.wait_for_element("#away:not([hidden])").await;
    browser.wait_for_text("The server is not reachable").await;
    drop(repository);
    browser.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn works_without_javascript() {
    let Some(browser) = Browser::start(false).await else { return };
    let explorer = Explorer::start(repository());
    browser.go(&explorer.link).await;
    browser.wait_for_element("main .files").await;
    browser.wait_for_element("#q").await.send_keys("add_one\u{e007}").await.expect("because a query can be typed");
    browser.wait_for_element("main .results a.name").await.click().await.expect("because the link can be clicked");
    browser.wait_for_element("main .sides").await;
    browser
        .wait_for_element(".left details.hop > summary")
        .await
        .click()
        .await
        .expect("because the list can be opened");
    browser.wait_for_element(".left details.hop p a").await.click().await.expect("because the link can be clicked");
    browser.wait_for_element("main [data-list]").await;
    browser
        .wait_for_element("form.where input[name=ref]")
        .await
        .send_keys("feature\u{e007}")
        .await
        .expect("because a ref can be typed");
    browser.wait_for_element("main .head").await;
    assert!(browser.address().await.contains("ref=feature"), "{}", browser.address().await);
    browser.quit().await;
}
