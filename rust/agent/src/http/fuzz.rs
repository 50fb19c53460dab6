//! Mutated requests: no panic, the same answer however they arrive in pieces, and every answer well formed.
//!
//! `IOSONDE_FUZZ_INPUTS` says how many, `IOSONDE_FUZZ_SEED` replays a run. Sockets: `tests/fuzz_http.rs`.

use iosonde_core::seed::{self, Random};

use super::answer::{Refusal, answer, refuse};
use super::request::{Parsed, parse};
use crate::shown::Shown;

const CORPUS: [&str; 6] = [
    "GET /-/healthy HTTP/1.1\r\nHost: 127.0.0.1:9748\r\nUser-Agent: Prometheus/3.0\r\nAccept-Encoding: gzip\r\n\r\n",
    "GET /-/ready HTTP/1.0\r\n\r\n",
    "HEAD / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
    "GET /metrics?name[]=iosonde_state&x=%2e%2e%2f HTTP/1.1\nHost: b\nX-Prometheus-Scrape-Timeout-Seconds: 10\n\n",
    "POST /metrics HTTP/1.1\r\nHost: c\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello",
    "\r\n\r\nOPTIONS * HTTP/1.1\r\nHost:\r\nCookie: a=b; c=\"d\"\r\n\r\n",
];
const SPLINTERS: [&[u8]; 32] = [
    b"\0",
    b"\r",
    b"\n",
    b"\r\n",
    b"\r\n\r\n",
    b"\n\n",
    b"\r\r\n\n",
    b" ",
    b"\t",
    b"\r\n folded: yes",
    b"%",
    b"%00",
    b"%0d%0aSet-Cookie: a=b",
    b"%zz%",
    b"%c0%ae%c0%ae/",
    b"\xff\xfe",
    "\u{202e}".as_bytes(),
    b"/../../etc/passwd",
    b"//",
    b"?",
    b"#",
    b"http://elsewhere/metrics",
    b"HTTP/1.1",
    b"HTTP/2.0",
    b"HTTP/1.10",
    b"http/1.1",
    b"GET",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01",
    b"Content-Length: -1\r\n",
    b"Host: x\r\nHost: y\r\n",
    b": \r\n",
];

/// One change to a request.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let place = |random: &mut Random, bytes: &[u8]| random.below(bytes.len() as u64 + 1) as usize;
    let (a, b) = (place(random, bytes), place(random, bytes));
    let (from, to) = (a.min(b), a.max(b).min(a.min(b) + 60));
    match random.below(11) {
        0 if from < to => bytes[from] ^= 1 << random.below(8),
        1 => drop(bytes.drain(from..to)),
        2 => {
            let piece = bytes[from..to].to_vec();
            bytes.splice(a..a, piece);
        }
        // Two requests, one behind the other or one inside the other.
        3 => drop(bytes.splice(a..a, CORPUS[random.below(6) as usize].bytes())),
        4 => bytes.extend_from_slice(CORPUS[random.below(6) as usize].as_bytes()),
        5 => bytes.truncate(a),
        6 if random.below(8) == 0 => {
            // A flood of headers, behind the first line.
            let line = bytes.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |i| i + 1);
            let flood = (0..random.below(200)).flat_map(|i| format!("X-{i}: {i}\r\n").into_bytes());
            bytes.splice(line..line, flood.collect::<Vec<_>>());
        }
        7 if random.below(8) == 0 => {
            let fill = [b'/', b'a', b'%', b' ', b'\0', b':', b'\r', 0x80][random.below(8) as usize];
            bytes.splice(a..a, std::iter::repeat_n(fill, random.below(9000) as usize));
        }
        8 => bytes.insert(a, random.below(256) as u8),
        _ => drop(bytes.splice(a..a, SPLINTERS[random.below(32) as usize].iter().copied())),
    }
}

/// What must hold for any bytes, of which `cut` come first. Says what they are.
fn holds(bytes: &[u8], cut: usize, shown: &Shown, context: &str) -> Parsed {
    let whole = parse(bytes);
    let first = parse(&bytes[..cut]);
    let may_change = first == Parsed::Partial;
    assert!(may_change || first == whole, "{context}: cut at {cut} {first:?}, whole {whole:?}");
    let (said, head_only) = match &whole {
        Parsed::Partial => (refuse(Refusal::Late), false),
        Parsed::TooLong => (refuse(Refusal::TooLong), false),
        Parsed::Bad => (refuse(Refusal::Malformed), false),
        Parsed::Whole(request) => {
            let clean = request.path.chars().all(|c| !c.is_control() && c != ' ');
            assert!(clean, "{context}: the path {:?}", request.path);
            assert!(request.reads || !request.head, "{context}");
            (answer(request, shown), request.head)
        }
    };
    well_formed(&said, head_only, context);
    whole
}

/// One status line, known headers, a body as long as they say.
fn well_formed(said: &[u8], head_only: bool, context: &str) {
    let text = std::str::from_utf8(said).expect("text");
    let (head, body) = text.split_once("\r\n\r\n").expect("an end of the head");
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.strip_prefix("HTTP/1.1 ")).map(|line| &line[..4]);
    let known = ["200 ", "400 ", "404 ", "405 ", "408 ", "431 ", "503 "];
    assert!(status.is_some_and(|status| known.contains(&status)), "{context}: {head}");
    let names: Vec<&str> = lines.clone().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(
        names,
        ["Content-Type", "Content-Length", "X-Content-Type-Options", "Connection"],
        "{context}"
    );
    let length = lines.find_map(|line| line.strip_prefix("Content-Length: ")?.parse::<usize>().ok());
    let expected = if head_only { 0 } else { length.expect("a length") };
    assert_eq!(body.len(), expected, "{context}");
}

#[test]
fn mutated_requests_never_panic_and_every_answer_is_whole() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number("IOSONDE_FUZZ_SEED").unwrap_or_else(seed::fresh);
    let inputs = number("IOSONDE_FUZZ_INPUTS").unwrap_or(200_000);
    println!("IOSONDE_FUZZ_SEED={seed} IOSONDE_FUZZ_INPUTS={inputs}");
    let shown = Shown::new();
    for text in CORPUS {
        assert!(matches!(parse(text.as_bytes()), Parsed::Whole(_)), "{text}");
    }
    let mut random = Random::stream(seed, "fuzz http");
    let mut counts = [0_u64; 4];
    for input in 0..inputs {
        let mut bytes = CORPUS[random.below(6) as usize].as_bytes().to_vec();
        for _ in 0..=random.below(1 + input % 4) {
            mutate(&mut bytes, &mut random);
        }
        let cut = random.below(bytes.len() as u64 + 1) as usize;
        let kind = match holds(&bytes, cut, &shown, &format!("seed {seed}, input {input}")) {
            Parsed::Whole(_) => 0,
            Parsed::Partial => 1,
            Parsed::Bad => 2,
            Parsed::TooLong => 3,
        };
        counts[kind] += 1;
    }
    println!("{} whole, {} partial, {} bad, {} too long", counts[0], counts[1], counts[2], counts[3]);
    assert!(inputs < 10_000 || counts.iter().all(|&count| count > inputs / 1000), "the inputs say nothing");
}
