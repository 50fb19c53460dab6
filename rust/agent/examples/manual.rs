//! Write the agent's manual pages and completions below a folder: `cargo run --example manual -- build/wheel/data/share`.

#[path = "../src/options.rs"]
mod options;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate};

const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "bash-completion/completions/iosonde-agent"),
    (Shell::Zsh, "zsh/site-functions/_iosonde-agent"),
    (Shell::Fish, "fish/vendor_completions.d/iosonde-agent.fish"),
];

fn main() -> io::Result<()> {
    let Some(share) = std::env::args_os().nth(1).map(PathBuf::from) else {
        return Err(io::Error::other("expected a folder"));
    };
    let mut agent = options::Options::command();
    for (shell, file) in COMPLETIONS {
        let mut script = Vec::new();
        generate(shell, &mut agent, "iosonde-agent", &mut script);
        write(&share.join(file), &script)?;
    }
    agent.build();
    pages(&agent, "iosonde-agent", &share.join("man/man1"))
}

/// A page of the command and of each below it: iosonde-agent-config-check.1.
fn pages(command: &Command, name: &str, folder: &Path) -> io::Result<()> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).title(name.to_uppercase()).render(&mut page)?;
    write(&folder.join(format!("{name}.1")), &page)?;
    for below in command.get_subcommands().filter(|below| below.get_name() != "help") {
        pages(below, &format!("{name}-{}", below.get_name()), folder)?;
    }
    Ok(())
}

fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    fs::write(path, text)
}
