//! The answers of the commands that are not tools.

pub mod bench;
pub mod config;
pub mod doctor;
pub mod export;
pub mod facts;
pub mod index;
pub mod projects;
pub mod reference;
pub mod views;

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use super::{bench, config, views};
    use crate::metadata::Metadata;
    use crate::named::Named;

    fn round_trip<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) -> String {
        let text = serde_json::to_string(value).expect("it can be written");
        assert_eq!(serde_json::from_str::<T>(&text).expect("it can be read"), *value);
        text
    }

    #[test]
    fn settings_of_every_type_can_be_read() {
        use config::SettingValue::{Count, Flag, List, Map, Word};
        let map = Map([("*.h".to_owned(), "cpp".to_owned())].into());
        let each = [Flag(None), Flag(Some(true)), Count(3), Word("text".into()), List(vec!["*.log".into()]), map];
        let text: Vec<String> = each.iter().map(round_trip).collect();
        assert_eq!(text, ["null", "true", "3", "\"text\"", "[\"*.log\"]", "{\"*.h\":\"cpp\"}"]);
    }

    #[test]
    fn a_dry_run_tells_nothing_about_removed_data() {
        let prune = |removed| views::Prune {
            dry_run: true,
            older_than_days: 30,
            pruned: Vec::new(),
            kept: 1,
            bytes_before: 9,
            removed,
            metadata: Metadata::unknown(),
        };
        assert!(round_trip(&prune(None)).contains("\"bytes_before\":9,\"metadata\""));
        let removed = views::Removed { removed_file_versions: 2, bytes_after: 4, bytes_freed: 5, space_freed: true };
        let text = round_trip(&prune(Some(removed)));
        assert!(text.contains("\"bytes_before\":9,\"removed_file_versions\":2,\"bytes_after\":4,"), "{text}");
    }

    #[test]
    fn times_are_fields_of_the_repository() {
        let times = bench::Times { p50_ms: 1.5, p95_ms: 2.0, max_ms: 2.5, queries: 7 };
        let times = Named(vec![("scan".into(), times.clone()), ("locate".into(), times)]);
        let text = round_trip(&bench::Queries { path: "/a".into(), files: 1, lines: 2, times });
        assert!(text.starts_with("{\"path\":\"/a\",\"files\":1,\"lines\":2,\"scan\":{\"p50_ms\":1.5,"), "{text}");
    }
}
