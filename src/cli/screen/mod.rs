//! The terminal as a screen: taken, and given back whatever happens.

mod guard;
mod list;

pub(super) use list::{List, Table, clip, move_selection, name_line};

use crate::base::error::{Error, Result};
use guard::Guard;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{self, EnterAlternateScreen};
use ratatui::crossterm::tty::IsTty;
use ratatui::layout::{Rect, Size};
use ratatui::{DefaultTerminal, Frame, TerminalOptions, Viewport};
use signal_hook::consts::{SIGINT, SIGQUIT, SIGTSTP};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A terminal may have any size, and each cell takes memory: no more columns and lines than this are drawn.
const MOST: [u16; 2] = [1_000, 500];

/// A signal is noticed after so long.
const TICK: Duration = Duration::from_millis(50);

/// What a program on the screen does about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyOutcome {
    /// Goes on.
    On,
    /// Ends.
    End,
    /// Ends, to go on with what comes next.
    Next,
}

/// What a user does.
pub(super) enum Input {
    /// A key was pressed.
    Key(KeyEvent),
    /// The size or all of the screen has changed.
    Changed,
    /// Nothing.
    None,
}

/// The terminal, in raw mode, on its alternate screen. It is given back when this is dropped, at a panic, and when a
/// [`Guard`] ends the program.
pub(super) struct Screen {
    terminal: DefaultTerminal,
    /// What is drawn of the terminal.
    area: Rect,
    guard: Arc<Guard>,
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
        let stops = Arc::default();
        let registered = signal_hook::flag::register(SIGTSTP, Arc::clone(&stops));
        registered.map_err(|e| terminal_error(&e))?;
        let guard = Guard::start().map_err(|e| terminal_error(&e))?;
        guard.set_shown(true);
        let (terminal, area) = take_terminal().map_err(|e| terminal_error(&e))?;
        Ok(Screen {
            terminal,
            area,
            guard,
            stops,
        })
    }

    /// Draws all of it.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame)) -> Result<()> {
        let drawn = self
            .resize()
            .and_then(|()| self.terminal.draw(draw).map(drop));
        drawn.map_err(|e| self.explain_failure(&e))
    }

    /// Follows the size of the terminal.
    fn resize(&mut self) -> std::io::Result<()> {
        let area = drawn_area(self.terminal.size()?);
        if area != self.area {
            self.terminal.resize(area)?;
            self.area = area;
        }
        Ok(())
    }

    /// Waits for input, at most so long. Does not return if the screen is to end: by a signal, Ctrl-C, Ctrl-\\, or
    /// because the terminal is gone.
    pub(super) fn input(&mut self, most: Duration) -> Result<Input> {
        self.guard.check();
        if self.stops.swap(false, Ordering::Relaxed) {
            return self.stop();
        }
        match event::poll(most.min(TICK)) {
            Ok(false) => return Ok(Input::None),
            Ok(true) => {}
            // A signal: its flag is seen next time.
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => return Ok(Input::None),
            Err(e) => return Err(self.explain_failure(&e)),
        }
        match event::read().map_err(|e| self.explain_failure(&e))? {
            Event::Key(key) if key.kind == KeyEventKind::Release => Ok(Input::None),
            Event::Key(key) if is_control(key, 'c') => self.guard.die_by(SIGINT),
            // What crossterm makes of Ctrl-\, whose byte is that of Ctrl-4 as well.
            Event::Key(key) if is_control(key, '4') => self.guard.die_by(SIGQUIT),
            Event::Key(key) if is_control(key, 'z') => self.stop(),
            Event::Key(key) => Ok(Input::Key(key)),
            Event::Resize(..) => Ok(Input::Changed),
            _ => Ok(Input::None),
        }
    }

    /// Stops until the shell goes on with it, with the terminal as it was.
    fn stop(&mut self) -> Result<Input> {
        ratatui::restore();
        self.guard.set_shown(false);
        let stopped = signal_hook::low_level::emulate_default_handler(SIGTSTP);
        self.guard.set_shown(true);
        (self.terminal, self.area) = take_terminal().map_err(|e| self.explain_failure(&e))?;
        stopped.map_err(|e| terminal_error(&e))?;
        Ok(Input::Changed)
    }

    /// An error of the terminal, which ends the program here if the terminal is gone.
    fn explain_failure(&self, e: &std::io::Error) -> Error {
        self.guard.check_error(e);
        terminal_error(e)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        ratatui::restore();
        self.guard.set_shown(false);
    }
}

/// The terminal in raw mode on its alternate screen, and what is drawn of it.
fn take_terminal() -> std::io::Result<(DefaultTerminal, Rect)> {
    let area = drawn_area(terminal::size()?.into());
    let options = TerminalOptions {
        viewport: Viewport::Fixed(area),
    };
    let terminal = ratatui::try_init_with_options(options)?;
    execute!(std::io::stdout(), EnterAlternateScreen)?;
    Ok((terminal, area))
}

/// As much of a terminal of this size as is drawn.
fn drawn_area(size: Size) -> Rect {
    let [columns, lines] = MOST;
    Rect::new(0, 0, size.width.min(columns), size.height.min(lines))
}

fn is_control(key: KeyEvent, letter: char) -> bool {
    key.code == KeyCode::Char(letter) && key.modifiers.contains(KeyModifiers::CONTROL)
}

fn terminal_error(e: &std::io::Error) -> Error {
    Error::Usage(format!("the terminal: {e}; try another terminal"))
}
