//! Functions that start processes without running the handlers of `pthread_atfork`, by their symbols.
//!
//! Such a process gets no counters of its own: it counts in its parent's file.

/// What makes system calls by their numbers.
pub const SYSCALL: &str = "syscall";

/// The name under which a call of `syscall` with the number of `fork` or `clone` is recorded.
pub const FORK_BY_NUMBER: &str = "syscall(SYS_fork)";

const UNNOTICED: &[&str] = &["_Fork", "clone", "__clone", "__clone2", FORK_BY_NUMBER];

/// Numbers of `clone`, `fork`, `vfork` and `clone3`.
#[cfg(target_arch = "x86_64")]
const NUMBERS: &[u64] = &[56, 57, 58, 435];
/// Numbers of `clone` and `clone3`.
#[cfg(not(target_arch = "x86_64"))]
const NUMBERS: &[u64] = &[220, 435];

/// Whether processes that this function starts go on in their parents' counters.
pub fn forks_unnoticed(symbol: &str) -> bool {
    UNNOTICED.contains(&symbol)
}

/// Whether a call of `symbol` starts a process by a number, its first argument if that is known.
pub fn forks_by_number(symbol: &str, argument: Option<u64>) -> bool {
    symbol == SYSCALL && argument.is_some_and(|n| NUMBERS.contains(&n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forks_are_known_by_their_numbers() {
        let number = NUMBERS[0];
        assert!(forks_by_number(SYSCALL, Some(number)));
        assert!(!forks_by_number("my_syscall", Some(number)));
        assert!(!forks_by_number(SYSCALL, Some(39)) && !forks_by_number(SYSCALL, None));
        assert!(forks_unnoticed("_Fork") && !forks_unnoticed("fork") && !forks_unnoticed(SYSCALL));
    }
}
