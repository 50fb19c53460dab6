//! Servers or exports behind one target, each probed by itself.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::options::ComponentOptions;

/// Part of a target that a plan probes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Component {
    /// Name of the part.
    pub name: String,
    /// The target it belongs to.
    pub of: String,
    /// Means that keeps files on it.
    pub pin: Pin,
}

/// Means of keeping files on a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pin {
    /// An object storage target of Lustre, by index.
    Ost(u32),
    /// A metadata target of Lustre, by index.
    Mdt(u32),
    /// A directory that lies there.
    Directory,
}

/// A component and, when it is a directory, where.
pub(super) fn component(
    options: &ComponentOptions,
    of: &str,
    target: &Path,
) -> Result<(Component, Option<PathBuf>), String> {
    let name = options.name.clone().unwrap_or_default();
    if name.is_empty() || name.contains('/') || name.chars().any(char::is_control) {
        return Err(format!(
            "target `{of}`: a component needs a name without `/`; expected for example name = \"OST0003\""
        ));
    }
    let path = options.path.as_ref();
    let pins = [options.ost.map(Pin::Ost), options.mdt.map(Pin::Mdt), path.map(|_| Pin::Directory)];
    let mut pins = pins.into_iter().flatten();
    let (Some(pin), None) = (pins.next(), pins.next()) else {
        return Err(format!("target `{of}`: component `{name}` needs exactly one of ost, mdt, path"));
    };
    if path.is_some_and(|path| path.as_os_str().is_empty()) {
        return Err(format!("target `{of}`: the path of component `{name}` is empty"));
    }
    let component = Component { name, of: of.to_owned(), pin };
    // A relative path lies under the target's.
    Ok((component, path.map(|path| target.join(path))))
}
