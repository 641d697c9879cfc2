//! Laws for every table.

use std::collections::BTreeSet;

use super::table::{Action, Bind, Define, Find, LanguageSpec, Lower};
use crate::{LANGUAGES, Walk};

fn tables() -> impl Iterator<Item = (&'static crate::Language, &'static LanguageSpec)> {
    LANGUAGES.iter().filter_map(|language| match language.walk {
        Walk::Table(recipe) => Some((*language, recipe)),
        Walk::Custom(_) | Walk::Embedded { .. } => None,
    })
}

/// Collects the kinds and fields that a selector names.
fn collect_selector(find: &Find, kinds: &mut BTreeSet<&'static str>, fields: &mut BTreeSet<&'static str>) {
    match find {
        Find::Field(field) | Find::ParentField(field) => drop(fields.insert(field)),
        Find::Kind(kind) => drop(kinds.insert(kind)),
        Find::ChildField(kind, field) => {
            kinds.insert(kind);
            fields.insert(field);
        }
        Find::Grandchild(kind, inner) => kinds.extend([*kind, *inner]),
        Find::Except(beside) => kinds.extend(beside.iter()),
        Find::Nowhere | Find::First | Find::Last => {}
    }
}

fn collect_action(step: &Action, kinds: &mut BTreeSet<&'static str>, fields: &mut BTreeSet<&'static str>) {
    let all: Vec<Find> = match step {
        Action::Define(Define { name, params, type_params, of_type, value, body, .. }) => {
            vec![*name, *params, *type_params, *of_type, *value, *body]
        }
        Action::Bind(Bind { name, of_type, value, .. }) => vec![*name, *of_type, *value],
        Action::Refers(find, _) => vec![*find],
        Action::Lower(of) => match of {
            Lower::Member(a, b)
            | Lower::PointerMember(a, b)
            | Lower::CallOf(a, b)
            | Lower::New(a, b)
            | Lower::Index(a, b) => vec![*a, *b],
            Lower::Generic(a, b) | Lower::Closure(a, b) => vec![*a, *b],
            Lower::Call { of, name, args } => vec![*of, *name, *args],
            Lower::NewList(a) | Lower::Cast(a) | Lower::Same(a) | Lower::List(a) => vec![*a],
            Lower::CallWith(a, b, _) => vec![*a, *b],
            Lower::Either(all) => all.to_vec(),
            Lower::This | Lower::Super | Lower::Binary | Lower::Literal(_) | Lower::Hook(_) => Vec::new(),
        },
        Action::In(kind, inner) => {
            kinds.insert(kind);
            return collect_action(inner, kinds, fields);
        }
        _ => Vec::new(),
    };
    all.iter().for_each(|find| collect_selector(find, kinds, fields));
}

#[test]
fn named_kinds_and_fields_are_declared() {
    for (language, recipe) in tables() {
        let (mut kinds, mut fields) = (BTreeSet::new(), BTreeSet::new());
        recipe.rows.iter().flat_map(|row| row.actions).for_each(|step| collect_action(step, &mut kinds, &mut fields));
        kinds.extend(recipe.comments.iter().chain(recipe.modifiers).chain(recipe.attributes));
        for kind in kinds {
            assert!(recipe.rows.iter().any(|row| row.kind == kind), "{}: no row for {kind}", language.name);
        }
        for field in fields {
            assert!(recipe.fields.contains(&field), "{}: the field {field} is not listed", language.name);
        }
        let mut rows: Vec<_> = recipe.rows.iter().map(|row| row.kind).collect();
        rows.sort_unstable();
        let count = rows.len();
        rows.dedup();
        assert_eq!(rows.len(), count, "{}: two rows for one kind", language.name);
    }
}

#[test]
fn tables_match_the_grammar() {
    let mut wrong = Vec::new();
    for (language, recipe) in tables() {
        let grammar = (language.grammar.load)();
        let ids = 0..grammar.node_kind_count() as u16;
        let is_meant = |id: &u16| grammar.node_kind_is_named(*id) && grammar.node_kind_is_visible(*id);
        let kinds: BTreeSet<&str> =
            ids.clone().filter(is_meant).filter_map(|id| grammar.node_kind_for_id(id)).collect();
        let all: BTreeSet<&str> = ids.filter_map(|id| grammar.node_kind_for_id(id)).collect();
        let known: BTreeSet<&str> =
            recipe.rows.iter().map(|row| row.kind).chain(recipe.ignored.iter().copied()).collect();
        for kind in kinds.difference(&known).filter(|kind| **kind != "ERROR") {
            wrong.push(format!("{}: {kind} has no row and is not ignored", language.name));
        }
        for kind in known.difference(&all) {
            wrong.push(format!("{}: the grammar has no {kind}", language.name));
        }
        let both = recipe.rows.iter().map(|row| row.kind).filter(|kind| recipe.ignored.contains(kind));
        wrong.extend(both.map(|kind| format!("{}: {kind} has a row but is also ignored", language.name)));
        let fields = recipe.fields.iter().filter(|field| grammar.field_id_for_name(field).is_none());
        wrong.extend(fields.map(|field| format!("{}: the grammar has no field {field}", language.name)));
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
    assert!(tables().count() >= 3);
}
