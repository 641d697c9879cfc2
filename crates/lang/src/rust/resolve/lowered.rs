//! Infers the types of lowered expressions: those that begin with a macro call, and the values of macros.

use std::rc::Rc;

use codecompass_model::{Expr, ExprId, LexicalTarget, Literal, ValuePart};

use super::RustResolver;
use super::expansion::{Frame, GivenKind, Value, path_names};
use super::expressions::Arguments;
use super::library;
use super::lower::PathTarget;
use super::macro_matching::Captured;
use super::type_ref::{Segment, TypeRef};
use super::types::Ty;
use crate::rules::index::Index;

impl RustResolver<'_> {
    /// Returns the type of a lowered expression.
    pub(super) fn lowered(&self, frame: &Rc<Frame>, id: ExprId) -> Ty {
        let found = || {
            let _depth = self.descend()?;
            let index = self.indexed(frame.file)?;
            self.lowered_type(&index, frame, id)
        };
        found().unwrap_or(Ty::Unknown)
    }

    fn lowered_type(&self, index: &Rc<Index>, frame: &Rc<Frame>, id: ExprId) -> Option<Ty> {
        let facts = index.facts();
        // Operands come before the expressions that use them. Corrupt facts must not cause an endless loop.
        let of_part = |of: ExprId| if of < id { self.lowered(frame, of) } else { Ty::Unknown };
        Some(match facts.expr(id) {
            Expr::Name { seen: LexicalTarget::Local(binding), .. } => self.local_type(frame.file, *binding),
            Expr::Name { .. } | Expr::Path { .. } => self.lowered_path(index, frame, id, None),
            Expr::This => self.self_type(frame.site.scope),
            Expr::Hole(name) => {
                let value = captured_value(frame, facts.name(*name))?;
                self.lowered(&value.frame, value.id)
            }
            Expr::Member { of, name } if facts.name(*name) == "await" => self.awaited(&of_part(*of)),
            Expr::Member { of, name } => self.field(&of_part(*of), facts.name(*name))?.1,
            Expr::Call { callee, args } if *callee < id => self.lowered_call(index, frame, *callee, args),
            Expr::Index { of, .. } => self.indexed_value(&of_part(*of), ""),
            Expr::Slice(of) => self.indexed_value(&of_part(*of), ".."),
            Expr::Wrap { of, .. } => of_part(*of),
            Expr::Part { of, part: ValuePart::Payload } => self.payload(&of_part(*of)),
            Expr::Part { of, part: ValuePart::Index(at) } => self.field(&of_part(*of), &at.to_string())?.1,
            Expr::Tuple(all) => Ty::tuple(all.iter().map(|of| of_part(*of))),
            Expr::List(of) => Ty::library("[]", [of_part(*of)]),
            Expr::Literal(Literal::Text) => Ty::library("str", []),
            Expr::Literal(_) => library::external_type(),
            Expr::New(of) | Expr::Cast(of) if *of < id => self.lowered_annotation(index, frame, *of),
            Expr::Either(all) => all.iter().map(|of| of_part(*of)).find(|ty| ty.is_known() && *ty != Ty::tuple([]))?,
            Expr::Expand(call) => self.expanded(frame, call),
            _ => return None,
        })
    }

    fn lowered_call(&self, index: &Rc<Index>, frame: &Rc<Frame>, callee: ExprId, args: &[ExprId]) -> Ty {
        let facts = index.facts();
        let given = Arguments::Lowered(frame, args);
        match facts.expr(callee) {
            Expr::Member { of, name } if *of < callee => {
                let receiver = self.lowered(frame, *of);
                self.method_value(frame.site.for_other_expression(), &receiver, facts.name(*name), given)
            }
            Expr::Name { seen: LexicalTarget::NotLocal, .. } | Expr::Path { .. } => {
                self.lowered_path(index, frame, callee, Some(given))
            }
            Expr::Hole(name) => match self.named_by(frame, facts.name(*name)) {
                Some((of, word)) => self.path_value(of.site.for_other_expression(), &[&word], Some(given)),
                None => self.call_result(&self.lowered(frame, callee)),
            },
            _ => self.call_result(&self.lowered(frame, callee)),
        }
    }

    /// Returns the type of the value of a path, called with these arguments or not.
    fn lowered_path(&self, index: &Rc<Index>, frame: &Rc<Frame>, id: ExprId, given: Option<Arguments<'_>>) -> Ty {
        if let Some(names) = path_names(index, id) {
            let mut site = frame.site.for_other_expression();
            site.scope = frame.scope_of(&names);
            return self.path_value(site, &names, given);
        }
        // A path that begins with a captured name or type: `$t::new()`.
        let found = || {
            let Expr::Path { of, name } = index.facts().expr(id) else { return None };
            let Expr::Hole(hole) = index.facts().expr(*of) else { return None };
            let name = index.name(*name);
            if let Some((of, word)) = self.named_by(frame, index.name(*hole)) {
                return Some(self.path_value(of.site.for_other_expression(), &[&word, name], given));
            }
            let ty = self.lowered_annotation(index, frame, *of);
            match self.associated(frame.site.scope, &ty, name) {
                PathTarget::Symbol(at, bindings) => {
                    Some(self.symbol_value(frame.site.for_other_expression(), at, &bindings, &|| ty.clone(), given))
                }
                _ => None,
            }
        };
        found().unwrap_or(Ty::Unknown)
    }

    /// Returns the name that a variable is bound to, and the frame of the name.
    fn named_by(&self, frame: &Rc<Frame>, name: &str) -> Option<(Rc<Frame>, String)> {
        let Some(Captured::One(given)) = frame.captured(name) else { return None };
        let value = match (&given.kind, &given.ty, &given.expr) {
            (GivenKind::Word(_, value), ..) => value,
            (GivenKind::Whole, Some(part), _) | (GivenKind::Whole, None, Some(part)) => &part.value,
            _ => return None,
        };
        let index = self.indexed(value.frame.file)?;
        match index.facts().expr(value.id) {
            Expr::Name { name, seen: LexicalTarget::NotLocal } => {
                Some((Rc::clone(&value.frame), index.name(*name).to_owned()))
            }
            Expr::Hole(name) => self.named_by(&value.frame, index.name(*name)),
            _ => None,
        }
    }

    /// Returns a lowered type.
    fn lowered_annotation(&self, index: &Rc<Index>, frame: &Rc<Frame>, id: ExprId) -> Ty {
        let Some(_depth) = self.descend() else { return Ty::Unknown };
        let facts = index.facts();
        let scope = frame.site.scope;
        match facts.expr(id) {
            Expr::Text(text) => self.lower_text(scope, facts.name(*text)),
            Expr::Name { .. } | Expr::Path { .. } => match path_names(index, id) {
                Some(names) => {
                    let segment = |name: &&str| Segment { name: (*name).to_owned(), ..Segment::default() };
                    let written = TypeRef::Path(None, names.iter().map(segment).collect());
                    self.lower(frame.scope_of(&names), &written)
                }
                None => Ty::Unknown,
            },
            Expr::Wrap { of, .. } if *of < id => self.lowered_annotation(index, frame, *of),
            Expr::Apply { of, args } if *of < id => {
                let arguments = || {
                    args.iter().map(|argument| match *argument < id {
                        true => self.lowered_annotation(index, frame, *argument),
                        false => Ty::Unknown,
                    })
                };
                match self.lowered_annotation(index, frame, *of) {
                    Ty::Item(at, _) => Ty::Item(at, arguments().collect()),
                    Ty::Library(name, _) => Ty::Library(name, arguments().collect()),
                    other => other,
                }
            }
            Expr::Hole(name) => {
                let Some(Captured::One(given)) = frame.captured(facts.name(*name)) else { return Ty::Unknown };
                let value = match (&given.kind, &given.ty, &given.expr) {
                    (GivenKind::Word(_, value), ..) => value,
                    (_, Some(part), _) | (_, None, Some(part)) => &part.value,
                    _ => return Ty::Unknown,
                };
                match self.indexed(value.frame.file) {
                    Some(index) => self.lowered_annotation(&index, &value.frame, value.id),
                    None => Ty::Unknown,
                }
            }
            _ => Ty::Unknown,
        }
    }
}

/// Returns the expression that a variable is bound to.
fn captured_value<'f>(frame: &'f Frame, name: &str) -> Option<&'f Value> {
    let Some(Captured::One(given)) = frame.captured(name) else { return None };
    match (&given.kind, &given.expr) {
        (GivenKind::Word(_, value), _) => Some(value),
        (_, Some(part)) if part.tokens == 1 => Some(&part.value),
        _ => None,
    }
}
