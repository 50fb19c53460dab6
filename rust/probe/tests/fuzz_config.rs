//! Mutated configurations: no panic, and every error says where and what.
//!
//! `IOSONDE_FUZZ_INPUTS` says how many, `IOSONDE_FUZZ_SEED` replays a run.

use iosonde_core::seed::{self, Random};
use iosonde_probe::config::Config;

const CORPUS: [&str; 5] = [
    "store = '/var/lib/iosonde'\nlisten = '127.0.0.1:9748'\nwindow = '60s'\nbaseline = '7d'\nflush = '2s'\nhost = 'é'\n\
     seed = 42\nlog = 'json'\ntextfile = '/t/x.prom'\n[keep]\ndays = 30\nsize = '20GiB'\nfree = '256MiB'\n\
     [[target]]\npath = '/work'\n",
    "[probe]\nperiod = '100ms'\nblock_size = '64KiB'\nfile_size = '1GiB'\nobject_size = 3901\npool = 64\n\
     direct = 'never'\ndeadline = '1s'\nretry = '1s'\nretry_max = '5min'\nreplacements = 2\n\
     budget = { bytes = '3MiB', ops = 8, cpu = '20ms' }\n[[target]]\npath = \"/a\"\nname = 'a'\nperiod = 2.5\n",
    "[[target]]\npath = '/n'\nbackend = 'null'\n[target.latency]\ndata_read = '5ms'\nsigma = 0.3\n\
     [[target.fault]]\nop = 'md_stat'\nafter = '1m'\nfor = '2h30m'\nerror = 'ESTALE'\n\
     [[target.fault]]\nmultiply = 2.5\n[[target.fault]]\nhang = true\n",
    "target = [{ path = '/x', component = [{ name = 'OST0003', ost = 3 }, { name = 'm', mdt = 1 }] },\n\
     { path = '/y', component = [{ name = 'e', path = '/export/a' }] }]\nprobe.budget.ops = 6\n",
    "# a comment\r\n[[target]]\r\npath = \"\"\"\r\n/mul\\u00e9ti\"\"\"\r\nperiod = 1_0\r\n",
];
const SPLINTERS: [&str; 24] = [
    "99999999999999999999",
    "-1",
    "1e308",
    "-0.0",
    "nan",
    "inf",
    "0x7fffffffffffffff",
    "9223372036854775807",
    "1979-05-27T07:32:00Z",
    "[[target]]\n",
    "[target.component]\n",
    "path = '/a'\n",
    "= ",
    "\"\"\"",
    "'''",
    "\\u0000",
    "${HOME}",
    "${",
    "\u{feff}",
    "\u{202e}",
    "\0",
    "true",
    "[]",
    "{}",
];

/// One change to a valid text.
fn mutate(text: &mut Vec<u8>, random: &mut Random) {
    let at = |random: &mut Random, text: &[u8]| random.below(text.len() as u64 + 1) as usize;
    let (a, b) = (at(random, text), at(random, text));
    let (from, to) = (a.min(b), a.max(b).min(a.min(b) + 40));
    match random.below(8) {
        0 if from < to => text[from] ^= 1 << random.below(7),
        1 => drop(text.drain(from..to)),
        2 => {
            let piece = text[from..to].to_vec();
            text.splice(a..a, piece);
        }
        3 => {
            let other = CORPUS[random.below(5) as usize].as_bytes();
            let (start, end) = (at(random, other), at(random, other));
            text.splice(a..a, other[start.min(end)..start.max(end)].iter().copied());
        }
        4 => drop(text.splice(a..a, SPLINTERS[random.below(24) as usize].bytes())),
        5 => {
            // A value becomes another one.
            let Some(equals) = text[from..].iter().position(|&byte| byte == b'=').map(|i| from + i + 1)
            else {
                return;
            };
            let end =
                text[equals..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |i| equals + i);
            drop(text.splice(equals..end, SPLINTERS[random.below(24) as usize].bytes()));
        }
        6 if random.below(20) == 0 => {
            let nest = [["[", "]"], ["{a=", "}"], ["a.", ""], ["[[", "]]"]][random.below(4) as usize];
            let depth = random.below(600) as usize;
            let nested = format!("x = {}1{}\n", nest[0].repeat(depth), nest[1].repeat(depth));
            text.splice(0..0, nested.bytes());
        }
        _ => text.insert(a, random.below(128) as u8),
    }
}

/// What must hold for any text. Says whether it was accepted.
fn holds(text: &str, input: u64, seed: u64) -> bool {
    let said = Config::from_toml(text, "fuzz.toml").and_then(|config| {
        let plans = config.plans()?;
        let shown = config.to_toml()?;
        let again = Config::from_toml(&shown, "shown.toml").and_then(|again| again.plans());
        assert_eq!(
            again.as_ref(),
            Ok(&plans),
            "seed {seed}, input {input}: shown differently\n{text}\n{shown}"
        );
        Ok(())
    });
    let Err(error) = said else { return true };
    let line = error.0.strip_prefix("fuzz.toml:").and_then(|rest| rest.split_once(": "));
    let named = line.is_some_and(|(line, what)| {
        let within =
            line.parse::<usize>().is_ok_and(|line| (1..=1 + text.matches('\n').count()).contains(&line));
        within && !what.trim().is_empty() && !what.contains('\n')
    });
    assert!(named, "seed {seed}, input {input}: {error:?}\n{text}");
    false
}

#[test]
fn mutated_files_never_panic_and_every_error_has_its_line() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number("IOSONDE_FUZZ_SEED").unwrap_or_else(seed::fresh);
    let inputs = number("IOSONDE_FUZZ_INPUTS").unwrap_or(200_000);
    println!("IOSONDE_FUZZ_SEED={seed} IOSONDE_FUZZ_INPUTS={inputs}");
    for text in CORPUS {
        Config::from_toml(text, "corpus").and_then(|config| config.plans()).unwrap();
    }
    let mut random = Random::stream(seed, "fuzz config");
    let (mut accepted, mut refused) = (0_u64, 0_u64);
    for input in 0..inputs {
        let mut text = CORPUS[random.below(5) as usize].as_bytes().to_vec();
        for _ in 0..=random.below(1 + input % 4) {
            mutate(&mut text, &mut random);
        }
        // What is not UTF-8 is refused before it is parsed.
        let Ok(text) = String::from_utf8(text) else { continue };
        *if holds(&text, input, seed) { &mut accepted } else { &mut refused } += 1;
    }
    println!("{accepted} accepted, {refused} refused");
    println!("mischief: kind=mutated-config tried={inputs} violations=0 seed={seed}");
    assert!(inputs < 1000 || (accepted > inputs / 100 && refused > inputs / 10), "the inputs say nothing");
}
