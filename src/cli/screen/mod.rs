//! The terminal as a screen: taken, and given back whatever happens.

mod list;

pub(super) use list::{List, Table, clip, moved};

use crate::error::{Error, Result};
use ratatui::DefaultTerminal;
use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::tty::IsTty;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A signal is noticed after so long.
const TICK: Duration = Duration::from_millis(50);

/// What a program on the screen does about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// Goes on.
    On,
    /// Ends.
    End,
}

/// What a user does.
pub(super) enum Input {
    /// A key was pressed.
    Key(KeyEvent),
    /// The size or all of the screen has changed.
    Changed,
    /// The program is to end.
    End,
    /// Nothing.
    None,
}

/// The terminal, in raw mode, on its alternate screen. It is given back when this is dropped, at a panic, and at signals that would end
/// the program.
pub(super) struct Screen {
    terminal: DefaultTerminal,
    ends: Arc<AtomicBool>,
    stops: Arc<AtomicBool>,
}

impl Screen {
    /// Takes the terminal. `instead`: what to do without one.
    ///
    /// # Errors
    /// There is none, or none that can be written to anywhere.
    pub(super) fn open(instead: &str) -> Result<Screen> {
        let dumb = std::env::var("TERM").is_ok_and(|t| t == "dumb");
        if !std::io::stdout().is_tty() || dumb {
            let message = format!("standard output is no terminal with a screen; {instead}");
            return Err(Error::Usage(message));
        }
        let (ends, stops) = (Arc::default(), Arc::default());
        let flags = [SIGTERM, SIGHUP, SIGINT, SIGQUIT].map(|s| (s, &ends));
        for (signal, flag) in flags.into_iter().chain([(SIGTSTP, &stops)]) {
            let registered = signal_hook::flag::register(signal, Arc::clone(flag));
            registered.map_err(|e| failed(&e))?;
        }
        let terminal = ratatui::try_init().map_err(|e| failed(&e))?;
        Ok(Screen {
            terminal,
            ends,
            stops,
        })
    }

    /// Draws all of it.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame)) -> Result<()> {
        self.terminal.draw(draw).map_err(|e| failed(&e)).map(drop)
    }

    /// Waits for input, at most so long.
    pub(super) fn input(&mut self, most: Duration) -> Result<Input> {
        if self.ends.load(Ordering::Relaxed) {
            return Ok(Input::End);
        }
        if self.stops.swap(false, Ordering::Relaxed) {
            return self.stop();
        }
        match event::poll(most.min(TICK)) {
            Ok(false) => return Ok(Input::None),
            Ok(true) => {}
            // A signal: its flag is seen next time.
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => return Ok(Input::None),
            Err(e) => return Err(failed(&e)),
        }
        match event::read().map_err(|e| failed(&e))? {
            Event::Key(key) if key.kind == KeyEventKind::Release => Ok(Input::None),
            Event::Key(key) if is_control(key, 'c') => Ok(Input::End),
            Event::Key(key) if is_control(key, 'z') => self.stop(),
            Event::Key(key) => Ok(Input::Key(key)),
            Event::Resize(..) => Ok(Input::Changed),
            _ => Ok(Input::None),
        }
    }

    /// Stops until the shell goes on with it, with the terminal as it was.
    fn stop(&mut self) -> Result<Input> {
        ratatui::restore();
        let stopped = signal_hook::low_level::emulate_default_handler(SIGTSTP);
        self.terminal = ratatui::try_init().map_err(|e| failed(&e))?;
        stopped.map_err(|e| failed(&e))?;
        Ok(Input::Changed)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

fn is_control(key: KeyEvent, letter: char) -> bool {
    key.code == KeyCode::Char(letter) && key.modifiers.contains(KeyModifiers::CONTROL)
}

fn failed(e: &std::io::Error) -> Error {
    Error::Usage(format!("the terminal: {e}; try another one"))
}
