//! Functions that start threads, by their symbols.

/// Who starts the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Starter {
    /// The function calls `pthread_create` or `thrd_create` from outside the C library.
    Program,
    /// The C library does by itself: a signal event of the kind `SIGEV_THREAD`.
    Library,
}

/// In C, and in libraries of C.
const PROGRAM: &[&str] = &[
    "SDL_CreateThread",
    "g_thread_new",
    "g_thread_pool_new",
    "g_thread_try_new",
    "pthread_create",
    "thrd_create",
    "uv_queue_work",
    "uv_thread_create",
    "uv_thread_create_ex",
];

/// Beginnings of symbols: `std::thread` (its constructor in libstdc++), TBB, OpenMP of clang and of gcc, the tests of a
/// crate.
const PROGRAM_BEGINNINGS: &[&str] = &[
    "_ZNSt6thread15_M_start_thread",
    "_ZN3tbb6detail2r1",
    "__kmpc_fork_",
    "GOMP_parallel",
    "GOMP_teams",
    "_ZN4test16test_main_static",
];

const LIBRARY: &[&str] = &[
    "aio_fsync",
    "aio_read",
    "aio_write",
    "getaddrinfo_a",
    "lio_listio",
    "mq_notify",
    "timer_create",
];

/// Who starts threads by this function; `None`: it starts none, as far as is known.
pub fn starter(symbol: &str) -> Option<Starter> {
    let begins = |beginnings: &[&str]| beginnings.iter().any(|b| symbol.starts_with(b));
    if PROGRAM.contains(&symbol) || begins(PROGRAM_BEGINNINGS) || is_rust(symbol) {
        Some(Starter::Program)
    } else {
        LIBRARY.contains(&symbol).then_some(Starter::Library)
    }
}

/// Whether it is a function of Rust's `std` that starts threads, in the old mangling or in the new one:
/// `std::thread::spawn` and its kind, which are compiled into the crate that calls them, and
/// `std::sys::…::Thread::new`, which they call.
fn is_rust(symbol: &str) -> bool {
    let is_mangled = symbol.starts_with("_ZN") || symbol.starts_with("_R");
    let spawns = symbol.contains("3std6thread") && symbol.contains("spawn");
    let begins = symbol.contains("3std3sys") && symbol.contains("6Thread3new");
    is_mangled && (spawns || begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starters_are_known_by_their_symbols() {
        for symbol in [
            "pthread_create",
            "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
            "_ZN3std6thread7Builder16spawn_unchecked_17h0123456789abcdefE",
            "_ZN3std3sys3pal4unix6thread6Thread3new17h0123456789abcdefE",
            "_ZN3std3sys6thread4unix6Thread3new17h0123456789abcdefE",
            "_RNvMNtNtNtCs1_3std3sys6thread4unixNtB2_6Thread3new",
            "__kmpc_fork_call",
            "GOMP_parallel",
        ] {
            assert_eq!(starter(symbol), Some(Starter::Program), "{symbol}");
        }
        assert_eq!(starter("timer_create"), Some(Starter::Library));
        for symbol in [
            "pthread_mutex_lock",
            "_ZN3std6thread7current17h0123456789abcdefE",
            "_ZN3std6thread5local17LocalKey$LT$T$GT$4with17h0123456789abcdefE",
            "my_3std6thread_spawn",
            "timer_settime",
        ] {
            assert_eq!(starter(symbol), None, "{symbol}");
        }
    }
}
