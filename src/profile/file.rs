//! The merged profile's file (`docs/PROFILE_FORMAT.md`): a short header with length and checksum,
//! then compressed JSON of manifest and counts.

use super::Profile;
use crate::error::{Error, Result};
use crate::index::{CopyId, FuncId, PathId};
use crate::manifest::Manifest;
use crate::output::write_whole;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::path::Path;

/// What the file begins with; the last byte is the version.
pub const MAGIC: [u8; 8] = *b"p3prof\xff\x01";
/// Magic, length of the payload, checksum of the payload.
const HEADER: usize = 20;
/// No profile unpacks to more than this many times its size: deflate cannot.
const MAX_RATIO: u64 = 1100;

/// The payload.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Payload {
    files: u32,
    cut_short: u32,
    children: u32,
    missing: Vec<CopyId>,
    /// The functions that ran: id and count in turn, by ascending id.
    counts: Vec<(FuncId, Vec<u64>)>,
    /// Functions whose entries are counted, and how often they were entered.
    entries: Vec<(FuncId, u64)>,
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
            let pairs = self.counts[f.index()].iter();
            (f, pairs.flat_map(|&(id, n)| [id, n]).collect())
        };
        let entries = self.entries.iter().enumerate();
        let payload = Payload {
            files: self.files,
            cut_short: self.cut_short,
            children: self.children,
            missing: self.missing.clone(),
            counts: self.executed().map(flat).collect(),
            entries: entries
                .filter_map(|(i, n)| Some((FuncId::new(i), (*n)?)))
                .collect(),
            manifest: self.manifest.clone(),
        };
        pack(&serde_json::to_vec(&payload).expect("a profile serialises"))
    }

    /// Reads and checks `path`.
    pub fn read(path: &Path) -> Result<Profile> {
        let bytes = std::fs::read(path).map_err(|e| Error::read(path, e))?;
        let remedy = "name a profile that p3-prof merge wrote";
        Profile::parse(&bytes, path).map_err(|problem| Error::profile(path, problem, remedy))
    }

    /// Parses and checks a file's bytes; `path` is for messages.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Profile, String> {
        let payload: Payload =
            serde_json::from_slice(&unpack(bytes)?).map_err(|e| format!("damaged: {e}"))?;
        let manifest = payload.manifest;
        manifest.check().map_err(|e| format!("damaged: {e}"))?;
        let mut counts = vec![Vec::new(); manifest.functions.len()];
        for (f, flat) in payload.counts {
            let slot = counts
                .get_mut(f.index())
                .ok_or("damaged: function out of range")?;
            *slot = pairs(&flat).ok_or("damaged: counts out of order")?;
        }
        let mut entries = vec![None; manifest.functions.len()];
        for (f, n) in payload.entries {
            let slot = entries.get_mut(f.index());
            *slot.ok_or("damaged: function out of range")? = Some(n);
        }
        Ok(Profile {
            path: path.to_path_buf(),
            manifest,
            files: payload.files,
            cut_short: payload.cut_short,
            children: payload.children,
            missing: payload.missing,
            counts,
            entries,
        })
    }
}

/// Puts the header before the compressed payload.
pub(super) fn pack(json: &[u8]) -> Vec<u8> {
    let mut packer = ZlibEncoder::new(vec![0; HEADER], Compression::default());
    packer.write_all(json).expect("memory takes everything");
    let mut bytes = packer.finish().expect("memory takes everything");
    let length = (bytes.len() - HEADER) as u64;
    let crc = crc32fast::hash(&bytes[HEADER..]);
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..16].copy_from_slice(&length.to_le_bytes());
    bytes[16..20].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// The payload of a profile as JSON.
#[cfg(test)]
pub(super) fn payload(p: &Profile) -> serde_json::Value {
    serde_json::from_slice(&unpack(&p.to_bytes()).expect("just packed")).expect("JSON")
}

/// Ids ascending, counts not zero.
fn pairs(flat: &[u64]) -> Option<Vec<(PathId, u64)>> {
    let pairs: Vec<(u64, u64)> = flat.chunks_exact(2).map(|p| (p[0], p[1])).collect();
    let sound = flat.len().is_multiple_of(2)
        && pairs.windows(2).all(|w| w[0].0 < w[1].0)
        && pairs.iter().all(|p| p.1 != 0);
    sound.then_some(pairs)
}

fn unpack(bytes: &[u8]) -> Result<Vec<u8>, String> {
    if bytes.len() < HEADER || bytes[..7] != MAGIC[..7] {
        return Err("not a merged profile".into());
    }
    if bytes[7] != MAGIC[7] {
        return Err(format!(
            "profile version {} (this build: {})",
            bytes[7], MAGIC[7]
        ));
    }
    let length = u64::from_le_bytes(bytes[8..16].try_into().expect("8 bytes"));
    let crc = u32::from_le_bytes(bytes[16..20].try_into().expect("4 bytes"));
    let payload = &bytes[HEADER..];
    if length != payload.len() as u64 {
        return Err(format!(
            "damaged: {} bytes of payload instead of {length}",
            payload.len()
        ));
    }
    if crc != crc32fast::hash(payload) {
        return Err("damaged: the checksum is wrong".into());
    }
    let mut json = Vec::new();
    let unpacked = ZlibDecoder::new(payload)
        .take(length * MAX_RATIO)
        .read_to_end(&mut json);
    unpacked.map_err(|e| format!("damaged: {e}"))?;
    Ok(json)
}
