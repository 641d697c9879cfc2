//! The commands that are tools: their options come from the tool's table of parameters, and so do their arguments.

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::{Map, Value, json};

use crate::tools::frame::{Kind, Param, Side, Tool};

/// A command that asks a tool.
pub(crate) struct ToolCommand {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) tool: &'static Tool,
    /// Parameters that the command stands for; they are no options of it.
    pub(crate) fixed: &'static [(&'static str, &'static str)],
}

impl ToolCommand {
    /// As clap sees it.
    pub(super) fn command(&self) -> Command {
        let options = self.params().map(|param| option(param, self.tool));
        Command::new(self.name).about(self.about).args(options)
    }

    /// What was given, by the names of the parameters.
    pub(crate) fn arguments(&self, matches: &ArgMatches) -> Map<String, Value> {
        let mut given: Map<String, Value> =
            self.params().filter_map(|param| Some((param.name.to_owned(), value(param, matches)?))).collect();
        given.extend(self.fixed.iter().map(|(name, word)| ((*name).to_owned(), json!(word))));
        given
    }

    fn params(&self) -> impl Iterator<Item = &'static Param> {
        let is_option =
            |param: &&Param| param.is_for(Side::Command) && !self.fixed.iter().any(|(name, _)| *name == param.name);
        self.tool.params.iter().filter(is_option)
    }
}

fn option(param: &'static Param, tool: &'static Tool) -> Arg {
    let flag = &param.flag;
    let about = flag.about.unwrap_or(param.about);
    let default = default_text(param);
    let mut arg = Arg::new(param.name).help(match default {
        Some(default) if !about.contains("efault") => format!("{about} [default: {default}]").trim().to_owned(),
        _ => about.to_owned(),
    });
    if !flag.is_place {
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
    if let Some(value) = flag.value {
        arg = arg.value_name(value);
    }
    if let Some(word) = flag.bare {
        arg = arg.num_args(0..=1).default_missing_value(word).require_equals(true);
    }
    // Only what this command takes can be in the way.
    if let Some(other) = flag.against.filter(|other| tool.params.iter().any(|param| param.name == *other)) {
        arg = arg.conflicts_with(other);
    }
    match param.kind {
        Kind::Flag(_) => arg.action(ArgAction::SetTrue).overrides_with(param.name),
        Kind::Count(_) => arg.value_parser(value_parser!(i64)).allow_negative_numbers(true),
        Kind::Share(_) => arg.value_parser(value_parser!(f64)).allow_negative_numbers(true),
        Kind::List if flag.is_place => arg.num_args(0..).action(ArgAction::Append),
        Kind::List => arg.action(ArgAction::Append),
        Kind::Text | Kind::Choice(..) | Kind::Object => arg.allow_hyphen_values(flag.short == Some('e')),
    }
    .required(param.required && flag.is_place && !flag.may_miss)
}

fn default_text(param: &Param) -> Option<String> {
    match param.kind {
        Kind::Count(default) => default.map(|count| count.to_string()),
        Kind::Choice(_, default) => default.map(str::to_owned),
        _ => None,
    }
}

fn value(param: &Param, matches: &ArgMatches) -> Option<Value> {
    match param.kind {
        Kind::Flag(_) => matches.get_flag(param.name).then_some(json!(true)),
        Kind::Count(_) => matches.get_one::<i64>(param.name).map(|count| json!(count)),
        Kind::Share(_) => matches.get_one::<f64>(param.name).map(|share| json!(share)),
        Kind::List => {
            matches.get_many::<String>(param.name).map(|words| json!(words.cloned().collect::<Vec<String>>()))
        }
        Kind::Text | Kind::Choice(..) | Kind::Object => matches.get_one::<String>(param.name).map(|word| json!(word)),
    }
}

#[cfg(test)]
mod tests {
    use crate::commands::TOOL_COMMANDS;

    #[test]
    fn commands_of_tools_are_well_formed_and_write_names_as_commands_do() {
        for command in TOOL_COMMANDS {
            let built = command.command();
            for arg in built.get_arguments() {
                assert!(!arg.get_long().unwrap_or_default().contains('_'), "{}: {arg}", command.name);
            }
            built.debug_assert();
        }
    }
}
