//! The pool of an export: what its directory holds, and pools of other file sizes.

use iosonde_core::backend::ObjectName;
use iosonde_nfs::connection::Connection;
use iosonde_nfs::error::NfsError;
use rustix::io::Errno;

use super::place::ExportPlace;
use crate::config::TargetPlan;
use crate::probe::ProbeError;
use crate::probe::files::pool::{Found, SUSPECTS, directory_name};

/// List the pool; the newest files are checked for their size.
pub fn look(place: &mut ExportPlace, pool: &[u8], object_bytes: u64) -> Result<Found, ProbeError> {
    let names = place.call(|connection, _| connection.list(pool))?;
    let mut found = Found::default();
    for name in &names {
        match ObjectName::parse(name.as_bytes()) {
            Some(id) => found.ids.push(id),
            None => found.strangers += 1,
        }
    }
    found.ids.sort_unstable();
    let suspects = found.ids.split_off(found.ids.len().saturating_sub(SUSPECTS));
    for id in suspects {
        let name = format!("{id:016x}");
        let (_, file) = place.call(|connection, _| connection.look(pool, &name))?;
        let whole = !file.directory && file.size == object_bytes;
        if whole { found.ids.push(id) } else { found.broken.push(id) }
    }
    Ok(found)
}

/// Remove pools of other file sizes: only files named as ours, then the directory if that emptied it.
pub fn remove_others(place: &mut ExportPlace, plan: &TargetPlan) -> Result<(), ProbeError> {
    let own = directory_name(plan);
    let names = place.call(Connection::list)?;
    for name in names.iter().filter(|name| name.starts_with("pool-") && **name != own) {
        let (pool, _) = place.existing(name)?;
        let files = place.call(|connection, _| connection.list(&pool))?;
        for file in files.iter().filter(|file| ObjectName::parse(file.as_bytes()).is_some()) {
            place.call(|connection, _| gone(connection.remove(&pool, file)))?;
        }
        let removed = place.try_call(|connection, directory| connection.remove_directory(directory, name));
        if let Err(error) = gone(removed)
            && !matches!(error.errno(), Errno::NOTEMPTY | Errno::EXIST)
        {
            return Err(place.error(&error));
        }
    }
    Ok(())
}

fn gone(result: Result<(), NfsError>) -> Result<(), NfsError> {
    match result {
        Err(error) if error.errno() == Errno::NOENT => Ok(()),
        result => result,
    }
}
