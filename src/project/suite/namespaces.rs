//! The words before a command that runs in namespaces of its own.

use crate::base::error::{Error, Result};
use std::process::{Command, Stdio};

/// The words before a command whose processes are to be numbered from 1.
///
/// # Errors
/// The kernel refuses such a namespace.
pub(super) fn find_pid_namespace() -> Result<Vec<&'static str>> {
    let problem = "--same-pids: no namespace for processes is to be had (unshare --pid fails)";
    let mut words = find_namespace(&[], &["--pid", "--fork", "--mount-proc"], problem)?;
    // The first process of a namespace cannot end itself by a signal, as abort() does: that is a shell, and not the
    // command.
    words.extend(["sh", "-c", "\"$@\"; exit $?", "sh"]);
    Ok(words)
}

/// The words before a command that is to run in namespaces of its own, which `unshare` makes by `options`; with
/// `as_user`, and a namespace of users, where the caller is not root.
///
/// # Errors
/// That works neither way: `problem`.
pub(super) fn find_namespace(
    as_user: &[&'static str],
    options: &[&'static str],
    problem: &str,
) -> Result<Vec<&'static str>> {
    let as_root = [&["unshare"][..], options].concat();
    let as_user = [
        &["unshare", "--user", "--map-current-user"][..],
        as_user,
        options,
    ]
    .concat();
    let way = [as_root, as_user].into_iter().find(|w| can_run_others(w));
    way.ok_or_else(|| Error::Usage(format!("{problem}; leave it out, or run as root")))
}

/// Whether a command that runs others runs `true`.
pub(super) fn can_run_others(wrapper: &[&str]) -> bool {
    let mut run = Command::new(wrapper[0]);
    run.args(&wrapper[1..]).arg("true");
    run.stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    run.status().is_ok_and(|s| s.success())
}
