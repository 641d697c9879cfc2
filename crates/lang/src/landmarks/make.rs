//! Finds the targets of makefiles, each with its recipe. Variables, special targets that begin with a dot, and targets
//! with computed names are not landmarks.

use codecompass_model::SymbolKind;

use super::scan::{comment_above, lines};
use super::{Landmark, LandmarkBuilder};

pub(super) fn read(reading: &mut LandmarkBuilder<'_>) {
    let mut goes_on = false;
    let mut in_define = false;
    for (start, line) in lines(reading.text) {
        let is_first = !std::mem::replace(&mut goes_on, line.ends_with('\\'));
        let word = line.split_whitespace().next().unwrap_or_default();
        in_define = (in_define || word == "define") && word != "endef";
        let is_own = !line.starts_with(['\t', ' ', '#']) && !line.trim().is_empty();
        if !is_first || in_define || !is_own {
            continue;
        }
        let Some(targets) = targets(line) else {
            // A line without indentation that is not a conditional ends the recipe above.
            if !matches!(word, "ifeq" | "ifneq" | "ifdef" | "ifndef" | "else" | "endif") {
                reading.close_to(0, start);
            }
            continue;
        };
        reading.close_to(0, start);
        let doc = comment_above(reading.text, start, &["#"]);
        let mut names = targets.split_whitespace().filter(|name| is_name(name)).peekable();
        while let Some(name) = names.next() {
            let at = start + (name.as_ptr() as usize - line.as_ptr() as usize);
            let header_end = start + line.trim_end_matches('\\').trim_end().len();
            let landmark = Landmark { kind: SymbolKind::Target, name, name_prefix: "", start, at, header_end, doc };
            // Only the last of several targets has the recipe.
            match names.peek() {
                Some(_) => reading.add(landmark, header_end),
                None => drop(reading.open(landmark)),
            }
        }
    }
}

/// Returns the text before the colon of a rule; `None` for other lines.
fn targets(line: &str) -> Option<&str> {
    let mut inside = 0usize;
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'(' | b'{' => inside += 1,
            b')' | b'}' => inside = inside.saturating_sub(1),
            b'=' | b'#' if inside == 0 => return None,
            b':' if inside == 0 => {
                let rest = line[at + 1..].trim_start_matches(':');
                let is_drive = at == 1 && rest.starts_with(['/', '\\']);
                let needs = rest.split(['#', ';']).next().unwrap_or_default();
                // `x: y = z` sets a variable of a target, and `x := y` is a variable.
                let is_variable = needs.contains('=');
                return (!is_variable && !is_drive).then_some(&line[..at]);
            }
            _ => {}
        }
    }
    None
}

fn is_name(name: &str) -> bool {
    let is_special = name.starts_with('.')
        && !name.contains('/')
        && name[1..].bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    !is_special && !name.contains('$') && !name.starts_with('-') && name != "&"
}

#[cfg(test)]
mod tests {
    use super::super::tests::{facts, render_landmarks};

    #[test]
    fn finds_targets_but_not_variables() {
        let text = "CC = gcc\nX := a:b\n.PHONY: all\n# Builds all.\nall: lib \\\n  bin\n\t$(CC) x:y\n\na b: c\n\trun\n%.o: %.c\nlib: CFLAGS += -g\n$(BIN): x\ndefine T\nno: x\nendef\n-include x.d\n";
        let expected = ["target all 5-7", "target a 9-9", "target b 9-10", "target %.o 11-11"];
        assert_eq!(render_landmarks("make", text), expected);
        let facts = facts("make", text);
        assert_eq!(facts.symbols[0].doc.map(|doc| doc.text(text)), Some("# Builds all."));
        assert_eq!(facts.symbols[0].signature, "all: lib");
    }

    #[test]
    fn conditionals_do_not_end_a_rule() {
        let text = "a:\nifdef X\n\tb\nendif\n\tc\n";
        assert_eq!(render_landmarks("make", text), ["target a 1-5"]);
    }
}
