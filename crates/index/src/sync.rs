//! Sync: turns the state of a source into published views.
//!
//! A work tree's sync also publishes the checked-out commit under its branch's name, so that other worktrees and
//! comparisons find it. Files without edits cost one look-up each. The work tree's own view records which of its files
//! differ from that commit: computed later, this would depend on what was published since.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use codecompass_model::{SkipReason, VersionId};
use codecompass_store::{
    Bitmaps, CachedStat, Garbage, JobMode, JobProgress, JobStatus, OnMissing, ProjectDir, Publish, RoaringBitmap,
    SkipCount, StoreError, Tuning, ViewInfo, ViewUpdate, WritePoint, Writer,
};

use crate::head_state::read_stable;
use crate::plan::{EarlierReads, Planner, ViewContents, stat_of};
use crate::source::{LanguageOverrides, Limits, Listing, Root, Secrets, Skips, Workspace, list_worktree, stat_paths};
use crate::{IndexError, Progress, Target, extraction_key, pipeline};

/// Options of a sync.
pub struct SyncOptions<'a> {
    /// Extract everything again, and replace a store that cannot be read.
    pub force: bool,
    /// Replace a store that an older version of this program made.
    pub upgrade: bool,
    /// Wait for another writer instead of failing with [`StoreError::Locked`].
    pub wait: bool,
    /// The only files that can have changed since the last sync of this work tree, if known.
    pub changed: Option<Vec<String>>,
    /// Further commits whose views the same job builds and publishes, which costs less than a job for each.
    pub also: Vec<Target>,
    /// Limits and exclusions of the listing.
    pub limits: Limits,
    /// Threads that read and extract; 0 means one per core.
    pub threads: usize,
    /// The bounds of the writer's memory.
    pub tuning: Tuning,
    /// Called before each durable write.
    pub point: Option<WritePoint>,
    /// Called with the progress of the work.
    pub progress: &'a (dyn Fn(Progress) + Sync),
    /// Set to cancel: the last published state stays.
    pub cancel: &'a AtomicBool,
    /// The id of the job; a new one is generated if it is `None`.
    pub job_id: Option<&'a str>,
    /// Called with the job's id once it has started.
    pub started: &'a (dyn Fn(&str) + Sync),
}

/// The outcome of a sync.
#[derive(Clone, Debug)]
pub struct SyncOutcome {
    /// The id of the job.
    pub job_id: String,
    /// The extent of its work.
    pub mode: JobMode,
    /// The view.
    pub target: Target,
    /// The generation that readers see now.
    pub generation: i64,
    /// Files that differ from the previously published view.
    pub changed_files: u64,
    /// Versions that were new to the store and were extracted.
    pub extracted: u64,
    /// Symbols in them.
    pub symbols_extracted: u64,
    /// Skipped files, by reason.
    pub skips: Skips,
    /// Data that was cleaned up.
    pub garbage: Garbage,
}

/// Updates a view. Readers see no change before everything is stored.
pub fn sync(
    dir: &ProjectDir,
    workspace: &Workspace,
    target: &Target,
    options: &SyncOptions<'_>,
) -> Result<SyncOutcome, IndexError> {
    let missing = match options.upgrade {
        _ if options.force => OnMissing::Replace,
        true => OnMissing::Upgrade,
        false => OnMissing::Create,
    };
    let secrets = options.limits.secrets()?;
    let chosen = options.limits.language_overrides()?;
    let writer = Writer::open(dir, missing, options.wait, options.tuning, options.point.clone(), now_ms())?;
    let mut writer = writer.without_secrets(&secrets, now_ms())?;
    writer.register(&workspace.root.to_string_lossy(), now_ms())?;
    let published = writer.view(&target.key)?;
    let mode = if options.force || published.is_none() { JobMode::Full } else { JobMode::Incremental };
    let job = writer.start_job(options.job_id, &target.key, &target.ref_name, mode, now_ms())?;
    (options.started)(&job);
    match sync_views(&mut writer, workspace, target, options, (&secrets, &chosen), &job) {
        Ok(mut outcome) => {
            outcome.mode = mode;
            outcome.garbage = writer.finish()?;
            Ok(outcome)
        }
        Err(error) => {
            if matches!(error, IndexError::Store(StoreError::DiskFull(_))) {
                writer.discard_batch();
            }
            // The caller needs the original failure, not a second one from recording it.
            let _ = writer.fail_job(&job, &error.to_string(), now_ms());
            Err(error)
        }
    }
}

fn sync_views(
    writer: &mut Writer,
    workspace: &Workspace,
    target: &Target,
    options: &SyncOptions<'_>,
    (secrets, chosen): (&Secrets, &LanguageOverrides),
    job: &str,
) -> Result<SyncOutcome, IndexError> {
    let pool = pipeline::pool(options.threads)?;
    if options.force {
        writer.expect_duplicates()?;
    }
    let since = if options.force { writer.next_version_id()? } else { 0 };
    let make = ViewBuilder { workspace, options, secrets, chosen, job, pool: &pool, since, counts: Cell::default() };
    let (target, made, beside) = match target.is_worktree() {
        true => make.worktree_views(writer)?,
        false => (target.clone(), make.build_view(writer, target, None)?, None),
    };
    let also = options.also.iter().map(|also| make.commit_view(writer, also)).collect::<Result<Vec<_>, _>>()?;
    (options.progress)(Progress::Publishing);
    writer.flush()?;
    let counts = make.counts.get();
    let progress = JobProgress {
        files_total: made.listed,
        files_scanned: made.listed,
        files_indexed: counts.new,
        symbols_extracted: counts.symbols,
    };
    writer.report(job, JobStatus::Validating, progress)?;
    let changed_files = changed_files(writer, &made.before.members, &made.update.members)?;
    let publish = Publish {
        used: Some(target.key.clone()),
        root: make.root(),
        seen: made.seen,
        gone: made.gone,
        changed_files,
        views: std::iter::once((made.before, made.update))
            .chain(beside.into_iter().chain(also).map(|built| (built.before, built.update)))
            .filter(|(before, update)| before.differs_from(update))
            .map(|(_, update)| update)
            .collect(),
    };
    let generation = writer.publish(job, &publish, now_ms())?;
    (options.progress)(Progress::Published);
    Ok(SyncOutcome {
        job_id: job.to_owned(),
        mode: JobMode::Incremental,
        target,
        generation,
        changed_files,
        extracted: counts.new,
        symbols_extracted: counts.symbols,
        skips: made.skips,
        garbage: Garbage::default(),
    })
}

/// A view that is built and not yet published.
struct BuiltView {
    before: PreviousView,
    update: ViewUpdate,
    seen: Vec<(String, CachedStat)>,
    gone: Vec<String>,
    skips: Skips,
    listed: u64,
}

/// Shared state of all views that one job builds.
struct ViewBuilder<'a> {
    workspace: &'a Workspace,
    options: &'a SyncOptions<'a>,
    secrets: &'a Secrets,
    chosen: &'a LanguageOverrides,
    job: &'a str,
    pool: &'a rayon::ThreadPool,
    /// Versions below this one do not count as known.
    since: VersionId,
    /// Counts of everything extracted so far, including failed attempts.
    counts: Cell<pipeline::ExtractCounts>,
}

/// The state of a view before the job.
struct PreviousView {
    info: Option<ViewInfo>,
    members: RoaringBitmap,
    skipped: RoaringBitmap,
    edited: RoaringBitmap,
    /// The current extraction key, and whether the view was made with the same one.
    extraction: u64,
    same_extraction: bool,
}

impl PreviousView {
    /// Whether the view had this name and this commit.
    fn was_at(&self, target: &Target) -> bool {
        self.info.as_ref().is_some_and(|info| info.commit == target.commit && info.ref_name == target.ref_name)
    }

    /// Whether the view has to be published. Its name and commit count as well as its files: readers compare them with
    /// what is checked out.
    fn differs_from(&self, update: &ViewUpdate) -> bool {
        let same_place = |info: &ViewInfo| info.commit == update.commit && info.ref_name == update.ref_name;
        let is_same = |info: &ViewInfo| same_place(info) && info.skips == update.skips;
        let same_files = update.members == self.members && update.skipped == self.skipped;
        let is_same = self.info.as_ref().is_some_and(is_same) && same_files && update.edited == self.edited;
        !is_same || !self.same_extraction
    }
}

/// The result of updating a view from its changed files.
enum ChangedView {
    /// The updated view.
    View(ViewContents),
    /// The skipped files may have changed as well, and only a full listing can count them. Holds the results of the
    /// reads so far.
    NeedsFullListing(EarlierReads),
}

impl ViewBuilder<'_> {
    /// Builds the view of the work tree under its current name, which may differ from the name at the time of the
    /// request, and the view of the checked-out commit.
    fn worktree_views(&self, writer: &mut Writer) -> Result<(Target, BuiltView, Option<BuiltView>), IndexError> {
        // On a second attempt any file may have changed.
        let changed = |attempt| self.options.changed.as_ref().filter(|_| attempt == 0);
        let (standing, mut made) = read_stable(self.workspace, |standing, attempt| {
            self.build_view(writer, &standing.worktree_target(self.workspace)?, changed(attempt))
        })?;
        let beside = match standing.commit_target() {
            Some(committed) => Some(self.commit_view(writer, &committed)?),
            None => None,
        };
        if let Some(beside) = &beside {
            made.update.edited = &made.update.members - &beside.update.members;
        }
        Ok((standing.worktree_target(self.workspace)?, made, beside))
    }

    /// Builds the view of a commit, or keeps it if it was built from that commit.
    fn commit_view(&self, writer: &mut Writer, target: &Target) -> Result<BuiltView, IndexError> {
        let before = previous_view(writer, target, &self.options.limits)?;
        if self.options.force || !before.same_extraction || !before.was_at(target) {
            return self.build_view(writer, target, None);
        }
        let (members, skipped) = (before.members.clone(), before.skipped.clone());
        let mut made = built_view(before, target, ViewContents { members, skipped, ..ViewContents::default() });
        made.update.skips = made.before.info.iter().flat_map(|info| info.skips.clone()).collect();
        Ok(made)
    }

    /// Builds one view: afterwards all of it is stored, and nothing is published.
    fn build_view(
        &self,
        writer: &mut Writer,
        target: &Target,
        changed: Option<&Vec<String>>,
    ) -> Result<BuiltView, IndexError> {
        let before = previous_view(writer, target, &self.options.limits)?;
        let changed = match self.known_changes(writer, target, &before, changed)? {
            Some(paths) => self.update_view(writer, &before, paths)?,
            None => ChangedView::NeedsFullListing(EarlierReads::default()),
        };
        let contents = match changed {
            ChangedView::View(contents) => contents,
            ChangedView::NeedsFullListing(earlier) => {
                (self.options.progress)(Progress::Listing);
                let (listing, cache) = self.list(writer, target)?;
                self.read_listing(writer, &before, listing, cache, earlier)?
            }
        };
        Ok(built_view(before, target, contents))
    }

    /// Returns the files that can have changed, if they are known and cannot affect whether other files are listed.
    fn known_changes<'p>(
        &self,
        writer: &Writer,
        target: &Target,
        before: &PreviousView,
        changed: Option<&'p Vec<String>>,
    ) -> Result<Option<&'p Vec<String>>, IndexError> {
        let Some(paths) = changed else { return Ok(None) };
        if !target.is_worktree() || !before.same_extraction || !before.was_at(target) || self.options.force {
            return Ok(None);
        }
        for path in paths {
            let is_folder = self.workspace.root.join(path).is_dir() || writer.has_cached_below(&self.root(), path)?;
            if is_folder || affects_other_files(path) {
                return Ok(None);
            }
        }
        Ok(Some(paths))
    }

    /// Builds the new view from the previous one by checking only these files, where that is sufficient.
    fn update_view(
        &self,
        writer: &mut Writer,
        before: &PreviousView,
        paths: &[String],
    ) -> Result<ChangedView, IndexError> {
        let cache = writer.cached_stats_of(&self.root(), paths)?;
        let touched: RoaringBitmap = cache.values().map(|cached| cached.version).collect();
        let was_left_out = before.info.iter().flat_map(|info| &info.skips).any(|skip| depends_on_stat(skip.reason));
        let is_new = |path: &String| !cache.contains_key(path);
        if was_left_out && paths.iter().any(is_new) || !before.skipped.is_disjoint(&touched) {
            return Ok(ChangedView::NeedsFullListing(EarlierReads::default()));
        }
        (self.options.progress)(Progress::Listing);
        let listing = stat_paths(self.workspace, paths, &self.options.limits)?;
        if listing.skips.total() > 0 {
            return Ok(ChangedView::NeedsFullListing(EarlierReads::default()));
        }
        let stats = listing.entries.iter().filter_map(|entry| Some((entry.path.clone(), stat_of(entry)?))).collect();
        let mut contents = self.read_listing(writer, before, listing, cache, EarlierReads::default())?;
        if contents.skips.total() > 0 {
            return Ok(ChangedView::NeedsFullListing(EarlierReads::new(stats, contents)));
        }
        keep_untouched(&mut contents, before, &touched);
        Ok(ChangedView::View(contents))
    }

    /// Plans a listing and reads the files that are not known. Afterwards every new version is stored.
    fn read_listing(
        &self,
        writer: &mut Writer,
        before: &PreviousView,
        listing: Listing,
        cache: HashMap<String, CachedStat>,
        earlier: EarlierReads,
    ) -> Result<ViewContents, IndexError> {
        let known = Planner {
            writer,
            cache,
            skipped: before.skipped.clone(),
            same_extraction: before.same_extraction,
            since: self.since,
            secrets: self.secrets,
            chosen: self.chosen,
            earlier,
        };
        let plan = known.plan(listing)?;
        let (root, repo) = (Root::open(&self.workspace.root).ok(), self.workspace.repo.as_ref());
        let max_file_bytes = self.options.limits.max_file_bytes;
        let source = pipeline::ReadContext { root, max_file_bytes, repo, secrets: self.secrets, chosen: self.chosen };
        let (cancel, progress) = (self.options.cancel, self.options.progress);
        let (contents, counts) = pipeline::run(plan, &source, writer, self.job, self.pool, cancel, progress)?;
        let so_far = self.counts.get();
        let (new, symbols) = (so_far.new + counts.new, so_far.symbols + counts.symbols);
        self.counts.set(pipeline::ExtractCounts { new, symbols });
        writer.flush()?;
        Ok(contents)
    }

    /// Lists all files of a source, with the cached stats of a work tree.
    fn list(&self, writer: &Writer, target: &Target) -> Result<(Listing, HashMap<String, CachedStat>), IndexError> {
        let (workspace, limits) = (self.workspace, &self.options.limits);
        let root = self.root();
        if target.is_worktree() {
            return Ok((list_worktree(workspace, limits)?, writer.cached_stats(&root)?));
        }
        let repo = workspace.repo.as_ref().ok_or(IndexError::NoVersionControl(root))?;
        let commit = target.commit.as_deref().ok_or(IndexError::NoCommit)?;
        Ok((repo.list_commit(commit, limits)?, HashMap::new()))
    }

    fn root(&self) -> String {
        self.workspace.root.to_string_lossy().into_owned()
    }
}

fn previous_view(writer: &Writer, target: &Target, limits: &Limits) -> Result<PreviousView, IndexError> {
    let info = writer.view(&target.key)?;
    let Bitmaps { members, skipped, edited, .. } = writer.bitmaps(&target.key)?;
    let extraction = extraction_key(limits);
    let same_extraction = info.as_ref().is_some_and(|info| info.facts_key == extraction);
    Ok(PreviousView { info, members, skipped, edited, extraction, same_extraction })
}

fn built_view(before: PreviousView, target: &Target, contents: ViewContents) -> BuiltView {
    let update = ViewUpdate {
        key: target.key.clone(),
        ref_name: target.ref_name.clone(),
        commit: target.commit.clone(),
        members: contents.members,
        skipped: contents.skipped,
        edited: RoaringBitmap::new(),
        skips: skip_counts(&contents.skips),
        facts_key: before.extraction,
    };
    // Only files of a work tree have a stat to cache.
    let (seen, gone) = if target.is_worktree() { (contents.seen, contents.gone) } else { Default::default() };
    BuiltView { before, update, seen, gone, skips: contents.skips, listed: contents.listed }
}

/// Whether a change of this file can change the path status of other files.
pub(crate) fn affects_other_files(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches!(name, ".gitignore" | ".ignore" | ".codecompassignore" | ".gitattributes")
}

/// Skip reasons that depend on the file itself and leave no version.
fn depends_on_stat(reason: SkipReason) -> bool {
    use SkipReason::*;
    match reason {
        TooLarge | Unreadable | NotAFile | Symlink | TooSlow => true,
        Ignored | BuiltinFolder | Secret | Generated | Submodule | PathNotUtf8 | MissingObject => false,
        Binary | Minified | LfsPointer => false,
    }
}

/// Adds everything from the previous view that the changed paths did not touch.
fn keep_untouched(contents: &mut ViewContents, before: &PreviousView, touched: &RoaringBitmap) {
    contents.members |= &before.members - touched;
    contents.skipped |= &before.skipped - touched;
    let mut skips = Skips::default();
    for skip in before.info.iter().flat_map(|info| &info.skips) {
        skips.add_counted(skip.reason, skip.count, &skip.examples);
    }
    contents.skips = skips;
}

/// Counts the paths that differ: new and changed ones by their new versions, deleted ones by their old versions.
fn changed_files(writer: &Writer, old: &RoaringBitmap, new: &RoaringBitmap) -> Result<u64, IndexError> {
    let (added, removed) = (new - old, old - new);
    if removed.is_empty() {
        return Ok(added.len());
    }
    let replaced = writer.paths(&added)?;
    let lost = writer.paths(&removed)?.into_iter().filter(|path| !replaced.contains(path)).count();
    Ok(added.len() + lost as u64)
}

fn skip_counts(skips: &Skips) -> Vec<SkipCount> {
    let count = |(reason, count, examples): (_, _, &[String])| SkipCount { reason, count, examples: examples.to_vec() };
    skips.iter().map(count).collect()
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64)
}
