//! Resolves references by their shape.

use codecompass_model::{Expr, ExprId, RefShape, Reference, Resolution, SymbolAt, SymbolKind, VersionId};

use super::RustResolver;
use super::closures::{name_before, string_start};
use super::expansion::Frame;
use super::expressions::{Arguments, ExprSite};
use super::lower::PathTarget;
use super::members::{MemberKind, MemberTarget};
use super::modules::Scope;
use super::scope::{Def, Space};
use super::traits::is_common_trait;
use super::type_ref::{Segment, TypeRef};
use super::types::Ty;
use crate::resolve::imports::{self, ImportName};
use crate::rules::index::Index;

/// Attributes of the language itself.
const ATTRIBUTES: &[&str] = &[
    "allow",
    "automatically_derived",
    "bench",
    "cfg",
    "cfg_attr",
    "cold",
    "deny",
    "deprecated",
    "derive",
    "doc",
    "expect",
    "export_name",
    "feature",
    "forbid",
    "global_allocator",
    "ignore",
    "inline",
    "link",
    "link_name",
    "link_section",
    "macro_export",
    "macro_use",
    "must_use",
    "no_mangle",
    "no_std",
    "non_exhaustive",
    "panic_handler",
    "path",
    "proc_macro",
    "proc_macro_attribute",
    "proc_macro_derive",
    "repr",
    "should_panic",
    "target_feature",
    "test",
    "track_caller",
    "warn",
];

/// Receivers of this length may be truncated.
const TRUNCATED_LEN: usize = 100;

impl RustResolver<'_> {
    /// Resolves a reference.
    pub(super) fn reference_resolution(&self, file: VersionId, at: u32) -> Option<Resolution> {
        let index = self.indexed(file)?;
        let reference = *index.facts().references.get(at as usize)?;
        let name = index.name(reference.name);
        let scope = Scope { file, symbol: reference.symbol };
        let qualifier = reference.qualifier.map(|at| index.expr_text(at));
        Some(match (reference.shape, qualifier) {
            (RefShape::Binds, _) => Resolution::Local,
            (RefShape::Import, _) => self.import_name_resolution(&index, &reference)?,
            (RefShape::Mention, _) => Resolution::Unknown("names here are not resolved"),
            (RefShape::MacroCall, _) => self.macro_call(scope, name, qualifier, reference.line),
            (RefShape::Decorator, _) => self.attribute(scope, name, qualifier),
            (RefShape::Member, Some(of)) => self.member_read(&index, &reference, name, of),
            (RefShape::SelfCall | RefShape::MemberCall, Some(_)) => self.member_call(&index, &reference, name),
            (_, None) if reference.binding.is_some() => Resolution::Local,
            _ => self.path_resolution(&index, &reference),
        })
    }

    /// Resolves a name in a `use` declaration: the imported name, or a module in its path.
    fn import_name_resolution(&self, index: &Index, reference: &Reference) -> Option<Resolution> {
        match imports::import_name_at(index.facts(), reference)? {
            ImportName::Imported(at) => self.import_resolution(index.id(), at),
            ImportName::PathSegment(at, length) => {
                let import = &index.facts().imports[at as usize];
                let scope = Scope { file: index.id(), symbol: import.symbol };
                let def = self.path(scope, &imports::segments(import)[..length], Space::Type)?;
                Some(self.def_resolution(&def, "import"))
            }
        }
    }

    /// Resolves an import.
    pub(super) fn import_resolution(&self, file: VersionId, at: u32) -> Option<Resolution> {
        let index = self.indexed(file)?;
        let import = index.facts().imports.get(at as usize)?;
        let scope = Scope { file, symbol: import.symbol };
        if import.glob {
            let segments: Vec<&str> = import.module.split("::").collect();
            return self.path(scope, &segments, Space::Type).map(|def| self.def_resolution(&def, "glob import"));
        }
        let spaces = [Space::Type, Space::Value, Space::Macro];
        let found: Vec<Def> = spaces.iter().filter_map(|&space| self.imported(scope, import, space)).collect();
        // A module and a function of one name are imported together; the function is the more useful answer.
        let order = |def: &&Def| match def {
            Def::Symbol(_) => 0,
            Def::Module(_) => 1,
            Def::External(_) => 2,
        };
        found.iter().min_by_key(order).map(|def| self.def_resolution(def, "import"))
    }

    /// Returns the methods that implement a method of a trait.
    pub(super) fn find_overrides(&self, declared: SymbolAt) -> Vec<SymbolAt> {
        let Some((name, Some(place))) = self.symbol(declared, |symbol| (symbol.name.clone(), symbol.parent)) else {
            return Vec::new();
        };
        let of = SymbolAt { file: declared.file, ordinal: place };
        let implements = |owner: SymbolAt| {
            let is_impl = self.symbol(owner, |symbol| symbol.kind == SymbolKind::Impl).unwrap_or(false);
            is_impl && self.implementation(owner).of_trait.as_ref().is_some_and(|bound| bound.symbol == Some(of))
        };
        self.candidates(&name).iter().filter(|known| implements(known.owner)).map(|known| known.at).collect()
    }

    /// Returns the type of the receiver of a member.
    pub(super) fn receiver(&self, index: &Index, reference: &Reference) -> Ty {
        let Some(qualifier) = reference.qualifier else { return Ty::Unknown };
        // Equal truncated texts may be different expressions.
        let place = is_unsure(index.expr_text(qualifier)).then_some((reference.line, reference.column));
        let key = (index.id(), qualifier, reference.binding, reference.symbol, place);
        self.receivers
            .get_or_compute_complete(&self.query_stack, key, || self.find_receiver(index, reference, qualifier))
    }

    fn find_receiver(&self, index: &Index, reference: &Reference, qualifier: ExprId) -> Ty {
        let scope = Scope { file: index.id(), symbol: reference.symbol };
        let point = ExprSite { scope, line: reference.line, limit: u32::MAX, first: Some(reference.binding) };
        if !matches!(index.facts().expr(qualifier), Expr::Text(_)) {
            return self.lowered(&Frame::of_file(index.id(), point), qualifier);
        }
        let written = index.expr_text(qualifier);
        match self.expression(point, written) {
            Ty::Unknown if is_unsure(written) => self.long_receiver(index, reference).unwrap_or(Ty::Unknown),
            found => found,
        }
    }

    /// Returns the type of a truncated receiver: the return type of the call before the dot.
    fn long_receiver(&self, index: &Index, reference: &Reference) -> Option<Ty> {
        let _depth = self.descend()?;
        let text = self.world.text(index.id())?;
        let name = index.lines(&*self.world).start(reference.line) + reference.column as usize;
        let before = without_comments(text.get(..name)?.trim_end().strip_suffix('.')?);
        let (before, is_tried) = match before.strip_suffix('?') {
            Some(rest) => (rest.trim_end(), true),
            None => (before, false),
        };
        let open = opening(before.as_bytes())?;
        let called = index.reference_at(&*self.world, name_before(&text, open)?)?;
        let inside = before.get(open + 1..before.len() - 1)?;
        let scope = Scope { file: index.id(), symbol: reference.symbol };
        let point = ExprSite { scope, line: called.line, limit: u32::MAX, first: None };
        let word = index.name(called.name);
        let ty = match called.shape {
            RefShape::MemberCall | RefShape::SelfCall => {
                self.method_value(point, &self.receiver(index, &called), word, Arguments::Text(inside))
            }
            RefShape::Call | RefShape::PathCall => {
                let path = called.qualifier.map_or(String::new(), |at| format!("{}::", index.expr_text(at)));
                self.expression(point, &format!("{path}{word}()"))
            }
            _ => Ty::Unknown,
        };
        Some(if is_tried { self.payload(&ty) } else { ty })
    }

    /// Resolves an attribute or a derived trait: of the language, or a procedural macro that the view may contain.
    fn attribute(&self, scope: Scope, name: &str, qualifier: Option<&str>) -> Resolution {
        let is_own = qualifier.is_none() && (ATTRIBUTES.binary_search(&name).is_ok() || is_common_trait(name));
        let is_imported = || matches!(self.name(scope, name, Space::Macro), Some(Def::Symbol(_) | Def::Module(_)));
        match (is_own && !is_imported()) || self.world.symbols_named(name).is_empty() {
            true => Resolution::External,
            false => Resolution::Unknown("a procedural macro"),
        }
    }

    fn member_call(&self, index: &Index, reference: &Reference, name: &str) -> Resolution {
        let ty = self.receiver(index, reference);
        let scope = Scope { file: index.id(), symbol: reference.symbol };
        match self.member(scope, &ty, name, MemberKind::Function) {
            MemberTarget::Found(at, ..) => Resolution::proved(at, "method of the receiver's type"),
            MemberTarget::External => Resolution::External,
            MemberTarget::Unknown | MemberTarget::Hidden => self.guess(index, reference, name),
        }
    }

    /// Returns the only method of that name, in the body of a macro, where types are unknown. Elsewhere such a guess is
    /// more often wrong than right: most receivers of unknown type are external.
    fn guess(&self, index: &Index, reference: &Reference, name: &str) -> Resolution {
        let in_macro = index.nearest_ancestor(reference.symbol, &[SymbolKind::Macro]).is_some();
        match &*self.candidates(name) {
            [only] if in_macro && name.contains('_') => Resolution::heuristic(only.at, "only method of that name"),
            _ => Resolution::Unknown("the type of the receiver is unknown"),
        }
    }

    fn member_read(&self, index: &Index, reference: &Reference, name: &str, of: &str) -> Resolution {
        let scope = Scope { file: index.id(), symbol: reference.symbol };
        if reference.binding.is_none()
            && let Some(found) = self.field_by_type(scope, name, of)
        {
            return found;
        }
        let ty = self.receiver(index, reference);
        match (self.field(&ty, name), &ty) {
            (Some((Some(at), _)), _) => Resolution::proved(at, "field of the receiver's type"),
            (Some((None, _)), _) | (None, Ty::Library(..)) => Resolution::External,
            (None, _) => Resolution::Unknown("the type of the receiver is unknown"),
        }
    }

    /// Resolves a field in a struct literal or pattern, by the type before it.
    fn field_by_type(&self, scope: Scope, name: &str, of: &str) -> Option<Resolution> {
        let written = TypeRef::parse(of);
        let segments = written.segments();
        let last = segments.last()?;
        if !last.name.starts_with(char::is_uppercase) {
            return None;
        }
        let holder = match self.resolve_path(scope, segments, Space::Type) {
            PathTarget::Symbol(at, _) | PathTarget::Type(Ty::Item(at, _)) => at,
            PathTarget::Type(Ty::Library(..)) | PathTarget::External => return Some(Resolution::External),
            _ => return None,
        };
        let (at, _) = self.field_of(holder, holder, &[], name)?;
        at.map(|at| Resolution::proved(at, "field of the type"))
    }

    /// Returns whether a path continues after a name.
    fn is_path(&self, index: &Index, reference: &Reference, name: &str) -> bool {
        let goes_on = || {
            let text = self.world.text(index.id())?;
            let end = index.lines(&*self.world).start(reference.line) + reference.column as usize + name.len();
            Some(text.get(end..)?.starts_with("::"))
        };
        goes_on().unwrap_or(false)
    }

    /// Resolves a non-local name or path.
    pub(super) fn path_resolution(&self, index: &Index, reference: &Reference) -> Resolution {
        let scope = Scope { file: index.id(), symbol: reference.symbol };
        let (name, shape) = (index.name(reference.name), reference.shape);
        let qualifier = reference.qualifier.map(|at| index.expr_text(at));
        let last = Segment { name: name.to_owned(), ..Segment::default() };
        let is_type = matches!(shape, RefShape::Type | RefShape::Extends | RefShape::Implements);
        let spaces: &[Space] = if is_type { &[Space::Type] } else { &[Space::Value, Space::Type] };
        let written = qualifier.map(TypeRef::parse);
        let segments: Vec<Segment> = match &written {
            None => vec![last],
            Some(TypeRef::Path(None, before)) => before.iter().cloned().chain([last]).collect(),
            Some(TypeRef::Path(Some(of), before)) if before.is_empty() && !is_type => {
                let ty = self.lower(scope, &of.0);
                let of_trait = of.1.as_ref().and_then(|written| self.bound(scope, written)?.symbol);
                return match of_trait.map(|of_trait| self.member_of_trait(&ty, of_trait, name)) {
                    None => self.type_member_resolution(scope, &ty, name, is_type),
                    Some(Some(MemberTarget::Found(at, ..))) => Resolution::proved(at, "member of the trait"),
                    Some(_) => Resolution::Unknown("member not found"),
                };
            }
            Some(other) => return self.type_member_resolution(scope, &self.lower(scope, other), name, is_type),
        };
        let names: Vec<&str> = segments.iter().map(|segment| segment.name.as_str()).collect();
        let is_plain = names[0] != "Self" && self.parameter(scope, names[0]).is_none();
        let mut outside = false;
        let spaces = match self.path(scope, &names, Space::Type).filter(|_| is_plain && !is_type) {
            // If a function and a module share a name, the following token decides.
            Some(Def::Module(_)) if shape == RefShape::Value && self.is_path(index, reference, name) => &[Space::Type],
            _ => spaces,
        };
        for &space in spaces {
            match self.path(scope, &names, space).filter(|_| is_plain) {
                Some(Def::External(_)) => outside = true,
                Some(def) => return self.def_resolution(&def, "name in scope"),
                None => {}
            }
        }
        if names.len() == 1 {
            return match (outside, self.self_symbol(scope, name)) {
                (_, Some(at)) => Resolution::proved(at, "enclosing type"),
                (true, _) if !self.is_only_guessed(scope, name, spaces) => Resolution::External,
                _ => Resolution::Unknown("name not in scope"),
            };
        }
        let before = &segments[..segments.len() - 1];
        match self.resolve_path(scope, before, Space::Type) {
            PathTarget::Type(ty) => {
                let overloaded =
                    (shape == RefShape::PathCall).then(|| self.overloaded(index, reference, &ty)).flatten();
                overloaded.unwrap_or_else(|| self.type_member_resolution(scope, &ty, name, is_type))
            }
            PathTarget::Symbol(..) | PathTarget::Module | PathTarget::Unknown if !outside => {
                Resolution::Unknown("path not found")
            }
            _ if shape == RefShape::PathCall
                && self.is_declared_in_external_trait(&before[before.len() - 1].name, name) =>
            {
                Resolution::Unknown("a function of an external trait")
            }
            _ => Resolution::External,
        }
    }

    /// Returns whether the view implements an external trait that declares this function: a call through the trait may
    /// refer to that implementation.
    fn is_declared_in_external_trait(&self, of_trait: &str, name: &str) -> bool {
        self.candidates(name).iter().any(|candidate| {
            let implementation = self.implementation(candidate.owner);
            implementation.of_trait.as_ref().is_some_and(|bound| bound.symbol.is_none() && &*bound.name == of_trait)
        })
    }

    /// Resolves a member of a type by a path.
    fn type_member_resolution(&self, scope: Scope, ty: &Ty, name: &str, is_type: bool) -> Resolution {
        if let Ty::Item(at, _) = ty
            && let Some(variant) = self.variant(*at, name)
        {
            return Resolution::proved(variant, "variant of the type");
        }
        if is_type {
            return match self.associated_type(ty, name) {
                Some(at) => Resolution::proved(at, "associated type"),
                None if matches!(ty, Ty::Library(..)) => Resolution::External,
                None => Resolution::Unknown("associated type not found"),
            };
        }
        match self.associated(scope, ty, name) {
            PathTarget::Symbol(at, _) => Resolution::proved(at, "member of the type"),
            PathTarget::External => Resolution::External,
            _ => Resolution::Unknown("member not found"),
        }
    }

    fn self_symbol(&self, scope: Scope, name: &str) -> Option<SymbolAt> {
        match (name, self.self_type(scope)) {
            ("Self", Ty::Item(at, _) | Ty::SelfOf(at)) => Some(at),
            _ => None,
        }
    }

    fn def_resolution(&self, def: &Def, why: &'static str) -> Resolution {
        match def {
            Def::Symbol(at) => Resolution::proved(*at, why),
            Def::Module(Scope { file, symbol: None }) => Resolution::Module(vec![*file]),
            Def::Module(Scope { file, symbol: Some(place) }) => {
                Resolution::proved(SymbolAt { file: *file, ordinal: *place }, why)
            }
            Def::External(_) => Resolution::External,
        }
    }
}

/// Returns whether the text of a receiver may be truncated, or contains a comment without its end.
fn is_unsure(text: &str) -> bool {
    text.len() >= TRUNCATED_LEN || text.contains("//")
}

/// Returns a text without the comments and white space at its end.
fn without_comments(text: &str) -> &str {
    let mut text = text.trim_end();
    loop {
        let start = text.rfind('\n').map_or(0, |at| at + 1);
        let line = &text[start..];
        match line.find("//").filter(|&at| line[..at].matches('"').count().is_multiple_of(2)) {
            Some(at) => text = text[..start + at].trim_end(),
            None => return text,
        }
    }
}

/// Returns the position of the opening bracket that closes at the end of a text.
fn opening(bytes: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = bytes.len();
    while at > 0 {
        at -= 1;
        match bytes[at] {
            b')' | b']' | b'}' => depth += 1,
            b'(' | b'[' | b'{' => depth = depth.checked_sub(1)?,
            b'"' => at = string_start(bytes, at)?,
            _ => {}
        }
        if depth == 0 {
            return (bytes[at] == b'(').then_some(at);
        }
    }
    None
}
