//! Asks a solver of SMT-LIB 2 whether conditions of terms can hold at once, and for which values.
//!
//! Every question starts from nothing (`reset`) and is bounded by the solver's own resource limit, never by time: one
//! version of a solver answers alike on any machine.

mod encode;

use super::term::{Term, Terms};
use easy_smt::{Context, ContextBuilder, Response, SExprData};
use encode::Encoder;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable that names a solver, or says `none`.
pub const VARIABLE: &str = "P3_SOLVER";
/// The resources of one question, in the solver's units: about a tenth of a second of z3.
const UNITS: u64 = 150_000;
/// The resources of all questions of one engine, in the same units: about five seconds of z3.
const ALL_UNITS: u64 = 6_000_000;
/// A question of more terms is not asked.
const MOST_TERMS: usize = 5_000;

/// Which solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Z3.
    Z3,
    /// cvc5.
    Cvc5,
}

/// A solver that is installed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Program {
    /// Where.
    pub path: PathBuf,
    /// Which one.
    pub kind: Kind,
    /// Its version, as it prints it: `4.8.12`.
    pub version: String,
}

impl Program {
    /// Its name: `z3` or `cvc5`.
    pub fn name(&self) -> &'static str {
        match self.kind {
            Kind::Z3 => "z3",
            Kind::Cvc5 => "cvc5",
        }
    }

    /// The solver that `P3_SOLVER` names, or else the first of z3 and cvc5 on the search path. Starts it once, for its
    /// version.
    ///
    /// # Errors
    /// `P3_SOLVER` names something else.
    pub fn find() -> Result<Option<Program>, String> {
        match std::env::var_os(VARIABLE) {
            Some(name) if name == "none" => Ok(None),
            Some(name) if !name.is_empty() => Program::find_named(Path::new(&name)).map(Some),
            _ => Ok(["z3", "cvc5"]
                .into_iter()
                .find_map(|name| Program::find_named(Path::new(name)).ok())),
        }
    }

    /// The solver of this name or path. Starts it once, for its version.
    ///
    /// # Errors
    /// It is none that is known.
    pub fn find_named(path: &Path) -> Result<Program, String> {
        let problem = |what: &dyn std::fmt::Display| {
            format!(
                "{VARIABLE}={}: {what}; name z3, cvc5 or none",
                path.display()
            )
        };
        let output = Command::new(path).arg("--version").output();
        let output = output.map_err(|e| problem(&e))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().next().unwrap_or_default();
        let kind = match line.to_ascii_lowercase() {
            line if line.starts_with("z3 version ") => Kind::Z3,
            line if line.contains("cvc5 version ") => Kind::Cvc5,
            _ => return Err(problem(&"it is no solver that is known")),
        };
        let version = line.split_once("ersion ").map_or("", |(_, behind)| {
            behind.split_whitespace().next().unwrap_or("")
        });
        Ok(Program {
            path: path.into(),
            kind,
            version: version.trim_end_matches([']', ')']).into(),
        })
    }
}

/// What a solver answers.
pub(super) enum Found {
    /// The conditions contradict each other.
    Contradiction,
    /// They hold for these values of the leaves that they name.
    Values(FxHashMap<Term, u64>),
    /// Neither is known.
    Nothing,
}

/// A solver that runs.
pub struct Solver {
    context: Context,
    kind: Kind,
    /// Units that are left.
    left: u64,
}

impl Solver {
    /// Starts a solver.
    ///
    /// # Errors
    /// It does not start.
    pub fn start(program: &Program) -> io::Result<Solver> {
        let mut builder = ContextBuilder::new();
        match program.kind {
            Kind::Z3 => builder.solver_args(["-smt2", "-in", "-v:0"]),
            Kind::Cvc5 => {
                let limit = format!("--rlimit-per={UNITS}");
                let usual = ["--quiet", "--lang=smt2", "--incremental"];
                builder.solver_args(usual.map(String::from).into_iter().chain([limit]))
            }
        };
        builder.solver(OsStr::new(&program.path));
        Ok(Solver {
            context: builder.build()?,
            kind: program.kind,
            left: ALL_UNITS,
        })
    }

    /// Whether there are no units left for more questions.
    pub(super) fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// Whether all of these truth values can be true at once. Of a solver that fails, nothing is known any more.
    pub(super) fn solve(&mut self, terms: &Terms, conditions: &[Term]) -> Found {
        if self.is_spent() {
            return Found::Nothing;
        }
        self.ask(terms, conditions).unwrap_or_else(|_| {
            self.left = 0;
            Found::Nothing
        })
    }

    fn ask(&mut self, terms: &Terms, conditions: &[Term]) -> io::Result<Found> {
        let all = terms.parts_of(conditions);
        if all.len() > MOST_TERMS {
            return Ok(Found::Nothing);
        }
        self.reset()?;
        let leaves = Encoder::new(&mut self.context, terms).assert(&all, conditions)?;
        let answer = self.context.check()?;
        self.left = self.left.saturating_sub(self.count_units()?);
        Ok(match answer {
            Response::Unsat => Found::Contradiction,
            Response::Unknown => Found::Nothing,
            Response::Sat => {
                let names = leaves.iter().map(|(_, name)| *name).collect();
                let values = self.context.get_value(names)?;
                let values = leaves
                    .iter()
                    .zip(values)
                    .map(|((leaf, _), (_, value))| Some((*leaf, self.number(value)?)));
                values
                    .collect::<Option<_>>()
                    .map_or(Found::Nothing, Found::Values)
            }
        })
    }

    /// Forgets all that was asked.
    fn reset(&mut self) -> io::Result<()> {
        let reset = self.context.list(vec![self.context.atom("reset")]);
        self.context.raw_send(reset)?;
        self.context.raw_recv()?;
        let yes = self.context.true_();
        self.context.set_option(":print-success", yes)?;
        self.context.set_option(":produce-models", yes)?;
        if self.kind == Kind::Z3 {
            let units = self.context.atom(UNITS.to_string());
            self.context.set_option(":rlimit", units)?;
        }
        self.context.set_logic("QF_BV")
    }

    /// The units that the last question took: of cvc5, which does not say so, all that it might have.
    fn count_units(&mut self) -> io::Result<u64> {
        if self.kind != Kind::Z3 {
            return Ok(UNITS);
        }
        let words = ["get-info", ":rlimit"].map(|word| self.context.atom(word));
        let get = self.context.list(words.into());
        self.context.raw_send(get)?;
        let answer = self.context.raw_recv()?;
        let last = self.context.get_list(answer).and_then(|all| all.last());
        let number = last.and_then(|n| self.context.get_atom(*n)?.parse().ok());
        Ok(number.unwrap_or(UNITS))
    }

    fn number(&self, value: easy_smt::SExpr) -> Option<u64> {
        let SExprData::Atom(text) = self.context.get(value) else {
            return None;
        };
        match (text, text.get(..2), text.get(2..)) {
            ("true", ..) => Some(1),
            ("false", ..) => Some(0),
            (_, Some("#x"), Some(digits)) => u64::from_str_radix(digits, 16).ok(),
            (_, Some("#b"), Some(digits)) => u64::from_str_radix(digits, 2).ok(),
            _ => None,
        }
    }
}
