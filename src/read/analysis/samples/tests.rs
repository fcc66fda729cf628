use super::*;

fn perf(text: &str) -> Samples {
    Samples::from_perf(text.as_bytes()).unwrap()
}

/// Samples as `symbol image line: samples weight`.
fn sample_lines(samples: &Samples) -> Vec<String> {
    let place = |(p, a): (&Sampled, &Amount)| {
        let line = p.line.as_ref().map(|(file, line)| format!("{file}:{line}"));
        let line = line.unwrap_or_default();
        let Amount { samples, weight } = a;
        format!("{}|{}|{line}|{samples}|{weight}", p.symbol, p.image)
    };
    samples.places.iter().map(place).collect()
}

/// The default output without call chains; commands and images with spaces, and images that are gone.
#[test]
fn single_lines_are_samples() {
    let samples = perf(
        "# captured on: today\n\
         \x20            t x 31297  9254.529510:     250000 cpu-clock:      7fd7eef5162a handle_amd+0xa \
         (/lib/ld.so.2)\n\
         \x20            t x 31297  9254.529762:     250001 cpu-clock:  ffffffff81611b92 unmapped_area+0x12 \
         ([kernel.kallsyms])\n\
         t:1 312/313 [002]  9254.6:  7 cpu-clock:  55d7 ns::A<long>::f+0x112 (/tmp/a b (deleted))\n\
         t:1 312/313 [002]  9254.7:  5 cpu-clock:  55d9 ns::A<long>::f+0x114 (/tmp/a b (deleted))\n\
         demo 1 1.5: 9 cpu-clock:  55d7 f(int)+0x1 (/bin/demo)\n\
         demo 1 1.5: 9 cpu-clock:  55d7 [unknown] ([unknown])\n",
    );
    assert_eq!(samples.event, "cpu-clock");
    assert_eq!(samples.skipped, 0);
    assert_eq!(
        sample_lines(&samples),
        [
            "|||1|9",
            "f(int)|/bin/demo||1|9",
            "handle_amd|/lib/ld.so.2||1|250000",
            "ns::A<long>::f|/tmp/a b||2|12",
            "unmapped_area|[kernel.kallsyms]||1|250001",
        ]
    );
}

/// Of a call chain the first frame counts that was not inlined, with the line of the first of all.
#[test]
fn call_chains_are_one_sample() {
    let samples = perf(
        "t x 31323  9255.7: 10 cycles:u: \n\
         \t  15c1a f+0x58a (/bin/demo)\n  demo.c:12 (discriminator 3)\n\
         \t      0 [unknown] ([unknown])\n  ??:0\n\n\
         demo 3 9255.8: 20 cycles:u: \n\
         \t  15c1b g (inlined)\n  list.h:5\n\
         \t  15c1b f+0x58b (/bin/demo)\n  demo.c:13\n\
         \t  20000 main+0x1 (/bin/demo)\n  demo.c:99\n\n",
    );
    let expected = ["f|/bin/demo|demo.c:12|1|10", "f|/bin/demo|list.h:5|1|20"];
    assert_eq!(sample_lines(&samples), expected);
    assert_eq!((samples.skipped, &samples.event[..]), (0, "cycles"));
}

/// `-F ip,sym`, with and without `-g`; `-F comm,tid,ip,sym,dso`; and no time.
#[test]
fn fields_may_be_missing() {
    let samples = perf("     7fd7eef5162a sort\n  demo.c:61\n 55d7 main\n     7fd7eef5162b sort\n");
    assert_eq!(
        sample_lines(&samples),
        ["main|||1|1", "sort|||1|1", "sort||demo.c:61|1|1"]
    );
    let samples = perf("\n\t  15c1a sort\n\t  20 main\n\n\n\t  15c1a sort\n\t  20 main\n\n");
    assert_eq!(sample_lines(&samples), ["sort|||2|2"]);
    let samples =
        perf("demo  31297  55d7aa sort+0x3 (/bin/demo)\n   t x 31297 7fd7aa f (/lib/a.so)\n");
    let expected = ["f|/lib/a.so||1|1", "sort|/bin/demo||1|1"];
    assert_eq!(sample_lines(&samples), expected);
    let samples = perf("demo  31297  250000 cycles:P:  55d7aa sort (/bin/demo)\n");
    assert_eq!(sample_lines(&samples), ["sort|/bin/demo||1|250000"]);
    assert_eq!(samples.event, "cycles");
}

/// Instructions are no time; both kinds of cores are; without an event of time, what was sampled most.
#[test]
fn only_events_of_time_count() {
    let line =
        |event: &str, f: &str| format!("demo 1 1.5: 10 {event}:  55d7 {f}+0x1 (/bin/demo)\n");
    let both = line("instructions:u", "a").repeat(3) + &line("cycles:u", "b");
    let samples = perf(&both);
    assert_eq!(sample_lines(&samples), ["b|/bin/demo||1|10"]);
    assert_eq!(samples.other_events, ["instructions:u"]);
    let hybrid = line("cpu_core/cycles/u", "a") + &line("cpu_atom/cycles/u", "a");
    let samples = perf(&hybrid);
    assert_eq!(sample_lines(&samples), ["a|/bin/demo||2|20"]);
    assert_eq!(samples.other_events, [""; 0]);
    let neither = line("cache-misses", "a") + &line("page-faults", "b").repeat(2);
    assert_eq!(perf(&neither).event, "page-faults");
}

/// Text of something else, lines without an end, bytes that are no text, and frames without samples.
#[test]
fn bad_lines_are_skipped_and_counted() {
    for text in [
        "",
        "\n\n\n",
        "hello\nworld\n",
        "/* C */\nint x;\n",
        "))))\n((((\n",
    ] {
        let samples = perf(text);
        assert!(samples.places.is_empty(), "{text}: {samples:?}");
        let lines = text.lines().filter(|l| !l.is_empty()).count();
        assert_eq!(samples.skipped, lines as u64, "{text}");
    }
    let good = b"demo 1 1.5: 10 cycles:  55d7 f+0x1 (/bin/demo)\n";
    let mut text = vec![b'x'; 3 << 16];
    text.extend(b"\n\xff\xfe(\xc3 \xa9)\n");
    text.extend(good);
    text.extend(b"demo 1 1.5: 10 sched:sched_switch: \n\n");
    let samples = Samples::from_perf(&text[..]).unwrap();
    assert_eq!(sample_lines(&samples), ["f|/bin/demo||1|10"]);
    assert_eq!(samples.skipped, 3);
    // Every cut of a good text is read without a panic.
    let text =
        "t x 1 9.7: 10 cycles:u: \n\t  15c1a f<é>(int)+0x58a (/bin/é (deleted))\n  é.c:12\n\n"
            .as_bytes();
    for end in 0..text.len() {
        assert!(Samples::from_perf(&text[..end]).is_ok());
        assert!(Samples::from_perf(&text[end..]).is_ok());
    }
}

/// Names of places take bounded memory; no sample is lost.
#[test]
fn many_places_share_one() {
    let mut tally = Tally::default();
    let n = 4 * MOST_BYTES / LONGEST_LINE as usize;
    for i in 0..n {
        let symbol = format!("{i:065000}");
        let place = Sampled {
            symbol,
            ..Sampled::default()
        };
        let (samples, weight) = (1, 1);
        tally.add("cycles", place, Amount { samples, weight });
    }
    let samples = tally.finish(0);
    assert!(samples.places.len() < n / 3);
    let all: u64 = samples.places.values().map(|a| a.samples).sum();
    assert_eq!(all, n as u64);
}

/// A CPU profile: the physical function, the innermost line, nanoseconds as weights.
#[test]
fn profiles_of_pprof_are_samples() {
    use super::messages::*;
    use prost::Message;
    let strings = [
        "",
        "samples",
        "count",
        "cpu",
        "nanoseconds",
        "g",
        "f",
        "demo.c",
        "/bin/demo",
    ];
    let function = |id, name| Function {
        id,
        name,
        system_name: name,
        filename: 7,
        start_line: 0,
    };
    let line = |function_id, line| SourceLine { function_id, line };
    let sample = |location: u64, value: [i64; 2]| Sample {
        location_id: vec![location, 1],
        value: value.into(),
        label: vec![],
    };
    let value = |kind, unit| ValueType { kind, unit };
    let file = File {
        sample_type: vec![value(1, 2), value(3, 4)],
        sample: vec![
            sample(1, [2, 70]),
            sample(1, [1, 30]),
            sample(9, [1, 10]),
            sample(1, [1, -5]),
        ],
        mapping: vec![Mapping { id: 1, filename: 8 }],
        location: vec![Location {
            id: 1,
            mapping_id: 1,
            line: vec![line(1, 5), line(2, 12)],
        }],
        function: vec![function(1, 5), function(2, 6)],
        string_table: strings.map(String::from).into(),
        default_sample_type: 0,
    };
    let packed = |bytes: &[u8]| {
        use std::io::Write;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    };
    let bytes = packed(&file.encode_to_vec());
    let samples = Samples::from_pprof(&bytes).unwrap();
    assert_eq!(sample_lines(&samples), ["f|/bin/demo|demo.c:5|3|100"]);
    assert_eq!((samples.skipped, &samples.event[..]), (2, "cpu"));
    assert!(Samples::from_pprof(&bytes[..bytes.len() / 2]).is_err());
    assert!(Samples::from_pprof(&packed(b"hello")).is_err());
    assert!(Samples::from_pprof(&packed(&vec![0; (64 << 20) + 1])).is_err());
}
