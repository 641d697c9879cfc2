//! Implicit receivers: in the body of a closure that is called on a value, bare names may be members of that value.
//! Lowering adds a local binding `this` there, with the value or the expected type of the closure, and with the
//! implicit receiver around it.

use std::rc::Rc;

use codecompass_model::{Expr, ExprId, Meaning, Reference, Seen};

use super::engine::{Engine, File, Place};
use super::members::{Side, Want};
use super::names::Found;
use super::types::Type;
use super::values::Value;

/// The maximum number of enclosing closures to check.
const MOST: usize = 8;

impl Engine<'_> {
    /// Returns the binding of the implicit receiver that an expression refers to.
    pub(super) fn implied_binding(&self, file: &File, id: ExprId) -> Option<u32> {
        match file.facts().expr(id) {
            Expr::Name { name, seen: Seen::Local(binding) } if file.name(*name) == "this" => Some(*binding),
            _ => None,
        }
    }

    /// Returns the types of the implicit receivers around a name, from the inside.
    pub(super) fn receivers(&self, file: &Rc<File>, binding: u32) -> Vec<Type> {
        let mut all = Vec::new();
        let mut next = Some(binding);
        while let Some(at) = next.filter(|_| all.len() < MOST)
            && let Some(binding) = file.binding(at)
        {
            let around = self.class_of(file, binding.symbol);
            let value = binding.value.map(|of| (of, file.facts().expr(of)));
            match value {
                Some((_, Expr::ParamOf { of, at: ExprId::RECEIVER })) => {
                    let wanted = self.value(file, around, *of).into_type();
                    let of = self.function_of(&wanted).filter(|of| of.on_first);
                    all.extend(of.and_then(|of| of.params.first().cloned()));
                }
                Some((of, _)) => all.push(self.value(file, around, of).into_type()),
                None => {}
            }
            // Outer receivers were bound earlier.
            next = binding.annotation.and_then(|of| self.implied_binding(file, of)).filter(|outer| *outer < at);
        }
        all
    }

    /// Returns the value of a name that may be a member of an implicit receiver.
    pub(super) fn implied_value(&self, file: &Rc<File>, around: Option<u32>, binding: u32, name: &str) -> Value {
        for of in self.receivers(file, binding) {
            let has = |want: Want| !self.members(&of, name, want).levels.is_empty();
            if of.is_known() && [Want::Value, Want::Type, Want::Call].into_iter().any(has) {
                return self.select(file, Value::Of(of), name);
            }
        }
        self.named_value(file, around, name, Seen::Nowhere)
    }

    /// Resolves a name that may be a member of an implicit receiver. The members of some receivers are not fully known,
    /// so a member of an enclosing type is not certain.
    pub(super) fn implied_name(&self, place: &Place, of: &Reference, binding: u32, call: Option<ExprId>) -> Meaning {
        let name = place.file.name(of.name);
        let want = Want::of(of.shape);
        let mut hidden = None;
        for receiver in self.receivers(&place.file, binding) {
            match receiver {
                Type::Unknown => hidden = Some(Meaning::Unknown("an unknown receiver may have it")),
                Type::External | Type::Basic(_) => hidden = Some(Meaning::External),
                receiver => {
                    let levels = self.members_as(&receiver, name, want);
                    if !levels.levels.is_empty() {
                        return self.member_meaning(place, &receiver, name, Side::Value, want, call);
                    }
                    if levels.unknown || levels.outside {
                        hidden = Some(Meaning::Unknown("a receiver may inherit it"));
                    }
                }
            }
        }
        match hidden {
            Some(hidden) if matches!(self.look_up(place, name, want), Found::Members(_)) => hidden,
            _ => self.bare_name(place, &Reference { qualifier: None, binding: None, ..*of }, call),
        }
    }
}
