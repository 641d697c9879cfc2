//! Implicit receivers: in the body of a closure that is called on a value, bare names may be members of that value.
//! Lowering adds a local binding `this` there, with the value or the expected type of the closure, and with the
//! implicit receiver around it.

use std::rc::Rc;

use codecompass_model::{Expr, ExprId, LexicalTarget, Reference, Resolution};

use super::engine::{Engine, File, LookupSite};
use super::members::{LookupKind, MemberAccess};
use super::names::NameTarget;
use super::types::Type;
use super::values::Value;

/// The maximum number of enclosing closures to check.
const MAX_CLOSURES: usize = 8;

impl Engine<'_> {
    /// Returns the binding of the implicit receiver that an expression refers to.
    pub(super) fn implicit_receiver_binding(&self, file: &File, id: ExprId) -> Option<u32> {
        match file.facts().expr(id) {
            Expr::Name { name, seen: LexicalTarget::Local(binding) } if file.name(*name) == "this" => Some(*binding),
            _ => None,
        }
    }

    /// Returns the types of the implicit receivers around a name, from the inside.
    pub(super) fn receivers(&self, file: &Rc<File>, binding: u32) -> Vec<Type> {
        let mut all = Vec::new();
        let mut next = Some(binding);
        while let Some(at) = next.filter(|_| all.len() < MAX_CLOSURES)
            && let Some(binding) = file.binding(at)
        {
            let around = self.enclosing_type(file, binding.symbol);
            let value = binding.value.map(|of| (of, file.facts().expr(of)));
            match value {
                Some((_, Expr::ParamOf { of, at: ExprId::RECEIVER })) => {
                    let wanted = self.value(file, around, *of).into_type();
                    let of = self.function_of(&wanted).filter(|of| of.has_receiver);
                    all.extend(of.and_then(|of| of.params.first().cloned()));
                }
                Some((of, _)) => all.push(self.value(file, around, of).into_type()),
                None => {}
            }
            // Outer receivers were bound earlier.
            next =
                binding.annotation.and_then(|of| self.implicit_receiver_binding(file, of)).filter(|outer| *outer < at);
        }
        all
    }

    /// Returns the value of a name that may be a member of an implicit receiver.
    pub(super) fn implicit_member_value(
        &self,
        file: &Rc<File>,
        around: Option<u32>,
        binding: u32,
        name: &str,
    ) -> Value {
        for of in self.receivers(file, binding) {
            let has = |want: LookupKind| !self.members(&of, name, want).sets.is_empty();
            if of.is_known() && [LookupKind::Value, LookupKind::Type, LookupKind::Call].into_iter().any(has) {
                return self.select(file, Value::Typed(of), name);
            }
        }
        self.named_value(file, around, name, LexicalTarget::NotLocal)
    }

    /// Resolves a name that may be a member of an implicit receiver. The members of some receivers are not fully known,
    /// so a member of an enclosing type is not certain.
    pub(super) fn implicit_member_resolution(
        &self,
        place: &LookupSite,
        of: &Reference,
        binding: u32,
        call: Option<ExprId>,
    ) -> Resolution {
        let name = place.file.name(of.name);
        let want = LookupKind::from_shape(of.shape);
        let mut hidden = None;
        for receiver in self.receivers(&place.file, binding) {
            match receiver {
                Type::Unknown => hidden = Some(Resolution::Unknown("an unknown receiver may have it")),
                Type::External | Type::Basic(_) => hidden = Some(Resolution::External),
                receiver => {
                    let levels = self.members_as(&receiver, name, want);
                    if !levels.sets.is_empty() {
                        return self.member_resolution(place, &receiver, name, MemberAccess::Instance, want, call);
                    }
                    if levels.unknown || levels.external {
                        hidden = Some(Resolution::Unknown("a receiver may inherit it"));
                    }
                }
            }
        }
        match hidden {
            Some(hidden) if matches!(self.look_up(place, name, want), NameTarget::Members(_)) => hidden,
            _ => self.bare_name(place, &Reference { qualifier: None, binding: None, ..*of }, call),
        }
    }
}
