//! What no merge writes is refused, and what a merge writes is read.

use super::*;
use crate::copies::strategy::Scheme;
use crate::paths::random_cfg::cfg;
use crate::profile::by_thread::Who;
use crate::profile::made;
use crate::profile::tests::profile;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A file with this payload, which is said to unpack to so many bytes.
fn file(payload: &[u8], unpacked: u64) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend((payload.len() as u64).to_le_bytes());
    bytes.extend(unpacked.to_le_bytes());
    bytes.extend(crc32fast::hash(payload).to_le_bytes());
    bytes.extend(payload);
    bytes
}

fn refusal(bytes: &[u8]) -> String {
    let problem = Profile::parse(bytes, Path::new("x")).unwrap_err();
    problem.to_string()
}

#[test]
fn small_files_do_not_fill_the_memory() {
    let bomb = vec![b' '; 40 << 20];
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(&bomb).unwrap();
    let packed = packer.finish().unwrap();
    assert!(packed.len() < bomb.len() / 100);
    let honest = refusal(&file(&packed, bomb.len() as u64));
    assert!(honest.contains("cannot unpack to 41943040"), "{honest}");
    assert!(refusal(&file(&packed, u64::MAX)).contains("cannot unpack to"));
    // What a header understates is not unpacked further.
    let lie = refusal(&file(&packed, 1 << 20));
    assert!(lie.contains("does not unpack to 1048576 bytes"), "{lie}");
}

/// Whatever is written can be read.
#[test]
fn payload_that_compresses_too_well_is_stored() {
    let mut p = profile(vec![(0, 1)]);
    p.verdict.unlike = vec!["x".repeat(20 << 20)];
    let bytes = p.to_bytes();
    assert!(bytes.len() > 20 << 20);
    assert!(Profile::parse(&bytes, &p.path).unwrap() == p);
}

/// No profile is compressed further than readers take, to the byte.
#[test]
fn the_ratio_that_readers_take() {
    let hash = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ i.wrapping_mul(i) >> 3;
    let mut json: Vec<u8> = (0..350_000).map(|i| (hash(hash(i)) >> 32) as u8).collect();
    json.resize(MAX_UNPACKED as usize + 1, b' ');
    let packed = |json: &[u8]| pack_at(json, Compression::default()).len() - HEADER;
    // Blanks take next to nothing: this ends where the file is as large as allowed.
    while json.len() < packed(&json) * MAX_RATIO as usize {
        let most = packed(&json) * MAX_RATIO as usize;
        json.resize(most, b' ');
    }
    let small = pack_payload(&json);
    assert!(small.len() < json.len() / 40);
    assert!(unpack_payload(&small).unwrap() == json);
    json.resize(json.len() + 500, b' ');
    let large = pack_payload(&json);
    assert!(large.len() > json.len());
    assert!(unpack_payload(&large).unwrap() == json);
}

/// The file of `p` with a change of its payload.
fn read_changed(p: &Profile, change: impl FnOnce(&mut Value)) -> Result<Profile, String> {
    let mut payload = payload(p);
    change(&mut payload);
    let parsed = Profile::parse(&pack_payload(payload.to_string().as_bytes()), &p.path);
    parsed.map_err(|problem| problem.to_string())
}

#[test]
fn payload_that_no_merge_writes_is_refused() {
    let good = profile(vec![(0, 1)]);
    let refusal = |change: fn(&mut Value)| read_changed(&good, change).unwrap_err();
    assert_eq!(read_changed(&good, |_| {}).unwrap(), good);
    let range = "damaged: copy or function out of range";
    let violation = |f: u32| json!([{"function": f, "off": 1, "what": "x"}]);
    assert!(read_changed(&good, |p| p["verdict"]["violations"] = violation(0)).is_ok());
    let beyond = read_changed(&good, |p| p["verdict"]["violations"] = violation(1));
    assert_eq!(beyond.unwrap_err(), range);
    let fewer = |p: &mut Value| drop(p["processes"].as_array_mut().unwrap().pop());
    assert_eq!(refusal(fewer), range);
    for ids in [[[9; 16], [3; 16]].concat(), vec![0; 17]] {
        let sources = read_changed(&good, |p| p["sources"] = BASE64.encode(ids).into());
        assert_eq!(sources.unwrap_err(), "damaged: sources");
    }
    let order = "damaged: counts out of order";
    for pairs in [&[0, 1, 3][..], &[3, 1, 3, 1], &[4, 1, 3, 1], &[3, 0]] {
        let pairs = read_changed(&good, |p| p["counts"] = json!([[0, pairs]]));
        assert_eq!(pairs.unwrap_err(), order);
    }
    let function = "damaged: function out of range";
    assert_eq!(refusal(|p| p["counts"] = json!([[1, [0, 1]]])), function);
    assert_eq!(refusal(|p| p["entries"] = json!([[1, 5]])), function);
}

/// Threads counted no more than all did, and in functions that there are.
#[test]
fn counts_of_threads_are_checked() {
    let mut good = profile(vec![(0, 5), (1, 2)]);
    let thread = |name: &str, counts: &[(u64, u64)]| Thread {
        who: Who::Named(name.into(), 1),
        threads: 1,
        has_others: false,
        counts: BTreeMap::from([(FuncId(0), counts.to_vec())]),
        entries: BTreeMap::new(),
    };
    good.threads = vec![thread("a", &[(0, 3)]), thread("b", &[(0, 2), (1, 1)])];
    assert_eq!(Profile::parse(&good.to_bytes(), &good.path).unwrap(), good);
    let refusal = |threads: Vec<Thread>| {
        let mut bad = good.clone();
        bad.threads = threads;
        let problem = Profile::parse(&bad.to_bytes(), &bad.path).unwrap_err();
        assert_eq!(problem.to_string(), "damaged: counts of threads");
    };
    refusal(vec![thread("a", &[(0, 3)]), thread("b", &[(0, 3)])]);
    refusal(vec![thread("a", &[(0, 0)])]);
    refusal(vec![thread("a", &[(2, 1)])]);
    let mut beyond = thread("a", &[(0, 1)]);
    beyond.entries.insert(FuncId(7), 1);
    refusal(vec![beyond]);
    let mut beyond = thread("a", &[]);
    beyond.counts.insert(FuncId(7), vec![(0, 1)]);
    refusal(vec![beyond]);
}

#[test]
fn counts_of_edges_survive() {
    let graph = cfg(&[&[1, 2], &[3], &[3], &[]]);
    let mut p = made::profile(&made::program([made::body(graph)]), Scheme::Edge, 1);
    p.measured = Measurement::Exact(Exact::Edges(ti_vec![vec![(EdgeId(1), 4), (EdgeId(3), 7)]]));
    assert_eq!(Profile::parse(&p.to_bytes(), &p.path).unwrap(), p);
    let beyond = read_changed(&p, |p| p["counts"] = json!([[0, [1u64 << 32, 7]]]));
    assert_eq!(beyond.unwrap_err(), "damaged: edge out of range");
}

#[test]
fn other_versions_are_named() {
    let mut bytes = profile(vec![(0, 1)]).to_bytes();
    bytes[7] = 1;
    assert_eq!(refusal(&bytes), "profile version 1 (this build: 9)");
    assert_eq!(refusal(&bytes[..8]), "profile version 1 (this build: 9)");
}

/// A profile of the version before has no processes without counts; nothing else is different.
#[test]
fn a_profile_of_the_version_before_is_read() {
    let good = profile(vec![(0, 1)]);
    let mut bytes = good.to_bytes();
    bytes[7] = OLDEST;
    assert_eq!(Profile::parse(&bytes, &good.path).unwrap(), good);
    let mut lost = good.clone();
    lost.processes[CopyId(0)].absent = 2;
    let read = Profile::parse(&lost.to_bytes(), &lost.path).unwrap();
    assert_eq!(read.processes[CopyId(0)].absent, 2);
}

/// Only what the header announces is read, however much there is.
#[test]
fn endless_files() {
    let error = Profile::read(Path::new("/dev/zero")).unwrap_err();
    assert!(
        error.to_string().contains("not a merged profile"),
        "{error}"
    );
}
