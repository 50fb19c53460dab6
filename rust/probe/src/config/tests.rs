use super::*;

fn toml(text: &str) -> Result<Vec<TargetPlan>, ConfigError> {
    Config::from_toml(text, "agent.toml")?.plans()
}

#[test]
fn defaults_are_the_published_ones() {
    let plans = toml("[[target]]\npath = '/work'").unwrap();
    let plan = &plans[0];
    assert_eq!((plan.name.as_str(), plan.period_ns), ("/work", 1_000_000_000));
    assert_eq!((plan.block_bytes, plan.object_bytes, plan.pool), (1 << 20, 3901, 1000));
}

#[test]
fn targets_override_the_defaults() {
    let plans =
        toml("[probe]\nperiod='100ms'\n[[target]]\npath='/a'\n[[target]]\npath='/b'\nperiod=2").unwrap();
    assert_eq!((plans[0].period_ns, plans[1].period_ns), (100_000_000, 2_000_000_000));
}

#[test]
fn a_plan_reaches_a_worker_unchanged() {
    let text = "[[target]]\npath='/a'\nbackend='null'\n[target.latency]\nsigma=0.5\nmd_stat='1ms'\n\
                [[target.fault]]\nop='md_stat'\nerror='ESTALE'\n[[target.fault]]\nmultiply=2.5\n\
                [[target.component]]\nname='OST0003'\nost=3\n[[target.component]]\nname='a'\npath='/export/a'\n\
                [target.budget]\nbytes='3MiB'\nops=7.5\ncpu='20ms'";
    let plans = toml(text).unwrap();
    assert_eq!(plans.len(), 2);
    for plan in plans {
        let read: TargetPlan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
        assert_eq!(read, plan);
        assert!(read.component.is_some() && read.budget.ops_per_s == Some(3.75));
        assert!(read.period_ns > read.asked_period_ns);
    }
}

#[test]
fn a_typo_gets_its_line_and_a_suggestion() {
    let error = toml("[probe]\nperod = '1s'\n").unwrap_err();
    assert_eq!(error.0, "agent.toml:2: unknown key `perod`; did you mean `period`?");
}

#[test]
fn every_wrong_number_is_refused_with_a_reason() {
    for (text, word) in [
        ("", "no target"),
        ("[[target]]\nname='x'", "no path"),
        ("[[target]]\npath='/a'\nperiod='10us'", "below 1 ms"),
        ("window='2s'\n[[target]]\npath='/a'", "at least 6"),
        ("[[target]]\npath='/a'\nblock_size=1000", "multiple of 4096"),
        ("[[target]]\npath='/a'\nfile_size=4096", "two blocks"),
        ("[[target]]\npath='/a'\npool=1", "16 to"),
        ("[[target]]\npath='/a'\ndeadline='1ms'", "at least 10 ms"),
        ("[[target]]\npath='/a'\nretry_max='1s'", "retry_max"),
        ("[[target]]\npath='/a'\nreplacements=99", "at most 16"),
        ("[[target]]\npath='/a'\n[[target]]\npath='/a'", "twice"),
        ("[[target]]\npath='/a'\n[[target]]\npath='/a/'\nname='b'", "`/a` and `b` would share one probe"),
        ("flush='1ms'\n[[target]]\npath='/a'", "10 ms to 60 s"),
        ("flush='1d'\n[[target]]\npath='/a'", "10 ms to 60 s"),
        ("[[target]]\npath='/a'\n[[target.fault]]\nhang=true\ncomponent='x'", "no component `x`"),
        ("[[target]]\npath='/a'\n[[target.fault]]\nop='data_raed'\nhang=true", "no op"),
        ("[[target]]\npath='/a'\n[[target.fault]]\nop='data_read'", "exactly one"),
        ("window='1 fortnight'", "not a duration"),
        ("window=true\n[[target]]\npath='/a'", "a number or a text"),
        ("[[target]]\npath='/a'\n[[target.fault]]\nmultiply=nan", "multiply"),
        ("[[target]]\npath='/a'\nlatency={sigma=-1}", "sigma"),
        ("textfile='/x/iosonde.txt'\n[[target]]\npath='/a'", "end in .prom"),
        ("keep={days=0}\n[[target]]\npath='/a'", "no number of days"),
        ("[[target]]\npath='/a'\nbudget={ops=0}", "above 0"),
        ("[[target]]\npath='/a'\nbudget={bytes=0}", "0 bytes"),
        ("[[target]]\npath='/a'\nbudget={cpu='1us'}", "100us"),
        ("[[target]]\npath='/a'\nbudget={ops=0.01}", "raise `budget`"),
        ("[[target]]\npath='/a'\n[[target.component]]\nost=1", "needs a name"),
        ("[[target]]\npath='/a'\n[[target.component]]\nname='x'", "exactly one of ost, mdt, path"),
        ("[[target]]\npath='/a'\n[[target.component]]\nname='x'\nost=1\nmdt=1", "exactly one of ost"),
        (
            "[[target]]\npath='/a'\n[[target.component]]\nname='x'\nost=1\n[[target.component]]\nname='x'\nost=2",
            "`/a/x` is listed twice",
        ),
    ] {
        let error = toml(text).unwrap_err();
        assert!(error.0.contains(word), "{text}: {error}");
        assert!(error.0.starts_with("agent.toml:"), "{text}: {error}");
    }
}

#[test]
fn the_path_of_a_target_may_be_shared_by_its_components_only() {
    let pinned = "[[target.component]]\nname='a'\nost=1\n[[target.component]]\nname='b'\nost=1\n";
    assert_eq!(toml(&format!("[[target]]\npath='/w'\n{pinned}")).unwrap().len(), 2);
    let apart = format!("[[target]]\npath='/w'\n{pinned}[[target]]\npath='/w'\nname='all'");
    assert_eq!(toml(&apart).unwrap().len(), 3);
    let twice = "[[target]]\npath='/w'\n[[target.component]]\nname='a'\npath='x'\n\
                 [[target.component]]\nname='b'\npath='/w/x'";
    assert!(toml(twice).unwrap_err().0.contains("in /w/x; give each a path"), "{twice}");
    let null = "[[target]]\npath='/w'\nbackend='null'\n[[target]]\npath='/w'\nname='b'";
    assert_eq!(toml(null).unwrap().len(), 2);
}

#[test]
fn a_fault_may_be_of_one_component() {
    let text = "[[target]]\npath='/w'\n[[target.component]]\nname='a'\nost=1\n[[target.component]]\nname='b'\nost=2\n\
                [[target.fault]]\nhang=true\n[[target.fault]]\ncomponent='b'\ndelay='1s'";
    let faults: Vec<usize> = toml(text).unwrap().iter().map(|plan| plan.faults.len()).collect();
    assert_eq!(faults, [1, 2]);
    let shown = Config::from_toml(text, "t").unwrap().to_toml().unwrap();
    assert_eq!(toml(&shown).unwrap(), toml(text).unwrap(), "{shown}");
}

#[test]
fn noise_never_panics() {
    let mut random = iosonde_core::seed::Random::stream(2, "config");
    let words = ["[", "]", "target", "=", "'", "\n", "path", "1s", "probe", "\u{7f}", "{", "9e9", "é"];
    for _ in 0..20_000 {
        let text: String = (0..random.below(20)).map(|_| words[random.below(13) as usize]).collect();
        let _ = toml(&text);
    }
}

#[test]
fn a_wrong_number_is_placed_where_it_was_written() {
    for (text, place) in [
        ("[probe]\npool=1\n[[target]]\npath='/a'", "agent.toml:2: "),
        ("[[target]]\npath='/a'\n\n[[target]]\npath='/b'\npool=1", "agent.toml:6: "),
        ("[[target]]\npath='/a'\n\n[[target]]\npath='/a'", "agent.toml:4: "),
        ("seed=1\n[[target]]\nname='/a'", "agent.toml:2: "),
    ] {
        let error = toml(text).unwrap_err();
        assert!(error.0.starts_with(place), "{error}");
    }
}

#[test]
fn a_budget_stretches_the_period_and_keeps_what_was_asked() {
    let plans = toml("[probe.budget]\nops=3\n[[target]]\npath='/a'\n[[target]]\npath='/b'\nbudget={ops=60}");
    let periods: Vec<_> = plans.unwrap().iter().map(|plan| (plan.period_ns, plan.asked_period_ns)).collect();
    assert_eq!(periods, [(2_000_000_000, 1_000_000_000), (1_000_000_000, 1_000_000_000)]);
}

#[test]
fn components_become_plans_of_their_own() {
    let text = "[[target]]\npath='/work'\nname='work'\n[[target.component]]\nname='OST0003'\nost=3\n\
                [[target.component]]\nname='MDT1'\nmdt=1\n[[target.component]]\nname='a'\npath='export/a'";
    let plans = toml(text).unwrap();
    let got: Vec<_> = plans.iter().map(|plan| (plan.name.as_str(), plan.path.to_str().unwrap())).collect();
    assert_eq!(got, [("work/OST0003", "/work"), ("work/MDT1", "/work"), ("work/a", "/work/export/a")]);
    let pins: Vec<_> = plans.iter().map(|plan| plan.component.clone().unwrap().pin).collect();
    assert_eq!(pins, [Pin::Ost(3), Pin::Mdt(1), Pin::Directory]);
}

/// The main file of a configuration with drop-ins, in a folder of its own that goes with it.
struct Files(PathBuf);

impl std::ops::Deref for Files {
    type Target = Path;
    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        self.0.parent().map(std::fs::remove_dir_all).transpose().unwrap();
    }
}

fn files(name: &str, files: &[(&str, &str)]) -> Files {
    let folder = std::env::temp_dir().join(format!("iosonde-config-{}-{name}", std::process::id()));
    std::fs::create_dir_all(folder.join("agent.d")).unwrap();
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
    }
    Files(folder.join("agent.toml"))
}

fn site(name: &str) -> Option<String> {
    (name == "SITE").then(|| "north".to_owned())
}

#[test]
fn drop_ins_override_merge_and_append() {
    let main = files(
        "merge",
        &[
            ("agent.toml", "window='60s'\n[probe]\nperiod='1s'\npool=99\n[[target]]\npath='/a'"),
            ("agent.d/20-b.toml", "window='30s'\nhost='${SITE}1'"),
            ("agent.d/10-a.toml", "window='10s'\n[probe]\nperiod='500ms'\n[[target]]\npath='/${SITE}'"),
            ("agent.d/.hidden.toml", "nonsense"),
            ("agent.d/README", "nonsense"),
        ],
    );
    let (config, read) = Config::from_files(&main, &site).unwrap();
    let names: Vec<_> = read.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["agent.toml", "10-a.toml", "20-b.toml"]);
    assert_eq!((config.window, config.host.as_deref()), (30_000_000_000, Some("north1")));
    let plans = config.plans().unwrap();
    let got: Vec<_> = plans.iter().map(|plan| (plan.name.as_str(), plan.period_ns, plan.pool)).collect();
    assert_eq!(got, [("/a", 500_000_000, 99), ("/north", 500_000_000, 99)]);
}

#[test]
fn a_mistake_in_a_drop_in_names_that_file_and_line() {
    for (name, text, expected) in [
        ("typo", "\n[probe]\nperod='1s'", "one.toml:3: unknown key `perod`"),
        ("syntax", "\nx = = 1", "one.toml:2: "),
        ("number", "[[target]]\npath='/b'\npool=1", "one.toml:3: target `/b`: pool"),
        ("unset", "\nhost='${NOPE}'", "one.toml:2: the environment variable `NOPE` is not set"),
    ] {
        let main = files(name, &[("agent.toml", "[[target]]\npath='/a'"), ("agent.d/one.toml", text)]);
        let error = Config::from_files(&main, &site).and_then(|(config, _)| config.plans()).unwrap_err();
        assert!(error.0.contains(expected), "{error}");
    }
    let main = files("bytes", &[("agent.toml", "")]);
    std::fs::write(main.with_extension("d").join("one.toml"), b"\n\nhost='\xff'").unwrap();
    let error = Config::from_files(&main, &site).unwrap_err();
    assert!(error.0.contains("one.toml:3: this is not UTF-8"), "{error}");
}

#[test]
fn every_problem_is_found_at_once() {
    let text = "windw='60s'\nflush=true\n[probe]\nperod='1s'\npool=1\n[[target]]\npath=5\n\
                [[target]]\npath='/b'\nblock_size=1000\n[[target.fault]]\nhang='yes'\n";
    let main = files("all", &[("agent.toml", text), ("agent.d/x.toml", "seed='many'")]);
    let problems = Config::problems(&main, &site);
    let lines: Vec<&str> = problems
        .iter()
        .map(|error| error.0.rsplit_once("/agent.").unwrap().1.split(": ").next().unwrap())
        .collect();
    let expected = ["toml:1", "toml:2", "toml:4", "toml:5", "toml:7", "toml:10", "toml:12", "d/x.toml:1"];
    assert_eq!(lines, expected, "{problems:#?}");
    assert_eq!(Config::problems(&files("none", &[("agent.toml", "[[target]]\npath='/a'")]), &site), []);
}

#[test]
fn what_is_shown_reads_back_as_the_same() {
    let text = "store='/s'\nlisten='off'\nnative_histograms=true\ntextfile='/t/x.prom'\nlog='json'\nseed=7\nwindow='90s'\n\
                keep={days=30,size='20GiB'}\n[probe]\nbudget={ops=4,cpu='20ms'}\n\
                [[target]]\npath='/a \\'\n[[target.component]]\nname='o'\nost=1\n\
                [[target]]\npath='/b'\nname=\"q\\\"\\n\"\nbackend='null'\nbudget={bytes='1MiB'}\nlatency={md_stat='1ms',sigma=0.5}\n\
                [[target.fault]]\nop='md_stat'\nafter='5s'\nfor='1m'\nerror='EIO'\n[[target.fault]]\nhang=true";
    let config = Config::from_toml(text, "t").unwrap();
    let shown = config.to_toml().unwrap();
    let again = Config::from_toml(&shown, "shown").unwrap();
    assert_eq!(again.plans().unwrap(), config.plans().unwrap(), "{shown}");
    assert_eq!(again.to_toml().unwrap(), shown);
    assert_eq!((again.keep, again.log, again.textfile), (config.keep, config.log, config.textfile));
    assert!(again.native_histograms);
    assert!(shown.contains("1s was asked for"), "{shown}");
}

#[test]
fn an_export_is_a_target_as_it_is_written() {
    let text = "[[target]]\npath='nfs://Filer:2049/a/b?mountport=7&uid=5'\n[[target]]\npath='nfs://filer/c'\nname='c'";
    let config = Config::from_toml(text, "t").unwrap();
    let plans = config.plans().unwrap();
    assert_eq!(plans[0].backend, BackendKind::Nfs);
    assert_eq!(plans[0].name, "nfs://Filer:2049/a/b");
    assert_eq!(plans[0].path, PathBuf::from("nfs://Filer:2049/a/b?mountport=7&uid=5"));
    let shown = config.to_toml().unwrap();
    assert_eq!(Config::from_toml(&shown, "shown").unwrap().plans().unwrap(), plans);
}

#[test]
fn what_is_wrong_with_an_export_is_said_at_its_line() {
    for (keys, said) in [
        ("path='nfs://filer/x?vers=4'", "t:2: `nfs://filer/x?vers=4`: no option `vers`"),
        ("path='nfs:///x'", "no address of an NFS server"),
        ("path='/x'\nbackend='nfs'", "no address of an NFS server"),
        ("path='nfs://filer/x'\nbackend='posix'", "t:3: `nfs://filer/x` is an export"),
        ("path='nfs://filer/x'\ncomponent=[{name='a',ost=1}]", "an export has no components"),
        ("path='nfs://f/x'\n[[target]]\nname='b'\npath='nfs://f/x?uid=5'", "would share one probe directory"),
    ] {
        let text = format!("[[target]]\n{keys}");
        let error = Config::from_toml(&text, "t").unwrap().plans().unwrap_err().0;
        assert!(error.contains(said), "{keys}: {error}");
    }
}

#[test]
fn what_the_agent_could_not_use_is_refused() {
    let whole = |line: &str| toml(&format!("{line}\n[[target]]\npath = '/work'")).map_err(|error| error.0);
    for address in ["", "x", "127.0.0.1", "127.0.0.1:99999", "[::1:9748", "127.0.0.1:http:1", "1.2.3:4:5"] {
        let error = whole(&format!("listen = '{address}'")).unwrap_err();
        assert!(error.starts_with("agent.toml:1: ") && error.contains("HOST:PORT"), "{address}: {error}");
    }
    for address in ["127.0.0.1:0", "[::]:9748", "0.0.0.0:1", "off", "none"] {
        whole(&format!("listen = '{address}'")).unwrap();
    }
    let folders = [
        ("", "is empty"),
        ("~", "a shell"),
        ("~/x", "a shell"),
        ("$HOME/x", "{NAME}"),
        ("s3://b", "address"),
    ];
    for (folder, why) in folders {
        let error = whole(&format!("store = '{folder}'")).unwrap_err();
        assert!(error.starts_with("agent.toml:1: store ") && error.contains(why), "{error}");
        let error = toml(&format!("[[target]]\npath = '{folder}'")).unwrap_err().0;
        assert!(error.starts_with("agent.toml:2: ") && error.contains(why), "{error}");
    }
    assert!(whole("store = '/var/lib/~x'").is_ok() && whole("store = 'here'").is_ok());
}

#[test]
fn of_very_many_targets_each_twin_is_found_at_its_line() {
    let mut text: String = (0..20_000).map(|i| format!("[[target]]\npath = '/work/{i}'\n")).collect();
    assert_eq!(toml(&text).unwrap().len(), 20_000);
    text += "[[target]]\nname = 'again'\npath = '/work/7'\n[[target]]\nname = '/work/9'\npath = '/x'\n";
    let problems = Config::from_toml(&text, "agent.toml").unwrap().every_plan().unwrap_err();
    let said: Vec<&str> = problems.iter().map(|error| error.0.as_str()).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("agent.toml:40003: targets `/work/7` and `again` would share"), "{said:?}");
    assert!(said[1].starts_with("agent.toml:40005: target `/work/9` is listed twice"), "{said:?}");
}
