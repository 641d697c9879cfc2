//! Checks the resolvers of all languages against the marks in `worlds/<language>/*.world`.
//!
//! `crates/testkit/README.md` has the notation. An answer is one of
//!
//! - `path:line`, several with commas; `path:line#name` if symbols with other names begin on that line;
//! - `guess …`: the same, if it is a guess;
//! - `module path, …`, `external`, `local`, `unknown`; `nothing` for an empty list;
//! - `… via path:line`: the target of a returned call, and the function that returns it;
//! - `TRUTH but TODAY`: a known gap, the answer by the language's rules and the resolver's; `no reference` if extraction
//!   has no such reference, import or symbol. It fails as soon as the resolver's answer changes.
//!
//! `UPDATE=1` fills in the answers that are written `?`, and no others. `WORLD=text` restricts the test to worlds whose
//! path contains the text.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use codecompass_lang::{LANGUAGES, extract, has_rules, resolver};
use codecompass_model::{Confidence, Resolution, Resolver, SourceFile, SymbolAt, SymbolKind, World};
use codecompass_testkit::{Mark, MarkKind, MarkedWorld, MemoryWorld, fill_in, update_requested};

/// The answer of a gap if there is no reference, import or symbol above the carets.
const MISSING: &str = "no reference";

/// Defines a test for each language, and the list of their names.
macro_rules! languages {
    ($($name:ident),*) => {
        const TESTED: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { check_language(stringify!($name)) })*
    };
}

languages!(
    c, cpp, csharp, elixir, go, haskell, java, javascript, kotlin, lua, php, python, ruby, rust, scala, shell, svelte,
    swift, typescript, vue, zig
);

#[test]
fn every_language_has_worlds() {
    for language in LANGUAGES {
        assert!(TESTED.contains(&language.name), "{} has no test", language.name);
    }
    let folders = fs::read_dir(worlds()).expect("because the folder of worlds exists").flatten();
    for folder in folders.map(|entry| entry.file_name()) {
        assert!(TESTED.iter().any(|name| folder == *name), "{} has no test", folder.display());
    }
}

#[test]
fn marks_align_with_names() {
    let asked = |code: &str| {
        let marked = MarkedWorld::parse(&format!("It is so.\n== a.py\n{code}")).expect("because it is a valid world");
        answer(&in_memory(&marked), &marked.marks[0])
    };
    let none = || Err("no such reference, import or symbol".to_owned());
    assert_eq!(asked("def run(): pass\nrun()\n^^^ → ?\n"), Ok("a.py:1".to_owned()));
    assert_eq!(asked("def run(): pass\nrun()\n^^ → ?\n"), none());
    assert_eq!(asked("def run(): pass\nrun()\n ^^^ → ?\n"), none());
    assert_eq!(asked("def run(): pass\nrun()\n^^^ import → ?\n"), none());
    assert_eq!(asked("def run(): pass\nrun()\n^^^ implementations → ?\n"), none());
}

#[test]
fn gaps_fail_when_answers_change() {
    assert_eq!(changed_gap("unknown", "a.py:1", "unknown"), None);
    let closed = changed_gap("a.py:1", "a.py:1", "unknown");
    assert_eq!(closed.as_deref(), Some("the gap is closed: write → a.py:1"));
    let other = changed_gap("a.py:2", "a.py:1", "unknown");
    assert_eq!(other.as_deref(), Some("a.py:2, not unknown; the right answer of this gap is a.py:1"));
}

fn worlds() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("worlds")
}

fn check_language(language: &str) {
    let folder = worlds().join(language);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{language} has no worlds");
    let only = std::env::var("WORLD").unwrap_or_default();
    let looked_at = files.iter().filter(|file| file.to_string_lossy().contains(&only));
    let wrong: Vec<String> = looked_at.flat_map(|file| check_file(file, language)).collect();
    assert!(wrong.is_empty(), "{} wrong\n{}\n", wrong.len(), wrong.join("\n"));
}

/// Returns all errors of a world.
fn check_file(file: &Path, language: &str) -> Vec<String> {
    let shown = file.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(file).display().to_string();
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{shown}: {error}"));
    let marked = match MarkedWorld::parse(&text) {
        Ok(marked) => marked,
        Err((line, message)) => return vec![format!("{shown}:{line}: {message}")],
    };
    let world = in_memory(&marked);
    let mut wrong: Vec<String> = order_matters(&world).into_iter().map(|why| format!("{shown}: {why}")).collect();
    if !world.files().any(|file| file.language == language) {
        wrong.push(format!("{shown}: it has no {language} file"));
    }
    let mut filled = Vec::new();
    for mark in &marked.marks {
        let at = format!("{shown}:{}: {}:{}:{} {}", mark.source_line, mark.path, mark.line, mark.column + 1, mark.name);
        if let (Some(truth), Some(today)) = (&mark.expected, &mark.today) {
            let found = answer(&world, mark).unwrap_or_else(|_| MISSING.to_owned());
            wrong.extend(changed_gap(&found, truth, today).map(|why| format!("{at}: {why}")));
            let miswritten = miswritten_places(&world, truth).into_iter();
            wrong.extend(miswritten.map(|place| format!("{at}: no symbol is written {place}")));
            continue;
        }
        match (answer(&world, mark), &mark.expected) {
            (Err(nothing), _) => wrong.push(format!("{at}: {nothing}")),
            (Ok(found), Some(expected)) if found == *expected => {}
            (Ok(found), Some(expected)) => wrong.push(format!("{at}: {found}, not {expected}")),
            (Ok(found), None) if update_requested() => filled.push((mark.source_line, found)),
            (Ok(found), None) => wrong.push(format!("{at}: {found}; UPDATE=1 fills it in")),
        }
    }
    if !filled.is_empty() {
        fs::write(file, fill_in(&text, &filled)).unwrap_or_else(|error| panic!("{shown}: {error}"));
    }
    wrong
}

/// Returns why the mark of a known gap is no longer true.
fn changed_gap(found: &str, truth: &str, today: &str) -> Option<String> {
    match found {
        _ if found == truth => Some(format!("the gap is closed: write → {truth}")),
        _ if found != today => Some(format!("{found}, not {today}; the right answer of this gap is {truth}")),
        _ => None,
    }
}

/// Returns the places in the truth of a gap that are written otherwise than the answer of a resolver would be. A place
/// may be without a symbol, if extraction has none yet.
fn miswritten_places(world: &MemoryWorld, truth: &str) -> Vec<String> {
    let written = |file: &SourceFile, line: u32| -> Vec<String> {
        let at_line = (0..).zip(file.facts.symbols.iter()).filter(|(_, symbol)| symbol.lines.start == line);
        at_line.map(|(ordinal, _)| location(world, SymbolAt { file: file.id, ordinal })).collect()
    };
    let is_miswritten = |place: &&str| {
        let (path, line) = place.split_once(':').expect("because only places have a colon");
        let line = line.split('#').next().and_then(|line| line.parse().ok());
        let file = world.file_at(path).and_then(|id| world.file(id));
        let Some((file, line)) = file.zip(line) else { return true };
        let known = written(&file, line);
        !known.is_empty() && !known.iter().any(|known| known == place)
    };
    let places = truth.split([' ', ',']).filter(|word| word.contains(':'));
    places.filter(is_miswritten).map(str::to_owned).collect()
}

fn in_memory(marked: &MarkedWorld) -> MemoryWorld {
    let mut world = MemoryWorld::new();
    for (path, text) in &marked.files {
        let extracted = extract(path, text.clone().into_bytes());
        world.add(path, extracted.language, &extracted.text, extracted.facts);
    }
    world
}

/// Returns the answer to a mark from a new resolver without cached results, or the missing item.
fn answer(world: &MemoryWorld, mark: &Mark) -> Result<String, String> {
    let file = world.file_at(&mark.path).and_then(|id| world.file(id)).expect("because the file was added");
    let rules = rules(world, &file.language).ok_or_else(|| format!("{} has no resolver", file.language))?;
    let places = match mark.kind {
        MarkKind::Reference | MarkKind::ReturnedCall => references_at(&file, mark),
        MarkKind::Import => imports_at(&file, mark),
        MarkKind::Implementations => symbols_at(world, &file, mark),
    };
    let mut answers: Vec<String> =
        places.into_iter().map(|at| describe(world, rules.as_ref(), &file, mark.kind, at)).collect();
    answers.dedup();
    match answers.is_empty() {
        true => Err("no such reference, import or symbol".into()),
        false => Ok(answers.join(" and ")),
    }
}

fn rules<'w>(world: &'w MemoryWorld, language: &str) -> Option<Box<dyn Resolver + 'w>> {
    resolver(language, Rc::new(world))
}

/// Returns the references exactly above the carets. There can be several: a shorthand refers to a field and declares a
/// binding.
fn references_at(file: &SourceFile, mark: &Mark) -> Vec<u32> {
    let facts = &file.facts;
    let is_meant = |&at: &u32| {
        let reference = &facts.references[at as usize];
        (reference.line, reference.column) == (mark.line, mark.column)
            && facts.names[reference.name as usize] == mark.name
    };
    (0..facts.references.len() as u32).filter(is_meant).collect()
}

/// Returns the imports on the line with this name or alias, or this path.
fn imports_at(file: &SourceFile, mark: &Mark) -> Vec<u32> {
    let imports = &file.facts.imports;
    let name = Some(mark.name.trim_matches(['"', '\'']));
    let is_meant = |&at: &u32| {
        let import = &imports[at as usize];
        let names = [import.alias.as_deref(), import.name.as_deref().or(import.glob.then_some("*"))];
        import.line == mark.line && (names.contains(&name) || import.name.is_none() && name == Some(&import.module))
    };
    (0..imports.len() as u32).filter(is_meant).collect()
}

fn symbols_at(world: &MemoryWorld, file: &SourceFile, mark: &Mark) -> Vec<u32> {
    let text = world.text(file.id).expect("because the file was added");
    let before: usize = text.split_inclusive('\n').take(mark.line as usize - 1).map(str::len).sum();
    let start = before as u32 + mark.column;
    let symbols = file.facts.symbols.iter();
    (0..).zip(symbols).filter(|(_, symbol)| symbol.name_span.start == start).map(|(at, _)| at).collect()
}

/// Renders the answer of the resolver.
fn describe(world: &MemoryWorld, rules: &dyn Resolver, file: &SourceFile, asked: MarkKind, at: u32) -> String {
    let places = |targets: &[SymbolAt]| match targets {
        [] => "nothing".to_owned(),
        _ => targets.iter().map(|&target| location(world, target)).collect::<Vec<_>>().join(", "),
    };
    let meaning = match asked {
        MarkKind::Reference => rules.resolve_reference(file.id, at),
        MarkKind::Import => rules.resolve_import(file.id, at),
        MarkKind::Implementations => return places(&rules.implementations(SymbolAt { file: file.id, ordinal: at })),
        MarkKind::ReturnedCall => {
            let reached = rules.returned_call(file.id, at);
            let told = |found: codecompass_model::ReturnedCall| {
                format!("{} via {}", places(&found.targets), location(world, found.via))
            };
            return reached.map_or("nothing".to_owned(), told);
        }
    };
    match meaning {
        Resolution::Symbols { targets, confidence: Confidence::Static, .. } => places(&targets),
        Resolution::Symbols { targets, confidence: Confidence::Heuristic, .. } => format!("guess {}", places(&targets)),
        Resolution::Module(files) => {
            let paths = files.into_iter().filter_map(|id| Some(world.file(id)?.path.clone()));
            format!("module {}", paths.collect::<Vec<_>>().join(", "))
        }
        Resolution::External => "external".into(),
        Resolution::Local => "local".into(),
        Resolution::Unknown(_) => "unknown".into(),
    }
}

/// Renders a symbol as `path:line`, with its name if the line alone is ambiguous.
fn location(world: &MemoryWorld, at: SymbolAt) -> String {
    let file = world.file(at.file).expect("because a target is in the view");
    let meant = &file.facts.symbols[at.ordinal as usize];
    let is_homonym = |other: &&codecompass_model::Symbol| {
        other.lines.start == meant.lines.start && other.name != meant.name && other.kind != SymbolKind::Use
    };
    let name = file.facts.symbols.iter().find(is_homonym).map(|_| format!("#{}", meant.name));
    world.location(at) + &name.unwrap_or_default()
}

/// Returns the queries whose answers depend on earlier queries: runs all queries of a world from first to last and from
/// last to first.
fn order_matters(world: &MemoryWorld) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut languages: Vec<&str> = world.files().map(|file| file.language.as_str()).collect();
    languages.sort_unstable();
    languages.dedup();
    for language in languages.into_iter().filter(|language| has_rules(language)) {
        let questions = all_queries(world, language);
        let forwards = rules(world, language).expect("because the language has a resolver");
        let backwards = rules(world, language).expect("because the language has a resolver");
        let ask = |rules: &dyn Resolver, question: &(Rc<SourceFile>, MarkKind, u32)| {
            describe(world, rules, &question.0, question.1, question.2)
        };
        let first: Vec<String> = questions.iter().map(|question| ask(forwards.as_ref(), question)).collect();
        let last: Vec<String> = questions.iter().rev().map(|question| ask(backwards.as_ref(), question)).collect();
        for ((question, first), last) in questions.iter().zip(first).zip(last.into_iter().rev()) {
            if first != last {
                let (file, asked, at) = question;
                wrong.push(format!("{} {asked:?} {at}: {first} or {last}, depending on earlier queries", file.path));
            }
        }
    }
    wrong
}

/// Returns every query for the resolver of a language, about its own files and those of its interop languages.
fn all_queries(world: &MemoryWorld, language: &str) -> Vec<(Rc<SourceFile>, MarkKind, u32)> {
    let rules = rules(world, language).expect("because the language has a resolver");
    let is_own = |file: &&Rc<SourceFile>| {
        file.language == language || rules.interop_languages().contains(&file.language.as_str())
    };
    let mut all = Vec::new();
    for file in world.files().filter(is_own) {
        let facts = &file.facts;
        let counts = [
            (MarkKind::Reference, facts.references.len()),
            (MarkKind::ReturnedCall, facts.references.len()),
            (MarkKind::Import, facts.imports.len()),
            (MarkKind::Implementations, facts.symbols.len()),
        ];
        for (asked, count) in counts {
            all.extend((0..count as u32).map(|at| (Rc::clone(file), asked, at)));
        }
    }
    all
}
