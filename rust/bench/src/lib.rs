//! What measures on request: the [`metadata`] and the [`bandwidth`] benchmark, the object stores it uses ([`backend`]), and a [`load`] of our
//! own to be slow under. The agent does not contain it.

pub mod backend;
pub mod bandwidth;
pub mod clean;
pub mod load;
pub mod metadata;
pub mod ping;
pub mod ranks;
