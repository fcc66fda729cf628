use super::*;
use ar_archive_writer::{
    ArchiveKind, DEFAULT_OBJECT_READER, NewArchiveMember, write_archive_to_stream,
};
use std::io::Cursor;

/// A little-endian ELF64 object with sections of these names and contents.
fn elf(sections: &[(&str, &[u8])]) -> Vec<u8> {
    const HEADER: usize = 64;
    let mut names = vec![0];
    let mut data: Vec<u8> = Vec::new();
    let mut headers = vec![[0_u64; 8]];
    for (name, bytes) in sections.iter().copied().chain([(".shstrtab", &[][..])]) {
        headers.push([
            names.len() as u64,
            1,
            0,
            0,
            (HEADER + data.len()) as u64,
            bytes.len() as u64,
            0,
            0,
        ]);
        names.extend(name.bytes().chain([0]));
        data.extend(bytes);
    }
    let last = headers.last_mut().unwrap();
    (last[1], last[4], last[5]) = (3, (HEADER + data.len()) as u64, names.len() as u64);
    data.extend(&names);
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    file.extend([1_u16, 62].iter().flat_map(|n| n.to_le_bytes()));
    file.extend(1_u32.to_le_bytes());
    file.extend(
        [0, 0, (HEADER + data.len()) as u64]
            .iter()
            .flat_map(|n| n.to_le_bytes()),
    );
    file.extend(0_u32.to_le_bytes());
    let count = headers.len() as u16;
    file.extend(
        [64, 0, 0, 64, count, count - 1]
            .iter()
            .flat_map(|n: &u16| n.to_le_bytes()),
    );
    file.extend(data);
    for [name, kind, flags, address, offset, size, link, align] in headers {
        file.extend(
            [name as u32, kind as u32]
                .iter()
                .flat_map(|n| n.to_le_bytes()),
        );
        file.extend(
            [flags, address, offset, size]
                .iter()
                .flat_map(|n| n.to_le_bytes()),
        );
        file.extend([link as u32, 0].iter().flat_map(|n| n.to_le_bytes()));
        file.extend([align, 0].iter().flat_map(|n| n.to_le_bytes()));
    }
    file
}

fn claim_container(bytes: &mut [u8]) -> bool {
    let patches = section_patches(bytes);
    for (at, new) in &patches {
        let at = *at as usize;
        bytes[at..at + new.len()].copy_from_slice(new);
    }
    !patches.is_empty()
}

#[test]
fn bitcode_that_clang_embeds_is_found() {
    let options = b"-cc1\0-O2\0";
    let mut bytes = elf(&[
        (".text", b"code"),
        (".llvmbc", b"BC"),
        (".llvmcmd", options),
    ]);
    let size = bytes.len();
    assert!(claim_container(&mut bytes));
    assert_eq!(bytes.len(), size);
    let sections = sections(&bytes).unwrap();
    let shown = sections.iter().map(|s| {
        let flags = &bytes[s.flags_at..s.flags_at + 4];
        (
            String::from_utf8_lossy(s.name),
            u32::from_le_bytes(flags.try_into().unwrap()),
        )
    });
    let expected = [
        ("", 0),
        (".text", 0),
        (CODE, SHF_EXCLUDE),
        (FLAGS, SHF_EXCLUDE),
        (".shstrtab", 0),
    ];
    assert!(shown.eq(expected.map(|(n, f)| (n.into(), f))));
    let found = extract_embedded(&bytes).unwrap();
    assert_eq!(
        (&found.bitcode[..], &found.flags[..]),
        (&b"BC"[..], &["-cc1".to_string(), "-O2".into()][..])
    );
    assert!(!claim_container(&mut bytes), "nothing is left to do");
}

#[test]
fn debug_information_is_left_to_linkers_to_drop() {
    let names = [
        ".text",
        ".debug_info",
        ".rela.debug_info",
        ".eh_frame",
        ".rel.debug_line",
    ];
    let mut bytes = elf(&names.map(|name| (name, &b"x"[..])));
    for (at, new) in debug_patches(&bytes) {
        let at = at as usize;
        bytes[at..at + new.len()].copy_from_slice(&new);
    }
    let sections = sections(&bytes).unwrap();
    let dropped = sections.iter().filter(|s| {
        let flags = &bytes[s.flags_at..s.flags_at + 4];
        u32::from_le_bytes(flags.try_into().unwrap()) == SHF_EXCLUDE
    });
    let dropped = dropped.map(|s| String::from_utf8_lossy(s.name));
    assert!(dropped.eq([".debug_info", ".rela.debug_info", ".rel.debug_line"]));
}

#[test]
fn objects_without_a_module_say_why() {
    assert_eq!(
        extract_embedded(&elf(&[(".text", b"code")])),
        Err(Without::Bitcode)
    );
    assert_eq!(
        extract_embedded(&elf(&[(CODE, b"")])),
        Err(Without::Bitcode)
    );
    let both = elf(&[(CODE, b"BCBC"), (FLAGS, b"-cc1\0-O2\0-cc1\0-O0\0")]);
    assert_eq!(extract_embedded(&both), Err(Without::OneModule));
    assert_eq!(extract_embedded(b"no object"), Err(Without::Bitcode));
}

#[test]
fn damaged_objects_are_left_alone() {
    let whole = elf(&[(".llvmbc", b"BC"), (".llvmcmd", b"-cc1\0")]);
    for length in 0..whole.len() {
        let mut part = whole[..length].to_vec();
        claim_container(&mut part);
        let _ = extract_embedded(&part);
    }
    for at in 0..whole.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] ^= flip;
            claim_container(&mut damaged);
            let _ = extract_embedded(&damaged);
        }
    }
}

#[test]
fn members_of_archives_may_share_a_name() {
    let member = |bytes: &'static [u8], name: &str| {
        NewArchiveMember::new(bytes, &DEFAULT_OBJECT_READER, name.to_string())
    };
    let long = "a-name-that-is-longer-than-the-header-has-room-for.o";
    let new = [
        member(b"one", "a.o"),
        member(b"two", long),
        member(b"three", "a.o"),
    ];
    let mut file = Cursor::new(Vec::new());
    write_archive_to_stream(&mut file, &new, ArchiveKind::Gnu, false, None).unwrap();
    let bytes = file.into_inner();
    let members = members(Path::new("lib.a"), &bytes).unwrap();
    let members = members
        .iter()
        .map(|m| (m.name.as_str(), m.bytes.as_deref().unwrap()));
    assert!(members.eq([("a.o", &b"one"[..]), (long, b"two"), ("a.o", b"three")]));
    assert!(super::members(Path::new("lib.a"), &bytes[..20]).is_err());
}
