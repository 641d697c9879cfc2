//! Finds the stages of container builds: from one `FROM` to the next. A stage without a name gets the name of its
//! image.

use codecompass_model::SymbolKind;

use super::scan::{comment_above, lines};
use super::{Landmark, LandmarkBuilder};

pub(super) fn read(reading: &mut LandmarkBuilder<'_>) {
    let mut goes_on = false;
    for (start, line) in lines(reading.text) {
        let is_first = !goes_on;
        goes_on = line.trim_end().ends_with('\\') && !line.trim_start().starts_with('#');
        let mut words = line.split_whitespace();
        if !is_first || !words.next().is_some_and(|word| word.eq_ignore_ascii_case("from")) {
            continue;
        }
        let mut words = words.filter(|word| !word.starts_with("--"));
        let Some(image) = words.next() else { continue };
        let is_named = words.next().is_some_and(|word| word.eq_ignore_ascii_case("as"));
        let name = words.next().filter(|_| is_named).unwrap_or(image);
        reading.close_to(0, start);
        // The name comes last, even if the image has the same name.
        let at = start + line.rfind(name).unwrap_or_default();
        let doc = comment_above(reading.text, start, &["#"]);
        let header_end = start + line.len();
        let landmark = Landmark { kind: SymbolKind::Stage, name, name_prefix: "", start, at, header_end, doc };
        reading.open(landmark);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::render_landmarks;

    #[test]
    fn stage_ends_at_next_stage() {
        let text = "ARG V=1\n# first\nFROM --platform=x rust:${V} AS build\nRUN a \\\n  from b\nfrom alpine\nCOPY --from=build x y\nFROM\n";
        assert_eq!(render_landmarks("dockerfile", text), ["stage build 3-5", "stage alpine 6-8"]);
    }
}
