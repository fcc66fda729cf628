//! Ends a screen when its terminal goes away or a signal asks for it, whatever the program does at that moment.
//!
//! The main thread looks for input every few milliseconds and leaves the screen by itself. If it is busy, or blocked in
//! a write to a terminal that nobody reads, a watching thread gives the terminal back in its place. Either way the
//! process dies by the signal, so that shells report 128 plus its number and stop their loops. A terminal that is gone
//! counts as `SIGHUP`, also for a process that was started with that signal ignored: without a terminal there is nobody
//! to use the screen.

use ratatui::crossterm::Command;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::terminal::LeaveAlternateScreen;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::getpgrp;
use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The signals that end a screen.
const ENDING: [i32; 4] = [SIGHUP, SIGTERM, SIGINT, SIGQUIT];
/// How long the main thread may take to leave the screen by itself: several of its ticks.
const GRACE: Duration = Duration::from_millis(300);
/// How often a watching thread looks whether it has.
const STEP: Duration = Duration::from_millis(10);

/// What is known of the terminal, and whether the screen is to end.
pub(super) struct Guard {
    terminal: OwnedFd,
    /// The settings from before the screen.
    settings: Termios,
    /// Whether the screen is shown.
    held: AtomicBool,
    /// Held while the terminal is given back.
    leaving: Mutex<()>,
    /// The signal that ends the screen; 0 if none has arrived.
    ending: AtomicI32,
}

impl Guard {
    /// Notes the terminal's settings and watches for signals and the terminal's end from now on.
    ///
    /// # Errors
    /// There is no terminal, or handlers cannot be installed.
    pub(super) fn start() -> std::io::Result<Arc<Guard>> {
        let terminal = terminal()?;
        let guard = Arc::new(Guard {
            settings: tcgetattr(&terminal)?,
            terminal,
            held: AtomicBool::new(false),
            leaving: Mutex::new(()),
            ending: AtomicI32::new(0),
        });
        let mut signals = Signals::new(ENDING)?;
        let by_signal = Arc::clone(&guard);
        std::thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                by_signal.end(signal);
            }
        });
        let by_hangup = Arc::clone(&guard);
        std::thread::spawn(move || {
            if wait_for_hangup(&by_hangup.terminal) {
                by_hangup.end(SIGHUP);
            }
        });
        Ok(guard)
    }

    /// Notes whether the screen is shown from now on, and so has to be given back.
    pub(super) fn set_shown(&self, held: bool) {
        self.held.store(held, Ordering::SeqCst);
    }

    /// Leaves the screen and dies by the signal that has arrived, if one has.
    pub(super) fn check(&self) {
        let signal = self.ending.load(Ordering::SeqCst);
        if signal != 0 {
            self.die_by(signal);
        }
    }

    /// Leaves the screen as if by `SIGHUP` if `error` says that the terminal is gone.
    pub(super) fn check_error(&self, error: &std::io::Error) {
        let gone = [Errno::IO, Errno::NXIO, Errno::NODEV].map(Errno::raw_os_error);
        let said = error.raw_os_error().is_some_and(|e| gone.contains(&e));
        if said || is_hung_up(&self.terminal) {
            self.die_by(SIGHUP);
        }
    }

    /// Gives the terminal back and dies by `signal`.
    pub(super) fn die_by(&self, signal: i32) -> ! {
        // Whoever comes second must not die before the first has given the terminal back.
        let _alone = self.leaving.lock();
        if self.held.load(Ordering::SeqCst) {
            self.give_back();
            self.set_shown(false);
        }
        let _ = emulate_default_handler(signal);
        std::process::exit(128 + signal)
    }

    /// What a watching thread does: the main thread leaves, or this thread in its place.
    fn end(&self, signal: i32) -> ! {
        self.ending.store(signal, Ordering::SeqCst);
        let last = Instant::now() + GRACE;
        while self.held.load(Ordering::SeqCst) && Instant::now() < last {
            std::thread::sleep(STEP);
        }
        self.die_by(signal)
    }

    /// Restores settings and the main screen without a lock that the main thread may hold, without waiting, and without
    /// a message when that fails, since a message would go to the same terminal.
    fn give_back(&self) {
        // Another program's terminal by now. To touch it would stop this process.
        if tcgetpgrp(&self.terminal).is_ok_and(|foreground| foreground != getpgrp()) {
            return;
        }
        // A description of its own: the flag must not be seen by others that share the terminal. A full one gets
        // nothing.
        let out = File::options()
            .write(true)
            .custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed())
            .open("/proc/self/fd/1");
        if let Ok(mut out) = out {
            let mut leave = String::new();
            let _ = LeaveAlternateScreen.write_ansi(&mut leave);
            let _ = Show.write_ansi(&mut leave);
            let _ = out.write_all(leave.as_bytes());
        }
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.settings);
    }
}

/// The terminal that keys come from: crossterm's choice.
fn terminal() -> std::io::Result<OwnedFd> {
    let stdin = std::io::stdin();
    if isatty(&stdin) {
        stdin.as_fd().try_clone_to_owned()
    } else {
        let tty = File::options().read(true).write(true).open("/dev/tty")?;
        Ok(tty.into())
    }
}

/// Waits for the terminal's end: input alone wakes nobody. `false`: it cannot be waited for.
fn wait_for_hangup(terminal: &OwnedFd) -> bool {
    loop {
        let mut watched = [PollFd::new(terminal, PollFlags::empty())];
        match poll(&mut watched, None) {
            Ok(_) if watched[0].revents().intersects(GONE) => return true,
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

fn is_hung_up(terminal: &OwnedFd) -> bool {
    let mut watched = [PollFd::new(terminal, PollFlags::empty())];
    let now = rustix::event::Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    poll(&mut watched, Some(&now)).is_ok() && watched[0].revents().intersects(GONE)
}

/// What poll(2) reports of a terminal without another end.
const GONE: PollFlags = PollFlags::HUP.union(PollFlags::ERR);
