//! The text index: Tantivy with one field per text field of a record, frequencies without positions, nothing stored.
//!
//! A document has the id of its file version (`fv`) and its record (`ord`, with the record's kind in the low bits). The
//! view's bitmap alone decides whether a reader sees it. Each commit has a **mark**, a number that SQLite records in
//! the same flush right afterwards. If Tantivy's mark is behind SQLite's, documents were lost and are rebuilt from the
//! stored text.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use codecompass_model::VersionId;
use roaring::RoaringBitmap;
use tantivy::directory::Directory;
use tantivy::index::SegmentComponent;
use tantivy::indexer::{LogMergePolicy, NoMergePolicy};
use tantivy::schema::{FAST, Field, INDEXED, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use tantivy::{
    Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, TantivyError, Term,
};

use crate::text_directory::{TextDirectory, seal_list};
use crate::text_fields::{RecordKind, TextField};
use crate::tokens::{Tokens, push_lower, tokens};
use crate::verified::{META, VerifiedFiles};
use crate::version::{Documents, Passage};
use crate::{Result, StoreError, private};

const TOKENIZER: &str = "code";

/// The file with the list of files that Tantivy may delete.
const MANAGED: &str = ".managed.json";

/// The files of every segment.
const COMPONENTS: [SegmentComponent; 6] = [
    SegmentComponent::Postings,
    SegmentComponent::Positions,
    SegmentComponent::Terms,
    SegmentComponent::Store,
    SegmentComponent::FastFields,
    SegmentComponent::FieldNorms,
];

/// The error for a dictionary or postings that cannot be read. They are read from memory, so only wrong bytes can fail.
pub(crate) fn corrupt_text_index(error: std::io::Error) -> StoreError {
    StoreError::Corrupt(format!("text: {error}"))
}

/// The handles of the fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    fv: Field,
    ord: Field,
    payload: Field,
    name: Field,
    doc: Field,
    own: Field,
    chunk: Field,
    path: Field,
    mark: Field,
    long: Field,
}

impl Fields {
    /// Returns the index field of a text field.
    pub(crate) fn for_field(&self, part: TextField) -> Field {
        match part {
            TextField::Name => self.name,
            TextField::Doc => self.doc,
            TextField::Own => self.own,
            TextField::Chunk => self.chunk,
            TextField::Path => self.path,
        }
    }

    /// Returns the field of a file's text flags.
    pub(crate) fn mark(&self) -> Field {
        self.mark
    }

    /// Returns the field of words that are too long to be tokens.
    pub(crate) fn long(&self) -> Field {
        self.long
    }
}

/// An open text index.
#[derive(Debug)]
pub(crate) struct TextIndex {
    index: Index,
    fields: Fields,
    dir: PathBuf,
    /// Whether the disk was full during a write.
    disk_was_full: Arc<AtomicBool>,
}

impl TextIndex {
    /// Creates an empty index in a folder, replacing nothing.
    pub(crate) fn create(dir: &Path) -> Result<Self> {
        private::create_folder(dir).map_err(StoreError::io(dir))?;
        let folder = TextDirectory::open(dir, &Arc::default())?;
        let lacked_room = Arc::clone(folder.disk_was_full());
        let index = Index::create(folder, schema().0, IndexSettings::default())?;
        Ok(Self::ready(index, dir, lacked_room))
    }

    /// Opens the index without trusting any file. Corruption is [`StoreError::Corrupt`]; a full disk is not.
    pub(crate) fn open(dir: &Path) -> Result<Self> {
        Self::open_verified(dir, &Arc::default())
    }

    /// Opens the index; files that are known to be intact are not verified again.
    pub(crate) fn open_verified(dir: &Path, examined: &Arc<VerifiedFiles>) -> Result<Self> {
        let damaged = |error: TantivyError| match StoreError::from(error) {
            StoreError::Text(error) => StoreError::Corrupt(format!("text: {error}")),
            error => error,
        };
        let folder = TextDirectory::open(dir, examined).map_err(damaged)?;
        let lacked_room = Arc::clone(folder.disk_was_full());
        let index = Index::open(folder).map_err(damaged)?;
        if index.schema() != schema().0 {
            return Err(StoreError::Corrupt("text/meta.json: unexpected fields".into()));
        }
        Ok(Self::ready(index, dir, lacked_room))
    }

    fn ready(index: Index, dir: &Path, lacked_room: Arc<AtomicBool>) -> Self {
        index.tokenizers().register(TOKENIZER, CodeTokenizer);
        Self { index, fields: schema().1, dir: dir.to_owned(), disk_was_full: lacked_room }
    }

    /// Removes the files of a write that was not committed. The caller must have no writer open.
    pub(crate) fn sweep(&self) -> Result<()> {
        let mut living = self.index.load_metas()?.list_segment_files();
        living.insert(META.into());
        self.index.clone().directory_mut().garbage_collect(|| living)?;
        Ok(())
    }

    /// Returns the mark of the last commit.
    pub(crate) fn mark(&self) -> Result<i64> {
        Ok(self.payload()?.0)
    }

    /// Returns the first id that was not reserved at the last commit.
    pub(crate) fn reserved(&self) -> Result<i64> {
        Ok(self.payload()?.1)
    }

    fn payload(&self) -> Result<(i64, i64)> {
        let payload = self.index.load_metas()?.payload.unwrap_or_default();
        let mut numbers = payload.split(' ').map(|number| number.parse().unwrap_or(0));
        Ok((numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)))
    }

    /// Returns every file version that has documents, in no order.
    pub(crate) fn versions(&self) -> Result<HashSet<VersionId>> {
        let searcher = self.searcher()?;
        let mut versions = HashSet::new();
        for segment in searcher.segment_readers() {
            let inverted = segment.inverted_index(self.fields.fv)?;
            let mut terms = inverted.terms().stream().map_err(corrupt_text_index)?;
            while let Some((key, _)) = terms.next() {
                if let Ok(bytes) = <[u8; 8]>::try_from(key) {
                    versions.insert(u64::from_be_bytes(bytes) as VersionId);
                }
            }
        }
        Ok(versions)
    }

    /// Opens the index as it is now, without reloading later commits: a snapshot has its own.
    pub(crate) fn searcher(&self) -> Result<Searcher> {
        let reader: IndexReader = self.index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(reader.searcher())
    }

    pub(crate) fn fields(&self) -> Fields {
        self.fields
    }

    /// Returns the number of live documents.
    pub(crate) fn document_count(&self) -> Result<u64> {
        Ok(self.searcher()?.num_docs())
    }

    /// Returns the files of the last commit that are missing or have a wrong checksum, each with the problem.
    pub(crate) fn corrupt_files(&self) -> Result<Vec<String>> {
        let mut damaged = Vec::new();
        for segment in &self.index.load_metas()?.segments {
            let deletes = segment.has_deletes().then_some(SegmentComponent::Delete);
            for component in COMPONENTS.iter().chain(&deletes) {
                let path = segment.relative_path(component.clone());
                if let Err(error) = self.index.directory().open_read(&path) {
                    damaged.push(StoreError::from(tantivy::TantivyError::from(error)).corruption());
                }
            }
        }
        damaged.sort();
        Ok(damaged)
    }

    /// Returns the names of all segments.
    pub(crate) fn segments(&self) -> Result<Vec<String>> {
        Ok(self.index.load_metas()?.segments.iter().map(|segment| segment.id().uuid_string()).collect())
    }

    /// Returns the files that a reader of the last commit needs, in order.
    pub(crate) fn files(&self) -> Result<Vec<String>> {
        let listed = self.index.load_metas()?.list_segment_files();
        let there = listed.into_iter().filter(|path| self.dir.join(path).is_file());
        let mut names: Vec<String> = there.filter_map(|path| path.to_str().map(str::to_owned)).collect();
        names.push(META.to_owned());
        names.sort();
        Ok(names)
    }

    /// Removes the documents of all versions except these, with their terms; the result is one segment. Does nothing if
    /// there is nothing to remove.
    pub(crate) fn keep_only(&self, living: &RoaringBitmap) -> Result<()> {
        let mut dead: Vec<VersionId> = self.versions()?.into_iter().filter(|id| !living.contains(*id)).collect();
        let is_marked = self.index.load_metas()?.segments.iter().any(|segment| segment.has_deletes());
        if dead.is_empty() && !is_marked {
            return Ok(());
        }
        dead.sort_unstable();
        let (mark, reserved) = self.payload()?;
        let mut writer = self.writer(1, 0)?;
        writer.writer.set_merge_policy(Box::new(NoMergePolicy));
        dead.into_iter().for_each(|id| writer.delete(id));
        writer.commit(mark, reserved)?;
        let segments = self.index.searchable_segment_ids()?;
        if !segments.is_empty() {
            writer.writer.merge(&segments).wait()?;
        }
        writer.writer.garbage_collect_files().wait()?;
        writer.finish()
    }

    /// Opens a writer; the memory limit applies to its arena. Tantivy's own lock is free, because a store has one
    /// writer.
    pub(crate) fn writer(&self, threads: usize, heap_bytes: usize) -> Result<TextWriter> {
        let writer: IndexWriter = self.index.writer_with_num_threads(threads.max(1), heap_bytes.max(16 << 20))?;
        let mut policy = LogMergePolicy::default();
        policy.set_del_docs_ratio_before_merge(0.2);
        writer.set_merge_policy(Box::new(policy));
        Ok(TextWriter { writer, fields: self.fields, disk_was_full: Arc::clone(&self.disk_was_full) })
    }
}

/// Adds and removes documents; nothing is durable before [`TextWriter::commit`].
pub(crate) struct TextWriter {
    writer: IndexWriter,
    fields: Fields,
    disk_was_full: Arc<AtomicBool>,
}

impl TextWriter {
    fn add_document(&self, document: TantivyDocument) -> Result<()> {
        self.writer.add_document(document).map(drop).map_err(|error| failed(error, &self.disk_was_full))
    }

    pub(crate) fn add(&self, version: VersionId, documents: Documents) -> Result<()> {
        for (place, piece) in documents.pieces.into_iter().enumerate() {
            let mut document = self.document(version, place as u64, RecordKind::Chunk);
            self.add_passage(&mut document, self.fields.chunk, piece);
            self.add_document(document)?;
        }
        for symbol in documents.symbols {
            let mut document = self.document(version, symbol.ordinal.into(), RecordKind::Symbol);
            document.add_u64(self.fields.payload, symbol.payload.bits().into());
            document.add_text(self.fields.name, symbol.name);
            if !symbol.doc.is_empty() {
                document.add_text(self.fields.doc, symbol.doc);
            }
            self.add_passage(&mut document, self.fields.own, symbol.own);
            self.add_document(document)?;
        }
        let mut document = self.document(version, 0, RecordKind::File);
        document.add_text(self.fields.path, documents.file);
        documents.marks.iter().for_each(|mark| document.add_text(self.fields.mark, mark.term()));
        self.add_document(document)?;
        Ok(())
    }

    fn add_passage(&self, document: &mut TantivyDocument, field: Field, passage: Passage) {
        document.add_text(field, passage.text);
        passage.long.into_iter().for_each(|word| document.add_text(self.fields.long, word));
    }

    fn document(&self, version: VersionId, place: u64, record: RecordKind) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        document.add_u64(self.fields.fv, version as u64);
        document.add_u64(self.fields.ord, place << 2 | record as u64);
        document
    }

    pub(crate) fn delete(&self, version: VersionId) {
        self.writer.delete_term(Term::from_field_u64(self.fields.fv, version as u64));
    }

    pub(crate) fn commit(&mut self, mark: i64, reserved: i64) -> Result<()> {
        let payload = format!("{mark} {reserved}");
        let committed = self.writer.prepare_commit().and_then(|mut commit| {
            commit.set_payload(&payload);
            commit.commit()
        });
        committed.map(drop).map_err(|error| failed(error, &self.disk_was_full))
    }

    /// Waits for merges. Without this they would be cancelled and small segments would accumulate.
    pub(crate) fn finish(self) -> Result<()> {
        let Self { writer, disk_was_full: lacked_room, .. } = self;
        writer.wait_merging_threads().map_err(|error| failed(error, &lacked_room))
    }
}

/// Converts an error of Tantivy, adding the full disk that its threads do not report.
fn failed(error: TantivyError, lacked_room: &AtomicBool) -> StoreError {
    match StoreError::from(error) {
        StoreError::Text(_) if lacked_room.load(Ordering::Relaxed) => StoreError::DiskFull(PathBuf::new()),
        other => other,
    }
}

/// Writes the list of files that Tantivy may delete. It is always written here and never copied from elsewhere: a name
/// in it could lead out of the folder.
pub(crate) fn write_managed(dir: &Path, names: &[String]) -> Result<()> {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    let (path, list) = (dir.join(MANAGED), format!("[{}]\n", quoted.join(",")));
    private::write(&path, &seal_list(list.as_bytes())).map_err(StoreError::io(path))
}

fn schema() -> (Schema, Fields) {
    let indexing = TextFieldIndexing::default().set_tokenizer(TOKENIZER).set_index_option(IndexRecordOption::WithFreqs);
    let text = TextOptions::default().set_indexing_options(indexing);
    let whole = TextFieldIndexing::default()
        .set_tokenizer("raw")
        .set_index_option(IndexRecordOption::Basic)
        .set_fieldnorms(false);
    let whole = TextOptions::default().set_indexing_options(whole);
    let mut builder = Schema::builder();
    let fields = Fields {
        fv: builder.add_u64_field("fv", FAST | INDEXED),
        ord: builder.add_u64_field("ord", FAST),
        payload: builder.add_u64_field("glance", FAST),
        name: builder.add_text_field("name", text.clone()),
        doc: builder.add_text_field("doc", text.clone()),
        own: builder.add_text_field("own", text.clone()),
        chunk: builder.add_text_field("piece", text.clone()),
        path: builder.add_text_field("path", text),
        mark: builder.add_text_field("mark", whole.clone()),
        long: builder.add_text_field("long", whole),
    };
    (builder.build(), fields)
}

#[derive(Clone)]
struct CodeTokenizer;

struct CodeTokens<'t> {
    text: &'t str,
    tokens: Tokens<'t>,
    token: Token,
}

impl Tokenizer for CodeTokenizer {
    type TokenStream<'t> = CodeTokens<'t>;

    fn token_stream<'t>(&'t mut self, text: &'t str) -> CodeTokens<'t> {
        CodeTokens { text, tokens: tokens(text), token: Token::default() }
    }
}

impl TokenStream for CodeTokens<'_> {
    fn advance(&mut self) -> bool {
        let Some(piece) = self.tokens.next() else {
            return false;
        };
        let token = &mut self.token;
        token.text.clear();
        push_lower(piece, &mut token.text);
        token.position = token.position.wrapping_add(1);
        token.offset_from = piece.as_ptr() as usize - self.text.as_ptr() as usize;
        token.offset_to = token.offset_from + piece.len();
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
