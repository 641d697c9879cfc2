//! Mixins: members of `self` that neither its class nor the bases define, but subclasses do.
//!
//! A mixin calls `self.send()`, and only the class that mixes it in, or another base of that class, has `send`. `self`
//! is then one of the classes of the view that have the mixin among their bases. The member is looked up in each of
//! them in its own order. If all of them, except those that others complete, have the same member, or one that the
//! others override, that one is confirmed: no class of the view can refer to another. If they disagree, or some have
//! none (it may be set from elsewhere), it is unresolved; so it is if an external base may have the name as well.

use std::rc::Rc;

use codecompass_model::{Confidence, RefShape, Resolution, SymbolAt, SymbolKind};

use super::PythonResolver;
use super::types::{NameTarget, Type};

/// The maximum number of subclasses of a mixin.
const MAX_SUBCLASSES: usize = 100;

/// The maximum number of files to search for a class's name.
const MAX_FILES: usize = 200;

impl PythonResolver<'_> {
    /// Resolves a member of `self`, `cls` or `super()` that was not found, or only externally.
    pub(super) fn mixin_resolution(&self, of: &Type, name: &str, found: &NameTarget) -> Option<Resolution> {
        let (class, is_super) = match of {
            Type::SelfType(class) | Type::SelfClass(class) => (*class, false),
            Type::Super(class) => (*class, true),
            _ => return None,
        };
        // `found` is not enough: for `self` it is also `Unresolved` if a class of the view has a member that an
        // external base may have.
        let is_outside = self.class_member(class, name, usize::from(is_super)).0 == NameTarget::External;
        if name.starts_with("__") || !is_outside && *found != NameTarget::Unresolved || !self.is_member_anywhere(name) {
            return None;
        }
        let Some(below) = self.subclasses(class) else {
            return (*found == NameTarget::Unresolved).then_some(Resolution::Unknown("too many subclasses"));
        };
        let is_base = |base: SymbolAt, of: SymbolAt| {
            self.method_resolution_order(of).iter().any(|one| matches!(one, Type::Instance(at, _) if *at == base))
        };
        let mut held: Vec<(SymbolAt, Vec<SymbolAt>)> = Vec::new();
        let mut all_have = true;
        for one in below.iter() {
            match self.member_in_subclasses(*one, class, name, is_super) {
                Some((owner, _)) if held.iter().any(|(known, _)| *known == owner) => {}
                Some(found) => held.push(found),
                // A class that others complete need not have it.
                None => all_have &= below.iter().any(|other| other != one && is_base(*one, *other)),
            }
        }
        if held.is_empty() {
            return None;
        }
        let root = held.iter().find(|(base, _)| held.iter().all(|(of, _)| is_base(*base, *of)));
        Some(match root.filter(|_| all_have && !is_outside) {
            Some((_, members)) => Resolution::Symbols {
                targets: members.clone(),
                confidence: Confidence::Static,
                why: "member of every class that mixes it in",
            },
            None if is_outside => Resolution::Unknown("a subclass has it, and an external base may have it"),
            None => Resolution::Unknown("the classes that mix it in do not agree"),
        })
    }

    /// Returns whether some class of the view has a member of this name.
    fn is_member_anywhere(&self, name: &str) -> bool {
        self.world.symbols_named(name).iter().any(|at| {
            let Some(source) = self.source(at.file) else { return false };
            let parent = source.symbol(at.ordinal).and_then(|symbol| symbol.parent);
            parent.and_then(|parent| source.symbol(parent)).is_some_and(|parent| parent.kind == SymbolKind::Class)
        })
    }

    /// Returns the class that gives a subclass of the mixin a member; for `super()`, after the mixin in its order.
    fn member_in_subclasses(
        &self,
        below: SymbolAt,
        mixin: SymbolAt,
        name: &str,
        is_super: bool,
    ) -> Option<(SymbolAt, Vec<SymbolAt>)> {
        let order = self.method_resolution_order(below);
        let is_mixin = |base: &Type| matches!(base, Type::Instance(at, _) if *at == mixin);
        let skipped = if is_super { order.iter().position(is_mixin)? + 1 } else { 0 };
        order.iter().skip(skipped).find_map(|base| match base {
            Type::Instance(at, _) => Some((*at, self.members_in_class(*at, name))).filter(|(_, own)| !own.is_empty()),
            _ => None,
        })
    }

    /// Returns the classes of the view that have a class among their bases; `None` if there are too many.
    fn subclasses(&self, class: SymbolAt) -> Option<Rc<[SymbolAt]>> {
        self.subclasses.get_or_compute(&class, || self.find_subclasses(class).map(Rc::from))
    }

    fn find_subclasses(&self, class: SymbolAt) -> Option<Vec<SymbolAt>> {
        let mut all = vec![class];
        let mut at = 0;
        while at < all.len() {
            let base = all[at];
            at += 1;
            let name = self.source(base.file)?.symbol(base.ordinal)?.name.clone();
            let files = self.world.files_naming(&name);
            if files.len() > MAX_FILES || all.len() > MAX_SUBCLASSES {
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
                    let one = SymbolAt { file: *id, ordinal: place };
                    let has = |base: &Type| matches!(base, Type::Instance(at, _) if *at == class);
                    if !all.contains(&one) && self.method_resolution_order(one).iter().any(has) {
                        all.push(one);
                    }
                }
            }
        }
        all.remove(0);
        Some(all)
    }
}
