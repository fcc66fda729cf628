//! System calls that bursts meet.

use crate::runtime::format;

/// What was done about a system call, in a word.
pub(crate) fn describe_treatment(n: u32) -> &'static str {
    match n {
        format::CALL_ALLOWED => "made",
        format::CALL_ASSUMED => "assumed",
        format::CALL_HANDLED => "imitated",
        _ => "ended the burst",
    }
}

/// System calls of x86-64 that programs make most: names of consecutive numbers, from the first of these on.
const CALLS: [(u32, &[&str]); 24] = [
    (
        0,
        &[
            "read",
            "write",
            "open",
            "close",
            "stat",
            "fstat",
            "lstat",
            "poll",
            "lseek",
            "mmap",
            "mprotect",
            "munmap",
            "brk",
            "rt_sigaction",
            "rt_sigprocmask",
        ],
    ),
    (
        16,
        &[
            "ioctl",
            "pread64",
            "pwrite64",
            "readv",
            "writev",
            "access",
            "pipe",
            "select",
            "sched_yield",
            "mremap",
        ],
    ),
    (28, &["madvise"]),
    (32, &["dup", "dup2"]),
    (35, &["nanosleep"]),
    (37, &["alarm", "setitimer", "getpid"]),
    (41, &["socket", "connect"]),
    (44, &["sendto", "recvfrom", "sendmsg", "recvmsg"]),
    (
        56,
        &[
            "clone", "fork", "vfork", "execve", "exit", "wait4", "kill", "uname",
        ],
    ),
    (72, &["fcntl"]),
    (74, &["fsync", "fdatasync"]),
    (77, &["ftruncate"]),
    (79, &["getcwd"]),
    (82, &["rename"]),
    (87, &["unlink"]),
    (96, &["gettimeofday", "getrlimit", "getrusage"]),
    (202, &["futex"]),
    (217, &["getdents64"]),
    (228, &["clock_gettime"]),
    (230, &["clock_nanosleep", "exit_group", "epoll_wait"]),
    (257, &["openat"]),
    (262, &["newfstatat"]),
    (318, &["getrandom"]),
    (435, &["clone3"]),
];

/// The name of a system call of x86-64, or its number.
pub(crate) fn call_name(number: u32) -> String {
    let run = CALLS.partition_point(|(first, _)| *first <= number);
    let name = run.checked_sub(1).and_then(|run| {
        let (first, names) = CALLS[run];
        names.get((number - first) as usize)
    });
    name.map_or_else(|| number.to_string(), |name| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_the_names_of_the_kernel() {
        let mut first = 0;
        for (number, names) in CALLS {
            assert!(number >= first, "{number}");
            first = number + names.len() as u32;
        }
        for (number, name) in [
            (0, "read"),
            (14, "rt_sigprocmask"),
            (15, "15"),
            (63, "uname"),
            (202, "futex"),
            (435, "clone3"),
            (436, "436"),
        ] {
            assert_eq!(call_name(number), name);
        }
    }
}
