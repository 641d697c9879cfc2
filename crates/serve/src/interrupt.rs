//! Ctrl-C while a command indexes: the user learns what is kept before the process ends.

use std::thread;

/// The exit code of a program that Ctrl-C ended, as shells report it.
const INTERRUPTED: i32 = 130;

/// From now on, Ctrl-C calls `report` and ends the process. A write that is under way is not waited for: the store
/// survives an end at any moment. Returns once Ctrl-C is handled; if the system refuses that, Ctrl-C acts as before.
pub fn end_with_report(report: fn()) {
    let (ready, is_ready) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
        runtime.block_on(async {
            // The handler is installed when the future is first polled.
            let mut pressed = std::pin::pin!(tokio::signal::ctrl_c());
            let is_pressed = std::future::poll_fn(|context| {
                let state = pressed.as_mut().poll(context);
                // Nobody waits any longer after the first time.
                let _ = ready.send(());
                state
            });
            if is_pressed.await.is_ok() {
                report();
                std::process::exit(INTERRUPTED);
            }
        });
    });
    // An error means that the thread ended without a handler.
    let _ = is_ready.recv();
}
