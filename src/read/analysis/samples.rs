//! Samples of a profiler, by symbol: the text that `perf script` prints, and profiles of pprof.
//!
//! A sample is either one line, `comm tid [cpu] time: period event: ip sym+0xoff (dso)`, or a line without the last
//! part and the frames of its call chain below, the sampled one first. `-F` leaves out fields, and `-F +srcline` adds
//! lines such as `  demo.c:61` behind frames. Nothing here looks at a profile of ours: [`time::Time`] does.

pub(crate) mod messages;
mod pprof;
pub mod time;

pub use pprof::PprofProblem;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};

/// The longest line that is looked at; what is longer is skipped.
const LONGEST_LINE: u64 = 1 << 16;
/// Names of different places take at most so many bytes; samples elsewhere are of no known place.
const MOST_BYTES: usize = 64 << 20;
/// What a place with names takes besides them.
const BYTES_OF_PLACE: usize = 128;
/// Events that stand for time, the best first.
const EVENTS_OF_TIME: [&str; 6] = [
    "cycles",
    "cpu-cycles",
    "cpu-clock",
    "task-clock",
    "cpu",
    "ref-cycles",
];

/// Where samples were taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sampled {
    /// The function, as the profiler names it: mangled or not. Empty if it is unknown.
    pub symbol: String,
    /// The program, library or other image. Empty if it is unknown.
    pub image: String,
    /// The source file, possibly without its folders, and the line.
    pub line: Option<(String, u32)>,
}

/// How many samples, and the sum of their periods: samples of one event may stand for different lengths of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// The number of samples.
    pub samples: u64,
    /// The sum of their periods; of each sample without one, 1.
    pub weight: u128,
}

impl Amount {
    pub(crate) fn add(&mut self, other: Amount) {
        self.samples = self.samples.saturating_add(other.samples);
        self.weight = self.weight.saturating_add(other.weight);
    }
}

/// The samples of one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// The event; empty if the text does not name it.
    pub event: String,
    /// Other events with samples, which are not in `places`.
    pub other_events: Vec<String>,
    /// By place.
    pub places: BTreeMap<Sampled, Amount>,
    /// Lines that are no part of a sample.
    pub skipped: u64,
}

impl Samples {
    /// The samples in the text that `perf script` printed; without places if there are none. Memory is bounded,
    /// whatever the text. O(length).
    ///
    /// # Errors
    /// Only a failed read.
    pub fn from_perf(mut text: impl BufRead) -> io::Result<Samples> {
        let mut parser = Parser::default();
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = text
                .by_ref()
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut line)?;
            if read == 0 {
                return Ok(parser.finish());
            }
            if line.last() != Some(&b'\n') && read as u64 == LONGEST_LINE {
                skip_line(&mut text)?;
                parser.skip();
                continue;
            }
            parser.line(String::from_utf8_lossy(&line).trim_end());
        }
    }

    /// The samples in a profile of pprof, compressed by gzip or not.
    ///
    /// # Errors
    /// What is no such profile.
    pub fn from_pprof(bytes: &[u8]) -> Result<Samples, PprofProblem> {
        pprof::samples(bytes)
    }
}

fn skip_line(text: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = text.fill_buf()?;
        let (length, end) = match buffer.iter().position(|&b| b == b'\n') {
            Some(at) => (at + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        text.consume(length);
        if end {
            return Ok(());
        }
    }
}

/// Samples by event and place, in bounded memory.
#[derive(Default)]
struct Tally {
    events: BTreeMap<String, BTreeMap<Sampled, Amount>>,
    bytes: usize,
}

impl Tally {
    fn add(&mut self, event: &str, place: Sampled, amount: Amount) {
        let known = self.events.get_mut(event);
        if let Some(sum) = known.and_then(|places| places.get_mut(&place)) {
            sum.add(amount);
            return;
        }
        let file = place.line.as_ref().map_or(0, |l| l.0.len());
        let bytes = place.symbol.len() + place.image.len() + file + event.len() + BYTES_OF_PLACE;
        let fits = self.bytes + bytes <= MOST_BYTES;
        let (event, place) = if fits {
            self.bytes += bytes;
            (event, place)
        } else {
            let last = self.events.keys().next_back().map_or("", |e| e);
            let known = self.events.contains_key(event);
            (if known { event } else { last }, Sampled::default())
        };
        let places = self.events.entry(event.to_string()).or_default();
        places.entry(place).or_default().add(amount);
    }

    /// The samples of the event that stands for time; without such an event, of the one with most samples.
    fn finish(mut self, skipped: u64) -> Samples {
        let rank = |event: &str| {
            let base = base_of_event(event);
            let rank = EVENTS_OF_TIME.iter().position(|e| *e == base);
            rank.unwrap_or(EVENTS_OF_TIME.len())
        };
        let samples = |places: &BTreeMap<Sampled, Amount>| -> u64 {
            let samples = places.values().map(|a| a.samples);
            samples.fold(0, u64::saturating_add)
        };
        let best = self.events.iter();
        let best = best.min_by_key(|(e, places)| (rank(e), std::cmp::Reverse(samples(places))));
        let Some(event) = best.map(|(event, _)| event.clone()) else {
            return Samples {
                skipped,
                ..Samples::default()
            };
        };
        let mut places = self.events.remove(&event).expect("it is one of them");
        let base = base_of_event(&event);
        // Each kind of core has an event of its own: cpu_core/cycles/ and cpu_atom/cycles/.
        let (same, others): (Vec<_>, Vec<_>) = self
            .events
            .into_iter()
            .partition(|(e, _)| event.contains('/') && base_of_event(e) == base);
        for (place, amount) in same.into_iter().flat_map(|(_, places)| places) {
            places.entry(place).or_default().add(amount);
        }
        Samples {
            event: base.to_string(),
            other_events: others.into_iter().map(|(event, _)| event).collect(),
            places,
            skipped,
        }
    }
}

/// `cycles` for `cycles:u`, `cycles:P` and `cpu_core/cycles/u`; the name of a tracepoint as it is.
fn base_of_event(event: &str) -> &str {
    let event = match event.split('/').collect::<Vec<_>>()[..] {
        [_, name, _] if !name.contains('=') => name,
        _ => event,
    };
    match event.split_once(':') {
        Some((base, modifiers)) if modifiers.chars().all(|c| "ukhGHIpPSDWe".contains(c)) => base,
        _ => event,
    }
}

/// A sample in the making: its place comes with the first frame, its line with what follows that.
#[derive(Debug, Default)]
struct Pending {
    event: String,
    weight: u128,
    place: Option<Sampled>,
    /// The line of a frame that was inlined into the one whose symbol counts.
    line: Option<(String, u32)>,
    /// Whether the line of the frame just read is wanted.
    wants_line: bool,
    /// Whether frames that follow belong to it.
    has_chain: bool,
}

#[derive(Default)]
struct Parser {
    tally: Tally,
    pending: Option<Pending>,
    skipped: u64,
}

impl Parser {
    fn skip(&mut self) {
        self.skipped = self.skipped.saturating_add(1);
    }

    fn line(&mut self, line: &str) {
        if line.trim().is_empty() {
            self.flush();
        } else if line.starts_with('#') {
            // Headers of `perf script --header`.
        } else if let Some(header) = SampleHead::parse(line) {
            self.flush();
            self.start(header);
        } else if line.starts_with(char::is_whitespace) {
            self.read_indented(line);
        } else if let Some(place) = behind_fields(line) {
            self.flush();
            self.add_plain_sample(place);
        } else {
            self.flush();
            self.skip();
        }
    }

    fn start(&mut self, header: SampleHead) {
        let place = frame(header.rest).map(|(place, _)| place);
        self.pending = Some(Pending {
            event: header.event.to_string(),
            weight: header.period.max(1).into(),
            has_chain: place.is_none(),
            wants_line: place.is_some(),
            place,
            line: None,
        });
    }

    /// A sample without event and period.
    fn add_plain_sample(&mut self, place: Sampled) {
        self.pending = Some(Pending {
            weight: 1,
            place: Some(place),
            wants_line: true,
            ..Pending::default()
        });
    }

    /// A frame, the source line of one, or a sample of which only the frame is printed.
    fn read_indented(&mut self, line: &str) {
        if let Some((place, is_inlined)) = frame(line.trim_start()) {
            let continues = self.pending.as_ref().is_some_and(|p| p.has_chain);
            if continues {
                self.frame(place, is_inlined);
                return;
            }
            self.flush();
            self.add_plain_sample(place);
            // With -F ip,sym the lines of a call chain begin with tabs, under an empty line.
            if let Some(pending) = &mut self.pending {
                pending.has_chain = line.starts_with('\t');
                if is_inlined {
                    pending.place = None;
                }
            }
        } else if let Some(found) = source_line(line.trim_start()) {
            if let Some(pending) = self.pending.as_mut().filter(|p| p.wants_line) {
                pending.wants_line = false;
                pending.line = pending.line.take().or(found);
            }
        } else if let Some(place) = behind_fields(line) {
            self.flush();
            self.add_plain_sample(place);
        } else {
            self.skip();
        }
    }

    /// The sampled function is the first frame that was not inlined: the one that symbols know.
    fn frame(&mut self, place: Sampled, is_inlined: bool) {
        let pending = self.pending.as_mut().expect("a chain belongs to a sample");
        pending.wants_line = pending.place.is_none();
        if pending.place.is_none() && !is_inlined {
            pending.place = Some(place);
        }
    }

    fn flush(&mut self) {
        let Some(pending) = self.pending.take() else {
            return;
        };
        let Some(mut place) = pending.place else {
            // An event without an address, as tracepoints are without -g, tells nothing of where time goes.
            self.skip();
            return;
        };
        place.line = pending.line;
        let amount = Amount {
            samples: 1,
            weight: pending.weight,
        };
        self.tally.add(&pending.event, place, amount);
    }

    fn finish(mut self) -> Samples {
        self.flush();
        self.tally.finish(self.skipped)
    }
}

/// What stands before the address of a sample.
struct SampleHead<'a> {
    event: &'a str,
    period: u64,
    rest: &'a str,
}

impl<'a> SampleHead<'a> {
    /// `comm tid [cpu] time: period event: rest`, each part but the event perhaps missing. A command's name may have
    /// spaces and colons, so the time is looked for first.
    fn parse(line: &'a str) -> Option<SampleHead<'a>> {
        let words = || words(line);
        let timed = words().position(|(_, word)| is_time(word));
        let first = timed.map_or(0, |at| at + 1);
        let (at, word) = words().skip(first).find(|(_, word)| {
            word.ends_with(':') && word.len() > 1 && !word.starts_with('[') && !word.contains("::")
        })?;
        // A line number or a label of another tool's text is no event.
        let event = word[..word.len() - 1].trim_matches(':');
        if event.is_empty() || event.chars().all(|c| c.is_ascii_digit()) {
            return None;
        }
        let before: Vec<&str> = words().take_while(|w| w.0 < at).map(|w| w.1).collect();
        if timed.is_none() && frame(line.trim_start()).is_some() {
            return None;
        }
        let period = before.get(first..).and_then(|between| between.last());
        let period = period.filter(|_| timed.is_some() || before.len() > 1);
        Some(SampleHead {
            event,
            period: period.and_then(|p| p.parse().ok()).unwrap_or(1),
            rest: line[at + word.len()..].trim_start(),
        })
    }
}

/// The words of a line, and where they begin.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let words = line.split_whitespace();
    words.map(|word| (word.as_ptr() as usize - line.as_ptr() as usize, word))
}

/// `9254.529510:`
fn is_time(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let time = word.strip_suffix(':').and_then(|t| t.split_once('.'));
    time.is_some_and(|(seconds, rest)| digits(seconds) && digits(rest))
}

/// `ip sym+0xoff (dso)`, the offset and image perhaps missing; whether it is a function that was inlined.
fn frame(text: &str) -> Option<(Sampled, bool)> {
    let (ip, rest) = text.split_once(char::is_whitespace)?;
    let ip = ip.strip_prefix("0x").unwrap_or(ip);
    if ip.is_empty() || ip.len() > 16 || !ip.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let (mut symbol, mut image) = with_image(rest.trim());
    let is_inlined = image == "inlined";
    if is_inlined || image == "[unknown]" {
        image = "";
    }
    if let Some((name, offset)) = symbol.rsplit_once("+0x")
        && offset.bytes().all(|b| b.is_ascii_hexdigit())
    {
        symbol = name;
    }
    if symbol.is_empty() && image.is_empty() && !is_inlined {
        return None;
    }
    let symbol = if symbol == "[unknown]" { "" } else { symbol };
    let image = image.strip_suffix(" (deleted)").unwrap_or(image);
    let place = Sampled {
        symbol: symbol.to_string(),
        image: image.to_string(),
        line: None,
    };
    Some((place, is_inlined))
}

/// `sym (dso)` in its two parts. Both may hold parentheses: a symbol its parameters, an image `(deleted)`.
fn with_image(text: &str) -> (&str, &str) {
    let whole = (text, "");
    if !text.ends_with(')') {
        return whole;
    }
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let is_apart = at == 0 || text.as_bytes()[at - 1] == b' ';
            return if is_apart {
                (text[..at].trim_end(), &text[at + 1..text.len() - 1])
            } else {
                whole
            };
        }
    }
    whole
}

/// A frame behind fields of which none is an event: `comm tid ip sym (dso)`. An address has at least four digits there.
fn behind_fields(line: &str) -> Option<Sampled> {
    let is_address =
        |word: &str| (4..=16).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_hexdigit());
    let addresses = words(line).enumerate().skip(1);
    let addresses = addresses.filter(|(_, (_, word))| is_address(word));
    // A process id looks like an address as well: of such words in a row the last is the address.
    let mut found = None;
    for (i, (at, _)) in addresses {
        if found.is_some_and(|(before, _)| before + 1 != i) {
            break;
        }
        found = Some((i, at));
    }
    frame(&line[found?.1..]).map(|(place, _)| place)
}

/// `demo.c:61`, or what perf prints where it knows no line: `dso[address]`, `??:0`.
fn source_line(text: &str) -> Option<Option<(String, u32)>> {
    let text = text.split(" (discriminator").next().unwrap_or(text);
    if text.ends_with(']') && text.contains('[') {
        return Some(None);
    }
    let (file, line) = text.rsplit_once(':')?;
    if file.contains("::") {
        return None;
    }
    let is_unknown = file.is_empty() || file == "??" || line == "?" || line == "0";
    let line: Option<u32> = line.parse().ok();
    match (is_unknown, line) {
        (true, _) => Some(None),
        (false, Some(line)) => Some(Some((file.to_string(), line))),
        (false, None) => None,
    }
}

#[cfg(test)]
mod tests;
