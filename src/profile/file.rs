//! The merged profile's file (`docs/PROFILE_FORMAT.md`): a short header with lengths and checksum,
//! then compressed JSON of manifest and counts.

mod problem;

pub use problem::ProfileProblem;

use super::Profile;
use super::by_thread::{Thread, are_possible};
use super::forks::{AllForked, ForkCounts, Forked, find_forked, have_counters};
use super::locate::find_merged_profile;
use super::measurement::{Exact, ExactCounts, Measurement};
use super::verdict::{Processes, Verdict};
use crate::base::error::{Error, Result};
use crate::base::index::{CopyId, EdgeId, FuncId, PathId, TiVec, ti_vec};
use crate::copies::strategy::Measure;
use crate::estimates::data::{Estimated, Saved, SavedBursts, SavedSample};
use crate::profile::manifest::{Manifest, NotBuilt};
use crate::runtime::format::MAGIC as RAW_MAGIC;
use crate::write::output::{Content, Mark, write_whole};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use problem::ProfileProblem::Contradiction;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// What the file begins with; the last byte is the version.
pub const MAGIC: [u8; 8] = *b"p3prof\xff\x09";
/// The oldest version that is read: it has no `absent` of processes, and like 7 nothing of threads; 8 does not tell
/// them apart.
const OLDEST: u8 = 6;
/// The first version that has `forked`.
const WITH_FORKED: u8 = 8;
/// A merged profile where results are written: recognised by its magic, of whatever version.
pub const CONTENT: Content = Content::binary(Mark::Start(b"p3prof\xff"));
/// Magic, length of the payload, its length when unpacked, its checksum.
const HEADER: usize = 28;
/// A payload may unpack to this many bytes, or to [`MAX_RATIO`] times its size: deflate would allow 1000 times,
/// which no profile needs and which a small hostile file could fill the memory with.
const MAX_UNPACKED: u64 = 16 << 20;
/// So many times its size a payload may unpack to, if that is more than [`MAX_UNPACKED`].
const MAX_RATIO: u64 = 50;

/// The payload.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Payload {
    processes: TiVec<CopyId, Processes>,
    /// In base64, 16 bytes each.
    sources: String,
    verdict: Verdict,
    /// The functions that ran: id and count in turn, by ascending id.
    counts: Vec<(FuncId, Vec<u64>)>,
    /// Functions whose entries are counted, and how often they were entered.
    entries: Vec<(FuncId, u64)>,
    /// Functions that may have been under way when a process forked.
    #[serde(default, skip_serializing_if = "AllForked::is_empty")]
    forked: AllForked,
    /// What children did in functions that call `fork`, by counter.
    #[serde(default, skip_serializing_if = "ForkCounts::is_empty")]
    forks: ForkCounts,
    /// What each thread counted but the first ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    threads: Vec<Thread>,
    /// Functions that a process may have been in when it was killed, without having counted it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    under_way: BTreeSet<FuncId>,
    /// Of sampled subpaths, everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sample: Option<SavedSample>,
    /// Of bursts, everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bursts: Option<SavedBursts>,
    manifest: Manifest,
}

impl Profile {
    /// Writes the profile by rename: whole or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        let bytes = self.to_bytes();
        write_whole(path, &bytes)
    }

    /// The file's bytes: the same profile gives the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let flat = |f: FuncId| {
            let pairs = match &self.measured {
                Measurement::Exact(Exact::Paths(counts)) => flatten_pairs(&counts[f], |id| id.0),
                Measurement::Exact(Exact::Edges(counts)) => {
                    flatten_pairs(&counts[f], |e| u64::from(e.0))
                }
                Measurement::Estimated(_) => Vec::new(),
            };
            (f, pairs)
        };
        let Saved { sample, bursts } = match &self.measured {
            Measurement::Exact(_) => Saved::default(),
            Measurement::Estimated(estimated) => estimated.to_saved(),
        };
        let entries = self.entries.iter_enumerated();
        let payload = Payload {
            processes: self.processes.clone(),
            sources: BASE64.encode(self.sources.as_flattened()),
            verdict: self.verdict.clone(),
            counts: self.executed_functions().map(flat).collect(),
            entries: entries.filter_map(|(f, n)| Some((f, (*n)?))).collect(),
            forked: self.forked.clone(),
            forks: self.forks.clone(),
            threads: self.threads.clone(),
            under_way: self.under_way.clone(),
            sample,
            bursts,
            manifest: self.manifest.clone(),
        };
        pack_payload(&serde_json::to_vec(&payload).expect("a profile serialises"))
    }

    /// Reads and checks `path`, as far as its header says; of an output folder the profile in it.
    pub fn read(path: &Path) -> Result<Profile> {
        let path = &find_merged_profile(path)?;
        let bytes = read_declared(path).map_err(|e| Error::read(path, e))?;
        Profile::parse(&bytes, path).map_err(|problem| {
            let remedy = match problem {
                ProfileProblem::NotBuilt(_) => NotBuilt::REMEDY,
                _ => remedy(&bytes),
            };
            Error::profile(path, problem, remedy)
        })
    }

    /// Parses and checks a file's bytes; `path` is for messages.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Profile, ProfileProblem> {
        let payload: Result<Payload, _> = serde_json::from_slice(&unpack_payload(bytes)?);
        let payload = payload.map_err(ProfileProblem::NotOfSchema)?;
        let mut manifest = payload.manifest;
        NotBuilt::refuse_unbuilt(manifest.scheme)?;
        manifest.check()?;
        manifest.normalise_files();
        // Whatever follows indexes by what the file says: a damaged one is an error here, and no panic there.
        let known = |f: FuncId| f.index() < manifest.functions.len();
        let mut violations = payload.verdict.violations.iter();
        if payload.processes.len() != manifest.copies as usize
            || !violations.all(|v| known(v.function))
        {
            return Err(Contradiction("copy or function out of range"));
        }
        let sources = parse_sources(&payload.sources).ok_or(Contradiction("sources"))?;
        let functions = manifest.functions.len();
        let measured = match manifest.scheme.strategy().measure {
            Measure::Paths => Measurement::Exact(Exact::Paths(unflatten_counts(
                &payload.counts,
                functions,
                |id| Some(PathId(id)),
            )?)),
            Measure::Edges => Measurement::Exact(Exact::Edges(unflatten_counts(
                &payload.counts,
                functions,
                edge_from_number,
            )?)),
            Measure::Estimated(kind) => {
                let saved = Saved {
                    sample: payload.sample,
                    bursts: payload.bursts,
                };
                let estimated = Estimated::read(kind, saved, manifest.size());
                Measurement::Estimated(estimated.map_err(Contradiction)?)
            }
        };
        let mut entries = ti_vec![None; manifest.functions.len()];
        for (f, n) in payload.entries {
            let slot = entries.get_mut(f);
            *slot.ok_or(Contradiction("function out of range"))? = Some(n);
        }
        let is_block = |(f, of_f): (&FuncId, &Forked)| {
            let entry = manifest.functions.get(*f);
            entry.is_some_and(|e| of_f.blocks.iter().all(|b| b.index() < e.succs.len()))
        };
        if !have_counters(&manifest, &payload.forks) {
            return Err(Contradiction("counter of forked children out of range"));
        }
        if !payload.under_way.iter().all(|f| known(*f)) {
            return Err(Contradiction("function under way out of range"));
        }
        if !payload.forked.iter().all(is_block) {
            return Err(Contradiction("forked block out of range"));
        }
        let mut profile = Profile {
            path: path.to_path_buf(),
            manifest,
            processes: payload.processes,
            sources,
            verdict: payload.verdict,
            measured,
            entries,
            forked: payload.forked,
            forks: payload.forks,
            threads: payload.threads,
            under_way: payload.under_way,
        };
        if !are_possible(&profile) {
            return Err(Contradiction("counts of threads"));
        }
        // Files of earlier versions store no forked functions: which ones they are follows from the manifest.
        if bytes[7] < WITH_FORKED {
            profile.forked = find_forked(&profile);
        }
        Ok(profile)
    }
}

/// What to do about a merged profile that is refused.
fn remedy(bytes: &[u8]) -> &'static str {
    let current = MAGIC[7];
    let version = bytes.get(..8).filter(|b| b[..7] == MAGIC[..7]);
    // What is read is not refused for its age.
    let refused = version.filter(|b| !(OLDEST..=current).contains(&b[7]));
    let version = refused.map_or(current, |b| b[7]);
    let damage = if is_raw(bytes) {
        "it is a raw one: merge those of all copies first (p3-prof merge -m OUTDIR -o FILE OUTDIR)"
    } else {
        "name a profile that p3-prof merge wrote"
    };
    let older = "merge its raw profiles again (p3-prof merge -m manifest.json RAW), which says so if they are too old, \
                 too";
    crate::base::error::remedy(version.into(), current.into(), damage, older)
}

/// Whether bytes are those of a raw profile, of whatever version.
fn is_raw(bytes: &[u8]) -> bool {
    let magic = RAW_MAGIC.to_le_bytes();
    bytes.get(1..8) == Some(&magic[1..])
}

/// Whether `path` is a merged profile, of whatever version.
pub fn is_one(path: &Path) -> bool {
    let mut start = [0; 7];
    let read = File::open(path).and_then(|mut f| f.read_exact(&mut start));
    read.is_ok() && start == MAGIC[..7]
}

/// The bytes of a file: no more than its header (if it has one) says, and one to show that there are more.
fn read_declared(path: &Path) -> io::Result<Vec<u8>> {
    let (file, mut bytes) = (File::open(path)?, Vec::new());
    let mut start = file.take(HEADER as u64);
    start.read_to_end(&mut bytes)?;
    if let Ok(header) = PayloadHeader::parse(&bytes) {
        let rest = start.into_inner();
        rest.take(header.length.saturating_add(1))
            .read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Puts the header before the payload, compressed unless that makes it smaller than readers take.
pub(super) fn pack_payload(json: &[u8]) -> Vec<u8> {
    let compressed = pack_at(json, Compression::default());
    if unpacks_to((compressed.len() - HEADER) as u64, json.len() as u64) {
        compressed
    } else {
        pack_at(json, Compression::none())
    }
}

fn pack_at(json: &[u8], level: Compression) -> Vec<u8> {
    let mut packer = ZlibEncoder::new(vec![0; HEADER], level);
    packer.write_all(json).expect("memory takes everything");
    let mut bytes = packer.finish().expect("memory takes everything");
    let length = (bytes.len() - HEADER) as u64;
    let crc = crc32fast::hash(&bytes[HEADER..]);
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..16].copy_from_slice(&length.to_le_bytes());
    bytes[16..24].copy_from_slice(&(json.len() as u64).to_le_bytes());
    bytes[24..28].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// Whether a payload of so many bytes may unpack to so many.
fn unpacks_to(packed: u64, unpacked: u64) -> bool {
    unpacked <= MAX_UNPACKED.max(packed.saturating_mul(MAX_RATIO))
}

/// The payload of a profile as JSON.
#[cfg(test)]
pub(super) fn payload(p: &Profile) -> serde_json::Value {
    serde_json::from_slice(&unpack_payload(&p.to_bytes()).expect("just packed")).expect("JSON")
}

/// Ascending.
fn parse_sources(text: &str) -> Option<Vec<[u8; 16]>> {
    let bytes = BASE64.decode(text).ok()?;
    let (sources, rest) = bytes.as_chunks::<16>();
    (rest.is_empty() && sources.is_sorted()).then(|| sources.to_vec())
}

/// Id and count in turn.
fn flatten_pairs<Id: Copy>(pairs: &[(Id, u64)], number: impl Fn(Id) -> u64) -> Vec<u64> {
    let pairs = pairs.iter();
    pairs.flat_map(|&(id, n)| [number(id), n]).collect()
}

/// By function: what is counted, of which `id` makes ids.
fn unflatten_counts<Id: Clone>(
    ran: &[(FuncId, Vec<u64>)],
    functions: usize,
    id: impl Fn(u64) -> Option<Id>,
) -> Result<ExactCounts<Id>, ProfileProblem> {
    let mut counts = ti_vec![Vec::new(); functions];
    for (f, flat) in ran {
        let slot = counts.get_mut(*f);
        let slot = slot.ok_or(Contradiction("function out of range"))?;
        let pairs = pairs_of_flat(flat).ok_or(Contradiction("counts out of order"))?;
        let typed = pairs.into_iter().map(|(number, n)| Some((id(number)?, n)));
        *slot = typed
            .collect::<Option<_>>()
            .ok_or(Contradiction("edge out of range"))?;
    }
    Ok(counts)
}

fn edge_from_number(id: u64) -> Option<EdgeId> {
    Some(EdgeId(u32::try_from(id).ok()?))
}

/// Ids ascending, counts not zero.
fn pairs_of_flat(flat: &[u64]) -> Option<Vec<(u64, u64)>> {
    let pairs: Vec<(u64, u64)> = flat.chunks_exact(2).map(|p| (p[0], p[1])).collect();
    let sound = flat.len().is_multiple_of(2)
        && pairs.windows(2).all(|w| w[0].0 < w[1].0)
        && pairs.iter().all(|p| p.1 != 0);
    sound.then_some(pairs)
}

/// What stands before the payload.
struct PayloadHeader {
    length: u64,
    unpacked: u64,
    crc: u32,
}

impl PayloadHeader {
    fn parse(bytes: &[u8]) -> Result<PayloadHeader, ProfileProblem> {
        if bytes.len() < MAGIC.len() || bytes[..7] != MAGIC[..7] {
            return Err(ProfileProblem::NotMerged);
        }
        if !(OLDEST..=MAGIC[7]).contains(&bytes[7]) {
            return Err(ProfileProblem::OtherVersion(bytes[7]));
        }
        let header = bytes.get(..HEADER).ok_or(ProfileProblem::CutHeader)?;
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("8 bytes"));
        Ok(PayloadHeader {
            length: word(8),
            unpacked: word(16),
            crc: u32::from_le_bytes(header[24..28].try_into().expect("4 bytes")),
        })
    }
}

fn unpack_payload(bytes: &[u8]) -> Result<Vec<u8>, ProfileProblem> {
    let header = PayloadHeader::parse(bytes)?;
    let (length, unpacked) = (header.length, header.unpacked);
    let payload = &bytes[HEADER..];
    if length < payload.len() as u64 {
        return Err(ProfileProblem::Longer(length));
    }
    if length > payload.len() as u64 {
        return Err(ProfileProblem::Shorter {
            length: payload.len(),
            expected: length,
        });
    }
    if header.crc != crc32fast::hash(payload) {
        return Err(ProfileProblem::Checksum);
    }
    if !unpacks_to(length, unpacked) {
        return Err(ProfileProblem::TooDense {
            packed: length,
            unpacked,
        });
    }
    let mut json = Vec::new();
    let read = ZlibDecoder::new(payload)
        .take(unpacked.saturating_add(1))
        .read_to_end(&mut json);
    read.map_err(ProfileProblem::NotCompressed)?;
    if json.len() as u64 != unpacked {
        return Err(ProfileProblem::OtherSize(unpacked));
    }
    Ok(json)
}

#[cfg(test)]
mod tests;
