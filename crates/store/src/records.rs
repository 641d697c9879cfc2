//! The records of a view: one row for each, those of a type in order of file version and place.
//!
//! What words add up is added up in rows, so that it lies in the order in which it is read, whatever segments hold it.

use codecompass_model::VersionId;
use roaring::RoaringBitmap;
use tantivy::SegmentReader;

use crate::Result;
use crate::search::Record;

/// How many types of records there are.
pub(crate) const TYPES: usize = 3;

/// The row of a document that the view does not hold.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// See the module.
#[derive(Debug)]
pub(crate) struct Rows {
    /// For each segment, the row of each document among the records of its type.
    of_documents: Vec<Vec<u32>>,
    /// For each type, the first row of each file version, and at last the end.
    starts: [Vec<u32>; TYPES],
    /// The file versions in order.
    versions: Vec<VersionId>,
}

/// A document: where its file version stands among those of the view, and what it is a record of.
#[derive(Clone, Copy)]
struct Document {
    file: u32,
    record: usize,
    place: u32,
}

impl Rows {
    pub(crate) fn new(segments: &[SegmentReader], members: &RoaringBitmap) -> Result<Self> {
        let versions: Vec<VersionId> = members.iter().collect();
        let documents: Vec<Vec<Option<Document>>> =
            segments.iter().map(|segment| documents(segment, &versions)).collect::<Result<_>>()?;
        let mut starts: [Vec<u32>; TYPES] = std::array::from_fn(|_| vec![0; versions.len() + 1]);
        for Document { file, record, place } in documents.iter().flatten().flatten() {
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
            found.map_or(NO_ROW, |found| starts[found.record][found.file as usize] + found.place)
        };
        let of_documents = documents.iter().map(|documents| documents.iter().map(row).collect()).collect();
        Ok(Self { of_documents, starts, versions })
    }

    /// The rows of a segment's documents.
    pub(crate) fn of_segment(&self, number: usize) -> &[u32] {
        &self.of_documents[number]
    }

    /// How many rows the records of a type take; some may stand for none.
    pub(crate) fn count(&self, record: Record) -> usize {
        self.starts[record as usize].last().map_or(0, |end| *end as usize)
    }

    /// The file versions and places of rows that come in ascending order.
    pub(crate) fn places(&self, record: Record) -> impl FnMut(u32) -> (VersionId, u32) + '_ {
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

fn documents(segment: &SegmentReader, versions: &[VersionId]) -> Result<Vec<Option<Document>>> {
    let mut ids = vec![0; segment.max_doc() as usize];
    let mut records = vec![0; segment.max_doc() as usize];
    segment.fast_fields().u64("fv")?.first_or_default_col(0).get_range(0, &mut ids);
    segment.fast_fields().u64("ord")?.first_or_default_col(0).get_range(0, &mut records);
    // The documents of a file version mostly lie side by side.
    let mut last = (u64::MAX, None);
    let mut document = |(number, (id, record)): (usize, (u64, u64))| {
        if last.0 != id {
            last = (id, versions.binary_search(&(id as VersionId)).ok());
        }
        let file = last.1.filter(|_| !segment.is_deleted(number as u32))? as u32;
        let (record, place) = ((record & 3) as usize, (record >> 2) as u32);
        (record < TYPES).then_some(Document { file, record, place })
    };
    Ok(ids.into_iter().zip(records).enumerate().map(&mut document).collect())
}
