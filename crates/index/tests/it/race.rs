//! A work tree that changes while it is read: whatever replaces its files and folders, nothing outside it is stored.
#![cfg(unix)]

use crate::support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use codecompass_index::freshness;
use codecompass_index::source::Limits;
use codecompass_store::Store;
use support::Project;

/// Occurs in every file outside the work tree, and in none inside.
const SECRET: &str = "outside_secret";

/// Swaps a file of the work tree with a link to one outside, and a folder with a link to a folder outside.
fn swap(root: &Path, spare: &Path, outside: &Path) -> std::io::Result<()> {
    symlink(outside.join("secret.py"), spare.join("link"))?;
    fs::rename(spare.join("link"), root.join("z_file.py"))?;
    fs::rename(root.join("z_folder"), spare.join("z_folder"))?;
    symlink(outside, root.join("z_folder"))?;
    fs::write(spare.join("file"), "def inside(): pass\n")?;
    fs::rename(spare.join("file"), root.join("z_file.py"))?;
    fs::remove_file(root.join("z_folder"))?;
    fs::rename(spare.join("z_folder"), root.join("z_folder"))
}

/// Ends the swaps when the test ends or panics.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Whether the published view contains anything from outside.
fn holds_secret(project: &Project) -> bool {
    let store = Store::open(&project.dir()).expect("the store can be opened");
    let snapshot = store.snapshot(&project.target(None).key).expect("the view is published");
    let versions = snapshot.versions().expect("all are stored");
    versions.iter().any(|version| snapshot.text(version.id).expect("text is stored").contains(SECRET))
}

#[test]
fn links_swapped_in_during_a_sync_are_not_followed() {
    let sandbox = tempfile::tempdir().expect("a temporary folder can be created");
    let base = sandbox.path().canonicalize().expect("it exists");
    let [root, spare, outside] = ["root", "spare", "outside"].map(|name| base.join(name));
    for folder in [&root, &spare, &outside, &root.join("z_folder")] {
        fs::create_dir_all(folder).expect("it can be created");
    }
    fs::write(outside.join("secret.py"), format!("def {SECRET}(): pass\n")).expect("it can be written");
    for name in ["z_file.py", "z_folder/secret.py"] {
        fs::write(root.join(name), "def inside(): pass\n").expect("it can be written");
    }
    // More files that are read before those, so that some time passes between a listing and its reads.
    for at in 0..200 {
        fs::write(root.join(format!("other{at}.py")), format!("def other{at}(): pass\n")).expect("it can be written");
    }
    let project = Project::new(&root);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let swaps = scope.spawn(|| {
            let mut swaps = 0;
            while !is_over.load(Ordering::Relaxed) {
                swap(&root, &spare, &outside).expect("no other process moves these files");
                swaps += 1;
            }
            swaps
        });
        let end = End(&is_over);
        for round in 0..30 {
            project.sync_forced();
            assert!(!holds_secret(&project), "a text from outside was stored in round {round}");
            let store = Store::open(&project.dir()).expect("the store can be opened");
            let target = project.target(None);
            let view = store.view(&target.key).expect("it can be read").expect("it is published");
            freshness(&store, &project.workspace, &target, &view, &Limits::default(), None)
                .expect("the view can be compared");
        }
        drop(end);
        assert!(swaps.join().expect("the swaps succeeded") > 30, "nothing was swapped");
    });
    project.sync(None);
    assert!(!holds_secret(&project));
}
