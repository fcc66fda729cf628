//! All blocks that a program executes, read from a pipe while it runs: there may be thousands of millions.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program that logs its blocks (`testdata/bench/blocks.c`), and the workload that runs it.
pub(crate) struct Logged {
    pub script: PathBuf,
    pub exe: PathBuf,
    pub pipe: PathBuf,
    /// By function: the number of its first block among those of all functions; `None`: it is skipped.
    pub first: Vec<Option<u32>>,
}

/// What is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A process begins.
    Begins,
    /// A block of this number.
    Block(u32),
}

impl Logged {
    /// Runs the workload, and tells `each` what its processes do, one after the other.
    pub(crate) fn run(&self, each: &mut dyn FnMut(Event)) -> Result<()> {
        let _ = std::fs::remove_file(&self.pipe);
        crate::build::run(Command::new("mkfifo").arg(&self.pipe))?;
        // Held open until the workload has ended, so that the pipe does not end between two processes.
        let held = OpenOptions::new().read(true).write(true).open(&self.pipe)?;
        let mut pipe = File::open(&self.pipe)?;
        let mut workload = Command::new("setarch");
        workload.arg("-R").arg(&self.script).arg(&self.exe);
        workload.env("P3_BLOCKS", &self.pipe).stdin(Stdio::null());
        workload.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = workload
            .spawn()
            .with_context(|| format!("{:?}", self.script))?;
        let ended = std::thread::spawn(move || {
            let status = child.wait();
            drop(held);
            status
        });
        self.read(&mut pipe, each)?;
        // A workload's own status is part of it.
        ended.join().expect("it waits")?;
        Ok(std::fs::remove_file(&self.pipe)?)
    }

    fn read(&self, log: &mut dyn Read, each: &mut dyn FnMut(Event)) -> Result<()> {
        let mut buffer = vec![0; 1 << 16];
        let mut kept = 0;
        loop {
            let read = log.read(&mut buffer[kept..])?;
            if read == 0 {
                ensure!(kept == 0, "the log ends within a word");
                return Ok(());
            }
            let words = buffer[..kept + read].chunks_exact(4);
            let rest = words.remainder().len();
            for word in words {
                let word = u32::from_ne_bytes(word.try_into().expect("four bytes"));
                if word == u32::MAX {
                    each(Event::Begins);
                } else if let Some(first) = self.first[word as usize >> 16] {
                    each(Event::Block(first + (word & 0xffff)));
                }
            }
            let end = kept + read;
            buffer.copy_within(end - rest..end, 0);
            kept = rest;
        }
    }
}

/// Numbers of the first blocks of functions, by name; `None`: it is skipped.
pub(crate) fn first_blocks(manifest: &Path) -> Result<Vec<(String, Option<u32>)>> {
    let manifest: Value = serde_json::from_slice(&std::fs::read(manifest)?)?;
    let functions = manifest["functions"].as_array().context("functions")?;
    let mut next = 0;
    let mut first = Vec::new();
    for f in functions {
        let name = f["name"].as_str().context("a name")?.to_string();
        let profiled =
            f["status"] == "exact" || f["status"].get("cut").is_some() || f["status"] == "cut";
        first.push((name, profiled.then_some(next)));
        next += f["succs"].as_array().context("blocks")?.len() as u32;
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_pieces() {
        /// Gives seven bytes at a time.
        struct Pieces<'a>(&'a [u8]);
        impl Read for Pieces<'_> {
            fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
                let n = self.0.len().min(7).min(to.len());
                to[..n].copy_from_slice(&self.0[..n]);
                self.0 = &self.0[n..];
                Ok(n)
            }
        }
        let words = [u32::MAX, 5, 1 << 16 | 3, 2 << 16 | 1, u32::MAX, 2 << 16];
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_ne_bytes()).collect();
        let logged = Logged {
            script: PathBuf::new(),
            exe: PathBuf::new(),
            pipe: PathBuf::new(),
            first: vec![Some(0), None, Some(100)],
        };
        let mut events = Vec::new();
        let mut each = |e| events.push(e);
        logged.read(&mut Pieces(&bytes), &mut each).unwrap();
        use Event::*;
        assert_eq!(events, [Begins, Block(5), Block(101), Begins, Block(100)]);
        let cut = logged.read(&mut Pieces(&bytes[..6]), &mut |_| ());
        assert!(cut.is_err());
    }
}
