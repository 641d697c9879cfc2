//! A program on disk runs in an isolated environment, and its exit status is reported unchanged.
#![cfg(unix)]

use std::path::Path;

use codecompass_testkit::{Call, Product, ProductBinary, Reply};

fn shell(script: &str) -> Reply {
    let args = ["-c".to_owned(), script.to_owned()];
    let env = [("EXTRA".to_owned(), "extra".to_owned())];
    let call = Call { args: &args, cwd: Path::new("/"), home: Path::new("/data"), env: &env };
    ProductBinary::new("/bin/sh").call(&call)
}

#[test]
fn environment_is_isolated() {
    let reply = shell(
        "echo $CODECOMPASS_HOME $EXTRA $GIT_CONFIG_GLOBAL ${CARGO_MANIFEST_DIR-none}; pwd; ls -A $HOME; echo e >&2; exit 3",
    );
    let expected =
        Reply { stdout: "/data extra /dev/null none\n/\n".to_owned(), stderr: "e\n".to_owned(), code: Some(3) };
    assert_eq!(reply, expected);
    assert!(!reply.was_aborted() && !reply.succeeded());
}

#[test]
fn abort_is_reported() {
    assert!(shell("kill -ABRT $$").was_aborted());
    assert!(shell("exit 0").succeeded());
}
