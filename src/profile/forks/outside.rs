//! Functions that no input module defines: whether the process may fork in them, and whether they call functions of the
//! program.

use crate::input::ir::FORK;
use crate::input::ir::lower::is_harmless;
use crate::input::ir::processes::forks_unnoticed;

/// What a call outside may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outside {
    /// Fork, and return in both processes.
    Forks,
    /// Fork, and return in both processes, which count in one file.
    ForksUnnoticed,
    /// Anything: it is not known.
    Unknown,
    /// Call functions of the program, and fork only if they do.
    CallsBack,
    /// Call any function whose address is taken: a call through a pointer.
    Pointer,
    /// Neither.
    Neither,
}

/// Functions of the C library that fork and do nothing else of the kind, beside [`FORK`].
const FORKING: &[&str] = &["daemon", "forkpty"];

/// Functions of the C library that call a function that they are given, or what was registered before, and do not fork
/// by themselves.
#[rustfmt::skip]
const CALLING_BACK: &[&str] = &[
    "bsearch", "call_once", "dlclose", "dlopen", "exit", "ftw", "ftw64", "glob", "lfind", "lsearch", "nftw", "nftw64",
    "pthread_once", "qsort", "qsort_r", "quick_exit", "scandir", "scandir64", "tdestroy", "tdelete", "tfind", "tsearch",
    "twalk",
];

/// Functions of the C library that wrap system calls or work on what they are given, and those that run other programs
/// without code of this one in the child. (`system`, `popen` and `posix_spawn` run no handlers of forks, so their
/// children have no profile.)
#[rustfmt::skip]
const SELF_CONTAINED: &[&str] = &[
    // files
    "access", "chdir", "chmod", "chown", "close", "closedir", "creat", "dirfd", "dup", "dup2", "dup3", "faccessat",
    "fallocate", "fchdir", "fchmod", "fchmodat", "fchown", "fchownat", "fcntl", "fcntl64", "fdatasync", "fdopen",
    "fdopendir", "fflush_unlocked", "fgets_unlocked", "fileno", "flock", "flockfile", "fopen64", "fputs_unlocked",
    "freopen", "freopen64", "fseeko", "fseeko64", "fstat", "fstat64", "fstatat", "fstatat64", "fstatfs", "fstatvfs",
    "fsync", "ftello", "ftello64", "ftruncate", "ftruncate64", "funlockfile", "futimens", "fwrite_unlocked", "getcwd",
    "getc_unlocked", "getdelim", "getline", "ioctl", "isatty", "lchown", "link", "linkat", "lseek", "lseek64", "lstat",
    "lstat64", "mkdir", "mkdirat", "mkdtemp", "mkfifo", "mkostemp", "mkstemp", "mkstemp64", "mkstemps", "open",
    "open64", "openat", "openat64", "opendir", "pathconf", "pipe", "pipe2", "poll", "ppoll", "pread", "pread64",
    "pselect", "putc_unlocked", "pwrite", "pwrite64", "read", "readdir", "readdir64", "readlink", "readlinkat", "readv",
    "realpath", "renameat", "rewinddir", "rmdir", "select", "sendfile", "sendfile64", "stat", "stat64", "statfs",
    "statvfs", "symlink", "sync", "tmpfile", "tmpfile64", "truncate", "umask", "unlink", "unlinkat", "utime",
    "utimensat", "utimes", "write", "writev", "__errno_location", "__open_2", "__open64_2", "__read_chk", "__fgets_chk",
    "__realpath_chk", "__getcwd_chk", "__readlink_chk", "__fread_chk", "__fdelt_chk", "__vfprintf_chk", "__vprintf_chk",
    "__vsprintf_chk", "__sprintf_chk", "__asprintf_chk", "__vasprintf_chk", "asprintf", "vasprintf", "dprintf",
    "vdprintf", "__isoc99_vsscanf", "vsscanf", "clearerr", "ctermid", "fmemopen", "fpurge", "open_memstream",
    "setbuf", "setlinebuf", "tempnam", "tmpnam", "inotify_add_watch", "inotify_init", "inotify_init1",
    "inotify_rm_watch", "memfd_create", "eventfd", "timerfd_create", "timerfd_settime", "signalfd", "splice",
    "copy_file_range", "sync_file_range", "syncfs", "posix_fadvise", "posix_fallocate", "epoll_create",
    "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait",
    // processes, signals and programs
    "_Exit", "_exit", "alarm", "execl", "execle", "execlp", "execv", "execve", "execveat", "execvp", "execvpe",
    "fexecve",
    "getegid", "geteuid", "getgid", "getgroups", "getpgid", "getpgrp", "getpid", "getppid", "getpriority", "getrlimit",
    "getrlimit64", "getrusage", "getsid", "gettid", "getuid", "kill", "killpg", "nice", "pause", "pclose", "popen",
    "posix_spawn", "posix_spawn_file_actions_addclose", "posix_spawn_file_actions_adddup2",
    "posix_spawn_file_actions_addopen", "posix_spawn_file_actions_destroy", "posix_spawn_file_actions_init",
    "posix_spawnattr_destroy", "posix_spawnattr_init", "posix_spawnattr_setflags", "posix_spawnattr_setpgroup",
    "posix_spawnattr_setsigdefault", "posix_spawnattr_setsigmask", "posix_spawnp", "prctl", "prlimit", "prlimit64",
    "pthread_atfork", "pthread_attr_destroy", "pthread_attr_init", "pthread_attr_setdetachstate",
    "pthread_attr_setstacksize", "pthread_cond_broadcast", "pthread_cond_destroy", "pthread_cond_init",
    "pthread_cond_signal", "pthread_cond_timedwait", "pthread_cond_wait", "pthread_create", "pthread_detach",
    "pthread_equal", "pthread_getspecific", "pthread_join", "pthread_key_create", "pthread_key_delete", "pthread_kill",
    "pthread_mutex_destroy", "pthread_mutex_init", "pthread_mutex_lock", "pthread_mutex_trylock",
    "pthread_mutex_unlock", "pthread_mutexattr_destroy", "pthread_mutexattr_init", "pthread_mutexattr_settype",
    "pthread_rwlock_destroy", "pthread_rwlock_init", "pthread_rwlock_rdlock", "pthread_rwlock_unlock",
    "pthread_rwlock_wrlock", "pthread_self", "pthread_setcancelstate", "pthread_setname_np", "pthread_setspecific",
    "pthread_sigmask", "raise", "sched_getaffinity", "sched_setaffinity", "sched_yield", "setegid", "seteuid",
    "setgid", "setgroups", "setitimer", "setpgid", "setpgrp", "setpriority", "setregid", "setresgid", "setresuid",
    "setreuid", "setrlimit", "setrlimit64", "setsid", "setuid", "sigaction", "sigaddset", "sigaltstack", "sigdelset",
    "sigemptyset", "sigfillset", "sigismember", "siglongjmp", "signal", "sigpending", "sigprocmask", "sigsuspend",
    "sigtimedwait", "sigwait", "sigwaitinfo", "sleep", "sysconf", "sysinfo", "system", "tcgetattr", "tcgetpgrp",
    "tcsetattr", "tcsetpgrp", "tcflush", "timer_create", "timer_delete", "timer_settime", "ttyname", "ttyname_r",
    "uname", "usleep", "vfork", "wait", "wait3", "wait4", "waitid", "waitpid", "longjmp", "_longjmp", "__longjmp_chk",
    "setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "grantpt", "posix_openpt", "ptsname", "unlockpt", "openpty",
    "sched_getcpu", "syscall", "times", "nanosleep", "clock_nanosleep", "__libc_current_sigrtmin",
    "__libc_current_sigrtmax",
    // memory, text, time, environment
    "aligned_alloc", "brk", "clearenv", "madvise", "malloc_trim", "malloc_usable_size", "mallopt", "memalign",
    "memccpy",
    "memmem", "mempcpy", "memrchr", "mincore", "mlock", "mmap", "mmap64", "mprotect", "mremap", "msync", "munlock",
    "munmap", "posix_madvise", "posix_memalign", "pvalloc", "putenv", "rawmemchr", "reallocarray", "sbrk",
    "secure_getenv", "setenv", "shm_open", "shm_unlink", "shmat", "shmctl", "shmdt", "shmget", "semctl", "semget",
    "semop", "sem_destroy", "sem_init", "sem_open", "sem_post", "sem_trywait", "sem_unlink", "sem_wait", "stpncpy",
    "strcasestr", "strchrnul", "strcoll", "strerror_r", "__xpg_strerror_r", "strfry", "strlcat", "strlcpy", "strndup",
    "strsep", "strsignal", "strtok_r", "strtof", "strtold", "strverscmp", "strxfrm", "unsetenv", "valloc",
    "__memmove_chk", "__mempcpy_chk", "__stpcpy_chk", "__strcpy_chk", "__strncat_chk", "__strncpy_chk",
    "asctime", "asctime_r", "clock_getres", "clock_settime", "ctime", "ctime_r", "gmtime", "gmtime_r", "localtime",
    "localtime_r", "mktime", "settimeofday", "strftime", "strptime", "timegm", "tzset", "utimensat", "basename",
    "__xpg_basename", "dirname", "dladdr", "dlerror", "dlsym", "fnmatch", "getopt", "getopt_long", "getopt_long_only",
    "getpagesize", "gethostname",
    "getlogin", "getloadavg", "random", "srandom", "rand_r", "drand48", "lrand48", "srand48", "getrandom",
    "getentropy", "arc4random", "arc4random_buf", "arc4random_uniform", "setlocale", "localeconv", "newlocale",
    "uselocale", "freelocale", "nl_langinfo", "iconv", "iconv_close", "iconv_open", "regcomp", "regexec", "regfree",
    "regerror", "div", "ldiv", "atoll", "llabs", "mbrtowc", "mbstowcs", "mbtowc", "wcrtomb", "wcstombs", "wcslen",
    "wcwidth", "towlower", "towupper", "iswalnum", "iswalpha", "iswspace", "iswprint", "isblank", "iscntrl", "isgraph",
    "at_quick_exit", "atexit", "on_exit", "__cxa_atexit", "__assert_rtn", "__assert_perror_fail",
    // sockets, users, logs
    "accept", "accept4", "bind", "connect", "freeaddrinfo", "gai_strerror", "getaddrinfo", "gethostbyaddr",
    "gethostbyname", "getnameinfo", "getpeername", "getservbyname", "getsockname", "getsockopt", "htonl", "htons",
    "if_nametoindex", "inet_addr", "inet_aton", "inet_ntoa", "inet_ntop", "inet_pton", "listen", "ntohl", "ntohs",
    "recv", "recvfrom", "recvmsg", "send", "sendmsg", "sendto", "setsockopt", "shutdown", "socket", "socketpair",
    "endgrent", "endpwent", "getgrent", "getgrgid", "getgrgid_r", "getgrnam", "getgrnam_r", "getpwent", "getpwnam",
    "getpwnam_r", "getpwuid", "getpwuid_r", "initgroups", "setgrent", "setpwent", "closelog", "openlog", "setlogmask",
    "syslog", "vsyslog", "__syslog_chk", "__vsyslog_chk",
];

/// What a call of a function outside may do, by its symbol.
pub(super) fn classify_symbol(symbol: &str) -> Outside {
    if forks_unnoticed(symbol) {
        Outside::ForksUnnoticed
    } else if FORK.contains(&symbol) || FORKING.contains(&symbol) {
        Outside::Forks
    } else if CALLING_BACK.contains(&symbol) {
        Outside::CallsBack
    } else if SELF_CONTAINED.contains(&symbol) {
        Outside::Neither
    } else if is_of_standard_library(symbol) {
        // Streams call functions of the buffers that they are given; a child of Rust's `Command` calls nothing but what
        // it was given.
        Outside::CallsBack
    } else if !is_harmless(symbol) {
        Outside::Unknown
    } else {
        Outside::Neither
    }
}

/// Whether a symbol is of the standard library of C++ or Rust.
fn is_of_standard_library(symbol: &str) -> bool {
    let begins = |all: &[&str]| all.iter().any(|b| symbol.starts_with(b));
    let is_rust = symbol.starts_with("_R")
        && ["_3std", "_4core", "_5alloc"]
            .iter()
            .any(|c| symbol.contains(c));
    begins(&["_ZSt", "_ZNS", "_ZNKS", "_ZN3std", "_ZN4core", "_ZN5alloc"]) || is_rust
}
