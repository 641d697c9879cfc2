//! The commands that are tools: their options and arguments come from the tool's parameter table.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use serde_json::{Map, Value};

use codecompass_tools::tool_spec::{Param, ParamKind, ParamSide, ToolFn, ToolSpec};

/// Refuses to answer before the first index; no tool has it.
const NO_INDEX: &str = "no_index";

/// A command that calls a tool.
pub(crate) struct ToolCommand {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) tool: &'static ToolSpec,
    /// The function that answers it.
    pub(crate) call: ToolFn,
    /// Parameters with a fixed value; they are not options of the command.
    pub(crate) fixed: &'static [(&'static str, &'static str)],
}

impl ToolCommand {
    /// The clap command.
    pub(super) fn command(&self) -> Command {
        let options = self.params().map(|param| match self.takes_words(param) {
            true => option(param, self.tool).num_args(1..).action(ArgAction::Append),
            false => option(param, self.tool),
        });
        let command = Command::new(self.name).about(self.about).args(options);
        if self.indexes_first() { command.arg(no_index()) } else { command }
    }

    /// Whether the command builds the first index of a work tree itself. The others report what is indexed.
    fn indexes_first(&self) -> bool {
        !matches!(self.name, "status" | "refs")
    }

    /// Whether the user allows the command to build the first index: neither `--no-index` nor `--no-sync` is given.
    pub(crate) fn may_index_first(&self, matches: &ArgMatches) -> bool {
        let is_set = |name| matches.try_get_one::<bool>(name).ok().flatten().is_some_and(|set| *set);
        self.indexes_first() && !is_set(NO_INDEX) && !is_set("no_sync")
    }

    /// The given arguments, by parameter name.
    pub(crate) fn arguments(&self, matches: &ArgMatches) -> Map<String, Value> {
        let read = |param: &Param| match self.takes_words(param) {
            true => {
                let words: Vec<String> = matches.get_many(param.name)?.cloned().collect();
                Some(words.join(" ").into())
            }
            false => value(param, matches),
        };
        let mut given: Map<String, Value> =
            self.params().filter_map(|param| Some((param.name.to_owned(), read(param)?))).collect();
        split_range(&mut given);
        given.extend(self.fixed.iter().map(|(name, word)| ((*name).to_owned(), Value::from(*word))));
        given
    }

    /// The same with the possible values of its options, for completions and manual pages.
    pub(super) fn with_possible_values(&self, mut command: Command) -> Command {
        for param in self.params() {
            if let ParamKind::Choice(words, _) = param.kind {
                command = command.mut_arg(param.name, |arg| arg.value_parser(PossibleValuesParser::new(words)));
            } else if matches!(param.name, "path" | "paths" | "what" | "path_filter") {
                command = command.mut_arg(param.name, |arg| arg.value_hint(ValueHint::AnyPath));
            }
        }
        command
    }

    /// Whether consecutive words form one value: a query, if no other positional argument follows it.
    fn takes_words(&self, param: &Param) -> bool {
        let last = self.params().filter(|param| param.flag.is_positional).last();
        param.name == "query" && last.is_some_and(|last| last.name == param.name)
    }

    /// Replaces parameter names in a message with their command-line names.
    pub(crate) fn params_as_flags(&self, message: &str) -> String {
        let mut message = message.to_owned();
        for param in self.params() {
            message = message.replace(&format!("`{}`", param.name), &format!("`{}`", flag_name(param)));
        }
        message
    }

    fn params(&self) -> impl Iterator<Item = &'static Param> {
        let is_option = |param: &&Param| {
            param.is_for(ParamSide::Command) && !self.fixed.iter().any(|(name, _)| *name == param.name)
        };
        self.tool.params.iter().filter(is_option)
    }
}

/// The command-line name of a parameter.
fn flag_name(param: &Param) -> String {
    let flag = &param.flag;
    match flag.is_positional {
        true => flag.value.unwrap_or(param.name).to_owned(),
        false => format!("--{}", flag.long.unwrap_or(param.name)),
    }
}

/// Splits `A..B` and `A...B` into two refs; a ref name cannot contain `..`.
fn split_range(given: &mut Map<String, Value>) {
    let Some(range) = given.get("base_ref").and_then(Value::as_str).map(str::to_owned) else { return };
    let Some((base, head)) = range.split_once("...").or_else(|| range.split_once("..")) else { return };
    if given.contains_key("head_ref") {
        return;
    }
    for (name, side) in [("base_ref", base), ("head_ref", head)] {
        // As in git, an omitted side is HEAD.
        given.insert(name.to_owned(), Value::from(if side.is_empty() { "HEAD" } else { side }));
    }
}

fn no_index() -> Arg {
    let help = "Refuse a git work tree that was never indexed, instead of indexing it first";
    Arg::new(NO_INDEX).long("no-index").help(help).action(ArgAction::SetTrue).overrides_with(NO_INDEX)
}

fn option(param: &'static Param, tool: &'static ToolSpec) -> Arg {
    let flag = &param.flag;
    let about = flag.about.unwrap_or(param.about);
    let default = default_text(param).filter(|_| !about.contains("efault"));
    let mut help = about.to_owned();
    if let ParamKind::Choice(words, _) = param.kind
        && !words.iter().all(|word| about.contains(word))
    {
        help += &format!(" [{}]", words.join(", "));
    }
    help += &default.map(|default| format!(" [default: {default}]")).unwrap_or_default();
    let mut arg = Arg::new(param.name).help(help.trim().to_owned());
    if !flag.is_positional {
        arg = arg.long(flag.long.unwrap_or(param.name));
    }
    if let Some(short) = flag.short {
        arg = arg.short(short);
    }
    match (flag.alias, flag.alias.and_then(|alias| alias.chars().next())) {
        (Some(alias), Some(letter)) if alias.len() == 1 => arg = arg.visible_short_alias(letter),
        (Some(alias), _) => arg = arg.visible_alias(alias),
        (None, _) => {}
    }
    arg = arg.value_name(flag.value.map_or_else(|| param.name.to_uppercase(), str::to_owned));
    if let Some(word) = flag.value_when_bare {
        arg = arg.num_args(0..=1).default_missing_value(word).require_equals(true);
    }
    // Only options of this command can conflict.
    if let Some(other) = flag.conflicts_with.filter(|other| tool.params.iter().any(|param| param.name == *other)) {
        arg = arg.conflicts_with(other);
    }
    match param.kind {
        ParamKind::Flag(_) => arg.action(ArgAction::SetTrue).overrides_with(param.name),
        ParamKind::Count(_) => arg.value_parser(value_parser!(i64)).allow_negative_numbers(true),
        ParamKind::Share(_) => arg.value_parser(value_parser!(f64)).allow_negative_numbers(true),
        ParamKind::List if flag.is_positional => arg.num_args(0..).action(ArgAction::Append),
        ParamKind::List => arg.action(ArgAction::Append),
        ParamKind::Text | ParamKind::Choice(..) | ParamKind::Object => arg.allow_hyphen_values(flag.short == Some('e')),
    }
    // A range gives both refs.
    .required(param.required && flag.is_positional && !flag.is_optional && param.name != "head_ref")
}

fn default_text(param: &Param) -> Option<String> {
    match param.kind {
        ParamKind::Count(default) => default.map(|count| count.to_string()),
        ParamKind::Choice(_, default) => default.map(str::to_owned),
        _ => None,
    }
}

fn value(param: &Param, matches: &ArgMatches) -> Option<Value> {
    match param.kind {
        ParamKind::Flag(_) => matches.get_flag(param.name).then_some(true.into()),
        ParamKind::Count(_) => matches.get_one::<i64>(param.name).map(|count| (*count).into()),
        ParamKind::Share(_) => matches.get_one::<f64>(param.name).map(|share| (*share).into()),
        ParamKind::List => {
            matches.get_many::<String>(param.name).map(|words| words.cloned().collect::<Vec<String>>().into())
        }
        ParamKind::Text | ParamKind::Choice(..) | ParamKind::Object => {
            matches.get_one::<String>(param.name).map(|word| word.as_str().into())
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::TOOL_COMMANDS;

    #[test]
    fn tool_commands_are_well_formed() {
        for command in TOOL_COMMANDS {
            let built = command.command();
            for arg in built.get_arguments() {
                assert!(!arg.get_long().unwrap_or_default().contains('_'), "{}: {arg}", command.name);
            }
            built.debug_assert();
        }
    }
}
