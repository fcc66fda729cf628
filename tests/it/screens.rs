//! Screens end with their terminal and by signals, whatever they do at that moment, on pseudo-terminals of our own.

use crate::live::Program;
use crate::support::{PROF, merge, run};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// Nothing takes as long; what spins never ends.
const PATIENCE: Duration = Duration::from_secs(60);
const SIGNALS: [(&str, i32); 4] = [("HUP", 1), ("INT", 2), ("QUIT", 3), ("TERM", 15)];

/// What screens are of: a merged profile, and a raw one.
struct Profiles {
    _program: Program,
    folder: PathBuf,
    merged: PathBuf,
    raw: PathBuf,
}

impl Profiles {
    fn new() -> Profiles {
        let program = Program::new(&["--scheme", "sbl"], 1);
        let running = program.stopped();
        let raw = program.raw(0, &running[0]);
        drop(running);
        Profiles {
            folder: program.path().to_path_buf(),
            merged: merge(program.path()),
            raw,
            _program: program,
        }
    }

    fn browse(&self) -> Vec<&str> {
        vec![PROF, "browse", self.merged.to_str().unwrap()]
    }

    /// One that looks again in a day.
    fn top(&self) -> Vec<&str> {
        vec![
            PROF,
            "top",
            "--interval",
            "86400",
            self.raw.to_str().unwrap(),
        ]
    }

    /// Starts a command whose terminal is a new one.
    fn start(&self, command: &[&str], size: (u16, u16), before: &[&str]) -> Screen {
        let terminal = Terminal::new(size);
        let slave = || terminal.slave.try_clone().unwrap();
        let mut words: Vec<&str> = before.to_vec();
        words.extend(["sh", "-c", "ulimit -c 0; exec \"$@\"", "sh"]);
        words.extend(command);
        let child = Command::new(words[0])
            .args(&words[1..])
            .current_dir(&self.folder)
            .env("TERM", "xterm-256color")
            .stdin(slave())
            .stdout(slave())
            .stderr(slave())
            .spawn();
        Screen {
            child: child.unwrap(),
            terminal,
        }
    }
}

/// A pseudo-terminal. Both ends are closed in programs that are started.
struct Terminal {
    master: OwnedFd,
    slave: File,
    seen: Vec<u8>,
}

impl Terminal {
    fn new((ws_col, ws_row): (u16, u16)) -> Terminal {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let size = Winsize {
            ws_col,
            ws_row,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&master, size).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let mut options = File::options();
        let flags = rustix::fs::OFlags::NOCTTY.bits().cast_signed();
        let options = std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
        let slave = options.read(true).write(true).open(name.to_str().unwrap());
        Terminal {
            master,
            slave: slave.unwrap(),
            seen: Vec::new(),
        }
    }

    /// Takes what was written in the next few milliseconds.
    fn read(&mut self) {
        if self.is_readable() {
            let mut part = [0; 4096];
            match rustix::io::read(&self.master, &mut part) {
                Ok(n) => self.seen.extend_from_slice(&part[..n]),
                Err(Errno::IO) => {}
                Err(e) => panic!("{e}"),
            }
        }
    }

    fn is_readable(&self) -> bool {
        let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
        let wait = Timespec {
            tv_sec: 0,
            tv_nsec: 10_000_000,
        };
        poll(&mut fds, Some(&wait)).unwrap() > 0
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen).into_owned()
    }

    fn write(&self, keys: &str) {
        assert_eq!(
            rustix::io::write(&self.master, keys.as_bytes()),
            Ok(keys.len())
        );
    }

    /// Lines and echo, as a shell wants them.
    #[track_caller]
    fn is_as_before(&self) {
        let modes = tcgetattr(&self.slave).unwrap().local_modes;
        let expected = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        assert!(modes.contains(expected), "{modes:?}");
    }
}

/// A program on a terminal.
struct Screen {
    child: Child,
    terminal: Terminal,
}

impl Screen {
    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        let begin = Instant::now();
        while !self.terminal.text().contains(text) {
            assert!(
                begin.elapsed() < PATIENCE,
                "{text}: {}",
                self.terminal.text()
            );
            self.terminal.read();
        }
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        run(Command::new("kill").args(["-s", name, &id]));
    }

    /// Its end, while somebody reads what it writes.
    #[track_caller]
    fn end(mut self) -> (ExitStatus, Terminal) {
        let status = ended(&mut self.child, || self.terminal.read());
        while self.terminal.is_readable() {
            self.terminal.read();
        }
        (status, self.terminal)
    }
}

#[track_caller]
fn ended(child: &mut Child, mut meanwhile: impl FnMut()) -> ExitStatus {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if begin.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("it did not end");
        }
        meanwhile();
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A session of its own, whose terminal this is.
const SESSION: [&str; 2] = ["setsid", "--ctty"];

#[test]
fn signal_ends_screen_and_gives_terminal_back() {
    let profiles = Profiles::new();
    let (browse, top) = (profiles.browse(), profiles.top());
    let screens = [
        (&browse, "by instructions", ""),
        (&browse, "by instructions", "/ste"),
        (&top, "by share", ""),
    ];
    for (command, drawn, keys) in screens {
        for (name, number) in SIGNALS {
            let mut screen = profiles.start(command, (80, 24), &SESSION);
            screen.wait_for(drawn);
            screen.terminal.write(keys);
            if !keys.is_empty() {
                screen.wait_for("ste");
            }
            screen.signal(name);
            let (status, terminal) = screen.end();
            assert_eq!(
                status.signal(),
                Some(number),
                "{command:?} {keys:?} {name}: {status}"
            );
            assert!(
                terminal.text().contains("\u{1b}[?1049l"),
                "{}",
                terminal.text()
            );
            terminal.is_as_before();
        }
    }
    // Keys that are signals elsewhere.
    for (key, number) in [("\u{3}", 2), ("\u{1c}", 3)] {
        let mut screen = profiles.start(&browse, (80, 24), &SESSION);
        screen.wait_for("by instructions");
        screen.terminal.write(key);
        let (status, terminal) = screen.end();
        assert_eq!(status.signal(), Some(number), "{status}");
        terminal.is_as_before();
    }
}

/// With and without the signal that the kernel sends to those whose terminal it is, and where that is ignored.
#[test]
fn screen_ends_with_its_terminal() {
    let profiles = Profiles::new();
    let ignored = [
        "setsid",
        "--ctty",
        "sh",
        "-c",
        "trap '' HUP; exec \"$@\"",
        "sh",
    ];
    let screens = [
        (profiles.browse(), "by instructions"),
        (profiles.top(), "by share"),
    ];
    for (command, drawn) in &screens {
        for before in [&SESSION[..], &[], &ignored] {
            let mut screen = profiles.start(command, (80, 24), before);
            screen.wait_for(drawn);
            // The middle of a key.
            screen.terminal.write("\u{1b}[");
            let Screen {
                mut child,
                terminal,
            } = screen;
            drop(terminal.master);
            let status = ended(&mut child, || ());
            assert_eq!(status.signal(), Some(1), "{command:?} {before:?}: {status}");
        }
    }
}

/// A terminal may say that it has any size: what is drawn of it takes no more memory than a large one.
#[test]
fn screen_of_any_size_is_drawn() {
    let profiles = Profiles::new();
    for command in [profiles.browse(), profiles.top()] {
        let mut screen = profiles.start(&command, (65_535, 65_535), &SESSION);
        screen.wait_for("q ends");
        screen.terminal.write("q");
        let (status, terminal) = screen.end();
        assert!(status.success(), "{status}: {}", terminal.text());
    }
}

/// Nobody reads, and more is drawn than the terminal takes: the main thread is in a write that does not return.
#[test]
fn screen_that_nobody_reads_ends_by_signal() {
    let profiles = Profiles::new();
    for (name, number) in SIGNALS {
        let mut screen = profiles.start(&profiles.browse(), (500, 400), &SESSION);
        while !screen.terminal.is_readable() {}
        screen.signal(name);
        let status = ended(&mut screen.child, || ());
        assert_eq!(status.signal(), Some(number), "{status}");
        screen.terminal.is_as_before();
    }
}

/// Its shell is killed, and the one above takes the terminal: to read it is an error from now on, without a signal or a
/// hang-up.
#[test]
fn screen_whose_shell_is_gone_ends_at_a_key() {
    let profiles = Profiles::new();
    let file = profiles.folder.join("shell");
    let script = "set -m; sh -c 'echo $$ >shell; \"$1\" browse \"$2\"; true' sh \"$1\" \"$2\"; echo above; sleep 600";
    let merged = profiles.merged.to_str().unwrap();
    let shells = ["bash", "-c", script, "bash", PROF, merged];
    let mut screen = profiles.start(&shells, (80, 24), &SESSION);
    screen.wait_for("by instructions");
    let shell = std::fs::read_to_string(&file).unwrap().trim().to_string();
    let children = format!("/proc/{shell}/task/{shell}/children");
    let browse = std::fs::read_to_string(children)
        .unwrap()
        .trim()
        .to_string();
    run(Command::new("kill").args(["-s", "KILL", &shell]));
    screen.wait_for("above");
    let begin = Instant::now();
    while is_alive(&browse) {
        assert!(begin.elapsed() < PATIENCE, "it did not end");
        screen.terminal.write("j");
        screen.terminal.read();
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(screen.terminal.master);
    let _ = screen.child.kill();
    screen.child.wait().unwrap();
}

/// Whether there is such a process, other than one that nobody has waited for.
fn is_alive(id: &str) -> bool {
    let stat = std::fs::read_to_string(Path::new("/proc").join(id).join("stat"));
    stat.is_ok_and(|s| !s.contains(") Z ") && !s.contains(") X "))
}
