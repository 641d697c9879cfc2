//! Items that macros of the same file expand to, located at their names in the call.
//!
//! `reasons! { Timeout, Closed }` declares two structs if the macro contains `struct $name` for the captured names. A
//! symbol is a fact of one file, so only macros of the same file are expanded; expansions of other macros are unknown,
//! and references to them stay unresolved. A call is matched with the rules of its macro by words, groups, repetitions,
//! and fragments up to the token that follows them. A call that does not match expands to nothing.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use codecompass_model::{Span, SymbolKind};

use super::kinds::{field as f, kind as k};
use super::lexer::{self, Token, TokenKind};
use super::macro_matching::{MAX_NESTING, MAX_STEPS, MatchBudget, Matcher};
use crate::text;
use crate::tree::Tree;

/// The maximum depth of macro calls within macros.
const MAX_CALLS: usize = 4;

/// An item that a name in a macro call declares.
pub(super) struct ExpandedItem {
    pub(super) kind: SymbolKind,
    /// The part of the call that it expands from: one repetition, or all of it.
    pub(super) span: Span,
    pub(super) name: Span,
    /// Its header in the macro, with the name filled in.
    pub(super) signature: String,
    pub(super) visibility: Option<String>,
    /// The return type of a function, as in the macro.
    pub(super) annotation: Option<Span>,
}

/// Returns the items that the macro calls of a file expand to, by the offsets of their names.
pub(super) fn items(tree: &Tree, text: &str) -> HashMap<u32, ExpandedItem> {
    let mut made = HashMap::new();
    let definitions = (0..tree.len()).filter(|&at| tree.kind(at) == k::MACRO_DEFINITION);
    let mut reader =
        Expander { text, macros: HashMap::new(), expansions: HashMap::new(), effort: MatchBudget::default() };
    for at in definitions {
        reader.define(tree, at);
    }
    if reader.macros.is_empty() {
        return made;
    }
    for at in (0..tree.len()).filter(|&at| tree.kind(at) == k::MACRO_CALL && is_item(tree, at)) {
        let name = tree.child(at, f::MACRO).map_or("", |name| tree.node(name).span().text(text));
        let arguments = tree.child_of_kind(at, k::TOKEN_TREE).filter(|_| reader.macros.contains_key(name));
        let Some(arguments) = arguments else { continue };
        let tokens = lexer::tokens(text, tree.node(arguments).span());
        let inside = 1..tokens.len().saturating_sub(1);
        for item in reader.call(name, &tokens, inside, tree.node(at).span(), 0) {
            made.entry(item.name.start).or_insert(item);
        }
    }
    made
}

/// Returns whether a macro call is in item position: in a file, module, `impl`, trait, or the braces of such a call.
pub(super) fn is_item(tree: &Tree, at: usize) -> bool {
    let mut at = at;
    while at > 0 {
        let below = tree.kind(at);
        at = tree.node(at).parent as usize;
        match tree.kind(at) {
            k::MOD | k::IMPL | k::TRAIT => return true,
            k::MACRO_CALL if below == k::TOKEN_TREE => {}
            k::TOKEN_TREE if matches!(below, k::BLOCK | k::TOKEN_TREE | k::MACRO_CALL) => {}
            k::BLOCK if tree.kind(tree.node(at).parent as usize) == k::TOKEN_TREE => {}
            crate::tree::OTHER | k::EXPRESSION_STATEMENT => {}
            _ => return false,
        }
    }
    true
}

struct Rule {
    pattern: Range<usize>,
    template: Range<usize>,
}

/// The rules of a macro, as ranges of its tokens.
struct MacroDefinition {
    tokens: Vec<Token>,
    rules: Vec<Rule>,
}

struct Expander<'t> {
    text: &'t str,
    macros: HashMap<&'t str, Rc<MacroDefinition>>,
    /// The items that a rule's template declares, by the macro and the number of the rule.
    expansions: HashMap<(&'t str, usize), Rc<[DeclaredItem<'t>]>>,
    effort: MatchBudget,
}

impl<'t> Expander<'t> {
    fn word(&self, token: &Token) -> &'t str {
        token.span.text(self.text)
    }

    fn define(&mut self, tree: &Tree, at: usize) {
        let Some(name) = tree.child(at, f::NAME).map(|name| tree.node(name).span()) else { return };
        let tokens = lexer::tokens(self.text, Span { start: name.end, end: tree.node(at).end });
        let Some(TokenKind::Open(end)) = tokens.first().map(|token| token.kind) else { return };
        let mut rules = Vec::new();
        let mut at = 1;
        while at < end {
            let TokenKind::Open(pattern_end) = tokens[at].kind else { break };
            let Some(TokenKind::Open(template_end)) = tokens.get(pattern_end + 3).map(|token| token.kind) else {
                break;
            };
            rules.push(Rule { pattern: at + 1..pattern_end, template: pattern_end + 4..template_end });
            at = template_end + 1;
            at += usize::from(tokens.get(at).is_some_and(|token| self.word(token) == ";"));
        }
        let name = name.text(self.text);
        // If several macros have one name, the called one is unknown.
        let is_known = self.macros.contains_key(name);
        let rules = if is_known { Vec::new() } else { rules };
        self.macros.insert(name, Rc::new(MacroDefinition { tokens, rules }));
    }

    /// Returns the expansion of a call: the names in `given`, by the first rule that matches.
    fn call(
        &mut self,
        name: &'t str,
        given: &[Token],
        inside: Range<usize>,
        call: Span,
        depth: usize,
    ) -> Vec<ExpandedItem> {
        let Some(definition) = self.macros.get(name).cloned() else { return Vec::new() };
        for (number, rule) in definition.rules.iter().enumerate() {
            let (text, pattern) = (self.text, definition.tokens.as_slice());
            let mut matcher = Matcher { text, effort: &mut self.effort, pattern, given, captures: Vec::new() };
            if matcher.sequence(rule.pattern.clone(), inside.start, inside.end, None) != Some(inside.end) {
                continue;
            }
            let captures = matcher.captures;
            let found = self.template(name, number, &definition, depth);
            let made = captures.iter().filter_map(|capture| {
                let declared = found.iter().find(|declared| declared.variable == capture.variable)?;
                let name = capture.captured.text(self.text);
                let put_in = |header: &str| header.replace(declared.variable, name);
                Some(ExpandedItem {
                    kind: declared.kind,
                    span: capture.repetition.unwrap_or(call),
                    name: capture.captured,
                    signature: text::signature(&put_in(declared.header.text(self.text))),
                    visibility: declared.visibility.clone(),
                    annotation: declared.annotation,
                })
            });
            return made.collect();
        }
        Vec::new()
    }

    /// Returns the items that a rule's template declares.
    fn template(&mut self, name: &'t str, number: usize, of: &MacroDefinition, depth: usize) -> Rc<[DeclaredItem<'t>]> {
        if let Some(known) = self.expansions.get(&(name, number)) {
            return Rc::clone(known);
        }
        // A macro that calls itself sees none of the items of this call.
        self.expansions.insert((name, number), [].into());
        let mut found = Vec::new();
        self.declared(&of.tokens, of.rules[number].template.clone(), false, depth, &mut found);
        let found: Rc<[DeclaredItem<'t>]> = found.into();
        self.expansions.insert((name, number), Rc::clone(&found));
        found
    }

    /// Collects the variables that a template uses as the names of items.
    fn declared(
        &mut self,
        tokens: &[Token],
        range: Range<usize>,
        in_impl: bool,
        depth: usize,
        found: &mut Vec<DeclaredItem<'t>>,
    ) {
        let mut at = range.start;
        let mut item = at;
        self.effort.nesting += 1;
        while at < range.end && self.effort.nesting < MAX_NESTING && self.effort.steps < MAX_STEPS {
            self.effort.steps += 1;
            let word = self.word(&tokens[at]);
            match tokens[at].kind {
                TokenKind::Variable => {
                    let header = item..self.header_end(tokens, at, range.end);
                    found.extend(
                        self.item_named(tokens, header, at).filter(|item| !in_impl || item.is_method(self.text)),
                    );
                }
                TokenKind::Open(close) => {
                    let before = &tokens[item..at];
                    let has = |keyword: &str| before.iter().any(|token| self.word(token) == keyword);
                    let called = before.len() >= 2 && self.word(&before[before.len() - 1]) == "!";
                    if called && depth < MAX_CALLS {
                        let name = self.word(&before[before.len() - 2]);
                        let call = Span { start: tokens[item].span.start, end: tokens[close].span.end };
                        for made in self.call(name, tokens, at + 1..close, call, depth + 1) {
                            found.extend(DeclaredItem::from_call(made, self.text));
                        }
                    } else if before.last().is_some_and(|token| self.word(token) == "$") {
                        self.declared(tokens, at + 1..close, in_impl, depth, found);
                    } else if word == "{" && !has("fn") && !has("mod") && !has("struct") && !has("macro_rules") {
                        let of_impl = in_impl || has("impl") || has("trait");
                        self.declared(tokens, at + 1..close, of_impl, depth, found);
                    }
                    at = close;
                    if word == "{" || before.last().is_some_and(|token| self.word(token) == "#") {
                        item = at + 1;
                    }
                }
                _ if word == ";" => item = at + 1,
                _ => {}
            }
            at += 1;
        }
        self.effort.nesting -= 1;
    }

    /// Returns the item that has this variable as its name.
    fn item_named(&self, tokens: &[Token], header: Range<usize>, at: usize) -> Option<DeclaredItem<'t>> {
        let mut keyword = at.checked_sub(1).filter(|&before| before >= header.start)?;
        if self.word(&tokens[keyword]) == "mut" {
            keyword = keyword.checked_sub(1)?;
        }
        let kind = item_kind(self.word(&tokens[keyword]))?;
        let words = || tokens[header.clone()].iter().map(|token| self.word(token));
        let visibility = words().position(|word| word == "pub").map(|from| {
            let start = tokens[header.start + from].span;
            let end = match tokens.get(header.start + from + 1) {
                Some(Token { kind: TokenKind::Open(close), .. }) => tokens[*close].span.end,
                _ => start.end,
            };
            Span { start: start.start, end }.text(self.text).to_owned()
        });
        let span = Span { start: tokens[header.start].span.start, end: tokens[header.end - 1].span.end };
        let arrow = span.text(self.text).find("->").map(|at| span.start + at as u32 + 2);
        let annotation = arrow.filter(|_| kind == SymbolKind::Fn).map(|start| Span { start, end: span.end });
        Some(DeclaredItem { variable: self.word(&tokens[at]), kind, header: span, visibility, annotation })
    }

    /// Returns the end of an item's header: before its braces, its value or its semicolon.
    fn header_end(&self, tokens: &[Token], from: usize, end: usize) -> usize {
        let mut at = from;
        while at < end && !matches!(self.word(&tokens[at]), "{" | ";" | "=") {
            at = if let TokenKind::Open(close) = tokens[at].kind { close } else { at } + 1;
        }
        at.min(end)
    }
}

/// An item of a template with a variable as its name.
struct DeclaredItem<'t> {
    variable: &'t str,
    kind: SymbolKind,
    header: Span,
    visibility: Option<String>,
    annotation: Option<Span>,
}

impl<'t> DeclaredItem<'t> {
    /// Converts the expansion of a call within a template if its name is a variable of the template.
    fn from_call(made: ExpandedItem, text: &'t str) -> Option<Self> {
        let variable = made.name.text(text);
        variable.starts_with('$').then_some(DeclaredItem {
            variable,
            kind: made.kind,
            header: made.name,
            visibility: made.visibility,
            annotation: made.annotation,
        })
    }

    /// Returns whether it is called on a value. A bare name cannot refer to the other items of an `impl`.
    fn is_method(&self, text: &str) -> bool {
        let header = self.header.text(text);
        self.kind == SymbolKind::Fn && header.split_once('(').is_some_and(|(_, after)| after.contains("self"))
    }
}

/// Returns the kind of item that a keyword begins.
pub(super) fn item_kind(keyword: &str) -> Option<SymbolKind> {
    Some(match keyword {
        "const" => SymbolKind::Const,
        "enum" => SymbolKind::Enum,
        "fn" => SymbolKind::Fn,
        "static" => SymbolKind::Static,
        "struct" => SymbolKind::Struct,
        "trait" => SymbolKind::Trait,
        "type" => SymbolKind::Type,
        "union" => SymbolKind::Union,
        _ => return None,
    })
}
