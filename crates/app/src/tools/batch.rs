//! Requests about several names: each is answered separately, and an error takes the position of its answer.

use serde_json::{Value, json};

use crate::error::AppError;
use crate::metadata::Metadata;
use crate::output::{Answer, OutputFormat, Reader, error_line};

/// The answer for one name, without the metadata.
pub(crate) trait BatchItem {
    /// The JSON as the contracts define it.
    fn json(&self) -> Result<Value, AppError>;

    /// Adds fields after the metadata.
    fn finish(&self, _json: &mut Value) -> Result<(), AppError> {
        Ok(())
    }

    /// The text for agents and people.
    fn text(&self, reader: Reader) -> Result<String, AppError>;
}

/// The answers for several names.
pub(crate) struct Batch<P> {
    pub(crate) first: P,
    /// The further names, each with its answer.
    pub(crate) more: Vec<(String, Result<P, AppError>)>,
    pub(crate) metadata: Metadata,
    pub(crate) code: u8,
}

impl<P: BatchItem> Batch<P> {
    /// Renders in the requested format.
    pub(crate) fn render(self, form: OutputFormat) -> Result<Answer, AppError> {
        Ok(match form {
            OutputFormat::Json => Answer { text: String::new(), json: self.json()?, code: self.code },
            OutputFormat::Text(reader) => Answer { text: self.text(reader)?, json: Value::Null, code: self.code },
        })
    }

    fn json(&self) -> Result<Value, AppError> {
        let mut json = self.first.json()?;
        if !self.more.is_empty() {
            let mut more = Vec::with_capacity(self.more.len());
            for (name, part) in &self.more {
                let mut one = json!({ "asked": name });
                match part {
                    Ok(part) => {
                        if let (Some(fields), Value::Object(told)) = (one.as_object_mut(), part.json()?) {
                            fields.extend(told);
                        }
                    }
                    Err(error) => {
                        one["error"] = json!({ "code": error.code.as_str(), "message": error.message });
                    }
                }
                more.push(one);
            }
            json["more"] = json!(more);
        }
        json["metadata"] = self.metadata.to_json();
        self.first.finish(&mut json)?;
        Ok(json)
    }

    fn text(&self, reader: Reader) -> Result<String, AppError> {
        let mut text = self.first.text(reader)?;
        for (name, part) in &self.more {
            text += &match part {
                Ok(part) => part.text(reader)?,
                Err(error) => error_line(name, error),
            };
        }
        Ok(text + &self.metadata.notes())
    }
}
