//! One question about several names: each is answered for itself, and what went wrong with one is told in its place.

use serde_json::{Value, json};

use crate::error::AppError;
use crate::metadata::Metadata;
use crate::output::{Answer, Form, Reader, error_line};

/// What is told about one name, without the metadata.
pub(crate) trait Part {
    /// As the contracts have it.
    fn json(&self) -> Result<Value, AppError>;

    /// What is added to that behind the metadata.
    fn finish(&self, _json: &mut Value) -> Result<(), AppError> {
        Ok(())
    }

    /// As agents and people read it.
    fn text(&self, reader: Reader) -> Result<String, AppError>;
}

/// The answers to a question about several names.
pub(crate) struct Several<P> {
    pub(crate) first: P,
    /// The further names, each with its answer.
    pub(crate) more: Vec<(String, Result<P, AppError>)>,
    pub(crate) metadata: Metadata,
    pub(crate) code: u8,
}

impl<P: Part> Several<P> {
    /// In one form.
    pub(crate) fn told(self, form: Form) -> Result<Answer, AppError> {
        Ok(match form {
            Form::Json => Answer { text: String::new(), json: self.json()?, code: self.code },
            Form::Text(reader) => Answer { text: self.text(reader)?, json: Value::Null, code: self.code },
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
