//! The records of a view: one row for each, ordered by kind, file version and ordinal.
//!
//! Scores are accumulated in rows, so that they are in reading order, independent of segments.

use codecompass_model::VersionId;
use roaring::RoaringBitmap;
use tantivy::SegmentReader;

use crate::text::Fields;
use crate::text_fields::{RECORD_KINDS, RecordKind, TextField};
use crate::{Result, SymbolPayload};

/// The row of a document that is not in the view.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// The rows of a view's records.
#[derive(Debug)]
pub(crate) struct RecordRows {
    /// For each segment, the row of each document among the records of its kind.
    by_document: Vec<Vec<u32>>,
    /// For each kind, the first row of each file version, followed by the end.
    starts: [Vec<u32>; RECORD_KINDS],
    /// The file versions in order.
    versions: Vec<VersionId>,
    /// For each kind, the index into `versions` for each row.
    files: [Vec<u32>; RECORD_KINDS],
    /// The length of each file version's text, in tokens as Tantivy counts lengths.
    lengths: Vec<u32>,
    /// The payload of each symbol row.
    payloads: Vec<SymbolPayload>,
}

/// A document: the index of its file version in the view, and its record.
#[derive(Clone, Copy)]
struct Document {
    file: u32,
    record: usize,
    ordinal: u32,
}

impl RecordRows {
    pub(crate) fn new(segments: &[SegmentReader], fields: &Fields, members: &RoaringBitmap) -> Result<Self> {
        let versions: Vec<VersionId> = members.iter().collect();
        let documents: Vec<Vec<Option<Document>>> =
            segments.iter().map(|segment| documents(segment, &versions)).collect::<Result<_>>()?;
        let mut starts: [Vec<u32>; RECORD_KINDS] = std::array::from_fn(|_| vec![0; versions.len() + 1]);
        for Document { file, record, ordinal: place } in documents.iter().flatten().flatten() {
            let count = &mut starts[*record][*file as usize + 1];
            *count = (*count).max(place + 1);
        }
        for starts in &mut starts {
            let mut end = 0;
            for start in starts {
                end += *start;
                *start = end;
            }
        }
        let row = |found: &Option<Document>| {
            found.map_or(NO_ROW, |found| starts[found.record][found.file as usize] + found.ordinal)
        };
        let of_documents = documents.iter().map(|documents| documents.iter().map(row).collect()).collect();
        let mut lengths = vec![0; versions.len()];
        for (segment, documents) in segments.iter().zip(&documents) {
            add_lengths(segment, fields, documents, &mut lengths)?;
        }
        let mut glances =
            vec![SymbolPayload::default(); starts[RecordKind::Symbol as usize].last().map_or(0, |end| *end as usize)];
        for (segment, documents) in segments.iter().zip(&documents) {
            let mut bits = vec![0; segment.max_doc() as usize];
            segment.fast_fields().u64("glance")?.first_or_default_col(0).get_range(0, &mut bits);
            for (found, bits) in documents.iter().zip(bits) {
                if let Some(Document { file, ordinal: place, .. }) =
                    found.filter(|found| found.record == RecordKind::Symbol as usize)
                {
                    let row = starts[RecordKind::Symbol as usize][file as usize] + place;
                    glances[row as usize] = SymbolPayload::from_bits(bits as u32);
                }
            }
        }
        let files = std::array::from_fn(|of| files_by_row(&starts[of]));
        Ok(Self { by_document: of_documents, starts, versions, files, lengths, payloads: glances })
    }

    /// Returns the file versions in order.
    pub(crate) fn versions(&self) -> &[VersionId] {
        &self.versions
    }

    /// Returns, for each row of a kind, the index of its file version.
    pub(crate) fn files(&self, record: RecordKind) -> &[u32] {
        &self.files[record as usize]
    }

    /// Returns the length of each file version.
    pub(crate) fn lengths(&self) -> &[u32] {
        &self.lengths
    }

    /// Returns the payload of each symbol row.
    pub(crate) fn payloads(&self) -> &[SymbolPayload] {
        &self.payloads
    }

    /// Whether a file version has symbols.
    pub(crate) fn has_symbols(&self, version: VersionId) -> bool {
        let starts = &self.starts[RecordKind::Symbol as usize];
        self.versions.binary_search(&version).is_ok_and(|file| starts[file] < starts[file + 1])
    }

    /// Returns the rows of a segment's documents.
    pub(crate) fn segment_rows(&self, number: usize) -> &[u32] {
        &self.by_document[number]
    }

    /// Returns the number of rows of a kind; some may have no record.
    pub(crate) fn count(&self, record: RecordKind) -> usize {
        self.starts[record as usize].last().map_or(0, |end| *end as usize)
    }

    /// Returns a function that maps rows in ascending order to file versions and ordinals.
    pub(crate) fn ordinals(&self, record: RecordKind) -> impl FnMut(u32) -> (VersionId, u32) + '_ {
        let starts = &self.starts[record as usize];
        let mut file = 0;
        move |row| {
            while starts[file + 1] <= row {
                file += 1;
            }
            (self.versions[file], row - starts[file])
        }
    }
}

/// Computes the file of each row from the first row of each file.
fn files_by_row(starts: &[u32]) -> Vec<u32> {
    let mut files = Vec::with_capacity(starts.last().map_or(0, |end| *end as usize));
    for (file, rows) in starts.windows(2).enumerate() {
        files.resize(rows[1] as usize, file as u32);
    }
    files
}

/// Adds the lengths of a segment's symbols and chunks to those of their files. A document has the same length in every
/// segment.
fn add_lengths(
    segment: &SegmentReader,
    fields: &Fields,
    documents: &[Option<Document>],
    lengths: &mut [u32],
) -> Result<()> {
    let own = segment.get_fieldnorms_reader(fields.for_field(TextField::Own))?;
    let piece = segment.get_fieldnorms_reader(fields.for_field(TextField::Chunk))?;
    for (number, document) in documents.iter().enumerate() {
        let Some(Document { file, record, .. }) = document else { continue };
        let length = match *record {
            record if record == RecordKind::Symbol as usize => own.fieldnorm(number as u32),
            record if record == RecordKind::Chunk as usize => piece.fieldnorm(number as u32),
            _ => 0,
        };
        lengths[*file as usize] += length;
    }
    Ok(())
}

fn documents(segment: &SegmentReader, versions: &[VersionId]) -> Result<Vec<Option<Document>>> {
    let mut ids = vec![0; segment.max_doc() as usize];
    let mut records = vec![0; segment.max_doc() as usize];
    segment.fast_fields().u64("fv")?.first_or_default_col(0).get_range(0, &mut ids);
    segment.fast_fields().u64("ord")?.first_or_default_col(0).get_range(0, &mut records);
    // The documents of a file version are mostly adjacent.
    let mut last = (u64::MAX, None);
    let mut document = |(number, (id, record)): (usize, (u64, u64))| {
        if last.0 != id {
            last = (id, versions.binary_search(&(id as VersionId)).ok());
        }
        let file = last.1.filter(|_| !segment.is_deleted(number as u32))? as u32;
        let (record, place) = ((record & 3) as usize, (record >> 2) as u32);
        (record < RECORD_KINDS).then_some(Document { file, record, ordinal: place })
    };
    Ok(ids.into_iter().zip(records).enumerate().map(&mut document).collect())
}
