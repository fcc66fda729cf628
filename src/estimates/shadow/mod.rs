//! Shadows, which count paths in bursts: the functions that they run, what profiles hold of them, the report. Only
//! schemes whose numbers are estimates need any of it.
//!
//! # How shadows work
//!
//! `docs/SHADOWS.md` has the short form, `bench/TRIED.md` the measurements behind each choice.
//!
//! ## Three forms of a function
//!
//! The *native* function is that of the input. It has space for a jump in front of its entry
//! (`patchable-function-prefix`), and an address in a table for the header of each loop (an `asm goto` without code).
//! Beside it are a *counting* function with the plan of `sbl` and, if the function has loops, a *resuming* function,
//! which is entered at loop headers and counts the rest of an activation. A shadow writes jumps to the entries and
//! breakpoints to the addresses.
//!
//! **Entries.** A short jump of two bytes leads to the space in front. If the first instruction has one byte (a push),
//! the jump also destroys the next instruction, where control must not arrive then. In functions that call or branch
//! before their first loop, only a shadow that was forked in between could arrive there; a breakpoint stands for the
//! jump until it is met. Other functions start with two bytes (`prologue-short-redirect`: LLVM adds a nop).
//!
//! **Headers.** A path begins at a header that is reached on a back edge. The handler of the header's breakpoint
//! passes the live values to the resuming function. So bursts count whole paths under their own ids. What a frame had
//! begun at the fork is not counted.
//!
//! **Live values.** Frames are not shared, so a native function spills no more than before. Values that follow from
//! others are computed again, not passed: addresses at a fixed distance, comparisons, truncations, and everything
//! whose operands are live anyway. Three kinds are passed in the form that the loop has anyway:
//!
//! - *A variable that its loop uses only in sums with constants* is passed as such a sum (`outlined::emit::shift`).
//!   Otherwise it would take one more register.
//! - *The index of an array*: if the header reads or writes an element of an array at a constant address, and the
//!   index only occurs in addresses, sums and comparisons, the element's address is passed, since LLVM counts such
//!   loops by addresses. The resuming function divides by the size of an element. The division is exact, because the
//!   access would be undefined if index times size overflowed (`-fwrapv`: only if the address is in bounds).
//! - *What only sums are made of*: if a loop's calls use `row + 1`, and `n + row` is needed, `row` is computed as
//!   `row + 1` less 1, and `n + row` from that, without `nsw` and `nuw`.
//!
//! **Interpreters** with computed goto (`indirectbr`): the addresses that a program keeps belong to blocks of the
//! native function. The other forms look an address up in a hash table and continue in their own block of that number.
//! Nothing is added to a header that ends in such a jump, or in the largest `switch` of a function, since code
//! generators copy it behind each operation. Activations resume behind the jump, at operations to which nothing else
//! leads. (A place in the header of sqlite's interpreter cost 2.7 % of its instructions, places behind it 0.5 %.)
//!
//! ## Bursts
//!
//! Each block takes its instructions from a budget, which is a value of the function between calls. Entries and loops
//! read a byte that cannot be read if the budget is negative: no branch is added, and the fault ends the burst.
//!
//! **When.** The average time between shadows, the *period*, follows from `load` and the time of bursts, or from
//! `cost` and what shadows have cost so far. The first cost is assumed: half a millisecond plus 3 µs for each
//! anonymous page of the program. The next shadow comes at any moment with equal probability. The timer counts
//! processor time of the process; Linux looks at such timers at each tick of its clock.
//!
//! **Cost** is the handler's processor time, plus page faults since the fork, plus the wait at the end. Each page that
//! the program writes for the first time after a fork takes a fault; the first writes to four pages measure its price.
//! If the last shadow cost too much, the next is left out. Faults are at most as many as the anonymous pages that
//! existed. Memory that the program frees and gets again counts as a shadow's fault, so there may be fewer shadows
//! than allowed, never more. A shadow that lives longer hardly costs more, so rare shadows have bursts up to ten times
//! as long.
//!
//! **Records** are written under a lock of the file that ends with its process, whole or not at all
//! (`docs/RAW_FORMAT.md`). Shadows die with the program.
//!
//! ## Twins
//!
//! The counts of a burst are weighted by the time that the program itself takes for the burst. Counting slows some
//! code down threefold and other code hardly. So before it counts, a shadow forks a *twin*. The twin waits until the
//! burst is over, and then runs native code from the same state to a place that the shadow chose. Counting functions
//! note, at each entry and loop place, how often control passed and how many instructions were left the last time. The
//! twin is at the end when it has passed the place as often. Shadow and twin run one after the other, so `load` holds
//! for both.
//!
//! A twin notices passes in one of two ways:
//!
//! - **count**: about 2 ns a pass; a trial measures it, and it is subtracted. At an entry, or at five bytes at a
//!   loop whose instructions the runtime can move (it moves neither branches nor calls). A jump leads to code that
//!   counts, runs the moved instructions and returns.
//! - **breakpoint**: about 15 µs a pass, known on average from a trial; 10 µs are assumed to be lost. It works
//!   anywhere.
//!
//! What runs after the last pass is lost as well. The shadow sorts all places, each in both ways, by what is lost, and
//! the twin uses the first that works. The twin's processor time less the passes (at most half of it) is the burst's,
//! in proportion to instructions. If another branch leads into the five bytes, the twin runs behind its filter of
//! system calls until its time is over, and the burst is untimed.
//!
//! **Pages.** A twin copies pages that it writes. The shadow knows which pages it copied itself
//! (`/proc/self/pagemap`), so the twin copies the same ones before its clock starts (`MADV_POPULATE_WRITE`). Before
//! Linux 5.14, or above four gigabytes, faults are subtracted instead, at the price of first writes to sixteen pages.
//! That is too little if memory is large: zstd's bursts of 10 M instructions took the program 2.4 ms and its twins 5.6
//! ms.
//!
//! **Untimed bursts** are those that would lose a quarter at every place, whose instructions cannot be moved, or whose
//! twin cannot be forked or does not arrive. Their time is what counting took, scaled by timed bursts with the same
//! paths: by the mean over the burst's executed paths of the bursts in which each ran, weighted by the path's share.
//!
//! ## What is hidden from the program
//!
//! **Files.** A shadow shares the program's table of descriptors until its first system call (`CLONE_FILES`), and then
//! has an empty one (`close_range` with `CLOSE_RANGE_UNSHARE`). So a file, pipe or socket that the program closes is
//! closed. The shadow then gets references (`O_PATH`) from `/proc`, and opens a regular file again to read it. If that
//! is impossible (before Linux 5.9, without `/proc`, in a process that must not be inspected), it starts with a copy
//! of the table and closes it within some ten microseconds.
//!
//! **Signals.** The timer's signal is never pending. A thread that blocks it together with many others (`sigfillset`)
//! has it unblocked nevertheless; the runtime reports it as blocked, and keeps it from `sigtimedwait`, `sigwait` and
//! `signalfd`. To do so it replaces these functions of libc, `sigprocmask` and `pthread_sigmask`. If somebody else
//! sends the signal to such a thread, or the program blocks it among few signals or waits for it, the program uses the
//! signal, and shadows end. `SIGURG` is ignored by default, so a program that resets its handlers is not killed. If
//! libc's call ends early after any handler (`poll`, `nanosleep`, `pause`), the timer's handler repeats it.
//!
//! **Filters.** A seccomp filter may kill the program for a call of the timer's handler. So shadows end and the timer
//! is deleted before a filter is installed by `prctl` or `syscall`, which the runtime replaces. For filters that were
//! installed otherwise, `PR_GET_SECCOMP` is asked before each shadow.
//!
//! **The rest.** `clone` without an end signal keeps the shadow out of the program's `wait`; it is reaped with
//! `__WCLONE`. Its signals are blocked. Writable shared mappings become private copies (at most 256 MiB, no devices).
//! A seccomp filter of ten instructions traps all system calls except the runtime's own, which it knows by their
//! address:
//!
//! - **made**: questions: `stat`, `getcwd`, clocks, limits, `access` …; the shadow's own state: `brk`, `munmap`,
//!   `umask`, `chdir`.
//! - **imitated**: reads of regular files, at the shadow's own offsets; opening (files to create or empty are in
//!   memory); `mmap`, always private; descriptors, signal handlers and masks, process ids.
//! - **assumed to succeed**: `write`, `send`, `ftruncate`, `unlink`, `rename`, `mkdir`, `chmod`, `fsync`, `kill` of
//!   others, timers, sleeping ….
//! - **end of the burst**: everything else: what needs a file that is no longer open (`poll`, `getsockopt`,
//!   questions about a terminal), reads from pipes, sockets and terminals, `connect`, `accept`, children, waiting
//!   for a lock, signals to itself.
//!
//! ## Why the estimates are right
//!
//! Bursts start at random points of processor time and have a fixed number of instructions, so slow code has more of
//! them: sums of their counts would be length-biased. A burst at a point in time gives a rate, paths per second. So
//! each burst's counts are divided by the time of its twin (`native` in its record). Each burst stands for the
//! processor time to the next one, on average, when it was drawn (`period`). Its rates times the period are
//! executions, as Horvitz & Thompson estimate them, and these are added up. The time to the next burst is that of a
//! Poisson process, so this holds however the period changes.
//!
//! Bursts are clusters, and a share is a ratio of two sums over them. Its variance is that of Cochran's ratio
//! estimator, with Student's quantile. Bursts leave no trace of what none of them saw, so one more burst of average
//! length, in which the path did not run, is added: if all bursts agree, a share is known to one part in their number.
//! A burst that ends at a lock counts for the time that its twin took, since the other threads are not in the shadow,
//! and what the lock protects may be half changed.
//!
//! `make shadows` compares output, exit status and files of real programs under up to four shadows at a time with the
//! untouched program, after a test program for every treated system call had 1,000 shadows. `p3-bench shadows`
//! measures what `bench/FIGURES.md` lists.
//!

pub(crate) mod against;
mod calls;
#[cfg(feature = "llvm")]
pub(crate) mod emit;
pub(crate) mod profile;
pub(crate) mod report;
