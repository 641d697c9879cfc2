//! Mixins: what `self` has that neither its class nor the bases define, but the classes below do.
//!
//! A mixin calls `self.send()`, and only the class that mixes it in, or another base of that class, has `send`. `self` is
//! then one of the classes of the view that have the mixin among their bases. What is asked for is looked up in each of
//! them in its own order. Where all of them, save those that others complete, have the same member, or one that the others
//! override, that one is proved: no class of the view can mean another. Where they do not agree, or some have none (it may
//! be set from elsewhere), nobody knows, and neither where a base from outside may have the name as well.

use std::rc::Rc;

use codecompass_model::{Confidence, Meaning, RefShape, SymbolAt, SymbolKind};

use super::Rules;
use super::types::{Found, Type};

/// A class with more below it is no mixin that can be looked through.
const MAX_BELOW: usize = 100;

/// How many files with a class's name are looked at.
const MAX_FILES: usize = 200;

impl Rules<'_> {
    /// Whom a member of `self`, `cls` or `super()` means that was not found, or only outside.
    pub(super) fn mixed_in(&self, of: &Type, name: &str, found: &Found) -> Option<Meaning> {
        let (class, is_super) = match of {
            Type::Own(class) | Type::OwnClass(class) => (*class, false),
            Type::Super(class) => (*class, true),
            _ => return None,
        };
        // Not what was found for `self`: that is missing, too, where a class of the view has what a base from outside may have.
        let is_outside = self.class_member(class, name, usize::from(is_super)).0 == Found::External;
        if name.starts_with("__") || !is_outside && *found != Found::Missing || !self.is_some_member(name) {
            return None;
        }
        let Some(below) = self.below(class) else {
            return (*found == Found::Missing).then_some(Meaning::Unknown("too many classes below"));
        };
        let is_base = |base: SymbolAt, of: SymbolAt| {
            self.order(of).iter().any(|one| matches!(one, Type::Instance(at, _) if *at == base))
        };
        let mut held: Vec<(SymbolAt, Vec<SymbolAt>)> = Vec::new();
        let mut all_have = true;
        for one in below.iter() {
            match self.held_below(*one, class, name, is_super) {
                Some((owner, _)) if held.iter().any(|(known, _)| *known == owner) => {}
                Some(found) => held.push(found),
                // One that others complete need not have it.
                None => all_have &= below.iter().any(|other| other != one && is_base(*one, *other)),
            }
        }
        if held.is_empty() {
            return None;
        }
        let root = held.iter().find(|(base, _)| held.iter().all(|(of, _)| is_base(*base, *of)));
        Some(match root.filter(|_| all_have && !is_outside) {
            Some((_, members)) => Meaning::Symbols {
                targets: members.clone(),
                confidence: Confidence::Static,
                why: "member of every class that mixes it in",
            },
            None if is_outside => Meaning::Unknown("a class below has it, and a base from outside may have it"),
            None => Meaning::Unknown("the classes that mix it in do not agree"),
        })
    }

    /// Whether some class of the view has a member of this name.
    fn is_some_member(&self, name: &str) -> bool {
        self.world.symbols_named(name).iter().any(|at| {
            let Some(source) = self.source(at.file) else { return false };
            let parent = source.symbol(at.place).and_then(|symbol| symbol.parent);
            parent.and_then(|parent| source.symbol(parent)).is_some_and(|parent| parent.kind == SymbolKind::Class)
        })
    }

    /// The class that gives a member to a class below the mixin; for `super()`, behind the mixin in its order.
    fn held_below(
        &self,
        below: SymbolAt,
        mixin: SymbolAt,
        name: &str,
        is_super: bool,
    ) -> Option<(SymbolAt, Vec<SymbolAt>)> {
        let order = self.order(below);
        let is_mixin = |base: &Type| matches!(base, Type::Instance(at, _) if *at == mixin);
        let skipped = if is_super { order.iter().position(is_mixin)? + 1 } else { 0 };
        order.iter().skip(skipped).find_map(|base| match base {
            Type::Instance(at, _) => Some((*at, self.own_members(*at, name))).filter(|(_, own)| !own.is_empty()),
            _ => None,
        })
    }

    /// The classes of the view that have a class among their bases; `None` when there are too many to tell.
    fn below(&self, class: SymbolAt) -> Option<Rc<[SymbolAt]>> {
        self.below.once(&class, || self.find_below(class).map(Rc::from))
    }

    fn find_below(&self, class: SymbolAt) -> Option<Vec<SymbolAt>> {
        let mut all = vec![class];
        let mut at = 0;
        while at < all.len() {
            let base = all[at];
            at += 1;
            let name = self.source(base.file)?.symbol(base.place)?.name.clone();
            let files = self.world.files_naming(&name);
            if files.len() > MAX_FILES || all.len() > MAX_BELOW {
                return None;
            }
            for id in files.iter() {
                let Some(source) = self.source(*id) else { continue };
                let facts = source.facts();
                let extends = facts
                    .references
                    .iter()
                    .filter(|reference| reference.shape == RefShape::Extends && source.name(reference.name) == name);
                for place in extends.filter_map(|reference| reference.symbol) {
                    let one = SymbolAt { file: *id, place };
                    let has = |base: &Type| matches!(base, Type::Instance(at, _) if *at == class);
                    if !all.contains(&one) && self.order(one).iter().any(has) {
                        all.push(one);
                    }
                }
            }
        }
        all.remove(0);
        Some(all)
    }
}
