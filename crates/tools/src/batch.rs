//! Requests about several names: each is answered separately, and an error takes the position of its answer.

use codecompass_wire::{self as wire, BatchError, More, Outcome};

use codecompass_workspace::error::AppError;
use codecompass_workspace::metadata::{Metadata, MetadataText};
use codecompass_workspace::output::{Reader, Render, error_line};

/// The answers for several names, each without the metadata.
pub(crate) struct Batch<P> {
    pub first: P,
    /// The further names, each with its answer.
    pub more: Vec<(String, Result<P, AppError>)>,
    pub metadata: Metadata,
}

/// Adds the warnings about a further name to the metadata of all of them. Each says which name it is about.
pub(super) fn add_warnings(metadata: &mut Metadata, name: &str, noted: Metadata) {
    let named = |warning: String| if warning.contains(name) { warning } else { format!("{name}: {warning}") };
    for warning in noted.warnings.into_iter().map(named) {
        if !metadata.warnings.contains(&warning) {
            metadata.warnings.push(warning);
        }
    }
}

impl<P: Render> Render for Batch<P> {
    type Wire = wire::Batch<P::Wire>;

    fn wire(self) -> Result<Self::Wire, AppError> {
        let more = self.more.into_iter().map(|(asked, part)| {
            let outcome = match part {
                Ok(part) => Outcome::Answered(part.wire()?),
                Err(error) => {
                    let error = BatchError { code: error.code.as_str().into(), message: error.message };
                    Outcome::Failed { error }
                }
            };
            Ok(More { asked, outcome })
        });
        let more = more.collect::<Result<_, AppError>>()?;
        Ok(wire::Batch { first: self.first.wire()?, more, metadata: self.metadata })
    }

    fn text(self, reader: Reader) -> Result<String, AppError> {
        let mut text = self.first.text(reader)?;
        for (name, part) in self.more {
            text += &match part {
                Ok(part) => part.text(reader)?,
                Err(error) => error_line(&name, &error, reader),
            };
        }
        Ok(text + &self.metadata.notes())
    }
}
