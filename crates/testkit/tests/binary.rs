//! A program on disk runs in an isolated environment, and its exit status is reported unchanged.
#![cfg(unix)]

use std::path::Path;

use codecompass_testkit::{Binary, Call, Product, Reply};

fn shell(script: &str) -> Reply {
    let args = ["-c".to_owned(), script.to_owned()];
    let env = [("EXTRA".to_owned(), "extra".to_owned())];
    let call = Call { args: &args, cwd: Path::new("/"), home: Path::new("/data"), env: &env };
    Binary::new("/bin/sh").call(&call)
}

#[test]
fn the_environment_is_the_calls_own() {
    let reply = shell(
        "echo $CODECOMPASS_HOME $EXTRA $GIT_CONFIG_GLOBAL ${CARGO_MANIFEST_DIR-none}; pwd; ls -A $HOME; echo e >&2; exit 3",
    );
    let expected =
        Reply { stdout: "/data extra /dev/null none\n/\n".to_owned(), stderr: "e\n".to_owned(), code: Some(3) };
    assert_eq!(reply, expected);
    assert!(!reply.died() && !reply.succeeded());
}

#[test]
fn a_process_that_aborts_has_died() {
    assert!(shell("kill -ABRT $$").died());
    assert!(shell("exit 0").succeeded());
}
