//! Writes schema/metrics/agent.toml as constants: `pub const OPS_TOTAL: Family`.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

const SCHEMA: &str = "../../schema/metrics/agent.toml";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The only way to tell Cargo.
    #[allow(clippy::print_stdout)]
    {
        println!("cargo::rerun-if-changed={SCHEMA}");
    }
    let schema: toml::Table = fs::read_to_string(SCHEMA)?.parse()?;
    let metrics = schema["metric"].as_array().ok_or("metric: expected an array of tables")?;
    let mut code = String::new();
    for metric in metrics {
        let text = |key: &str| metric[key].as_str().ok_or_else(|| format!("{metric}: expected {key}"));
        let (name, kind, help) = (text("name")?, text("kind")?, text("description")?);
        let id = name.trim_start_matches("iosonde_").to_uppercase();
        let kind = kind[..1].to_uppercase() + &kind[1..];
        writeln!(code, "#[doc = {help:?}]")?;
        writeln!(
            code,
            "pub const {id}: Family = Family {{ name: {name:?}, kind: Kind::{kind}, help: {help:?} }};"
        )?;
    }
    fs::write(Path::new(&env::var("OUT_DIR")?).join("families.rs"), code)?;
    Ok(())
}
