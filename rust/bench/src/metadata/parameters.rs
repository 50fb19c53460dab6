//! What a run is asked to do.

use serde::{Deserialize, Serialize};

use super::BenchError;
use iosonde_core::backend::store::{Capabilities, Manner, SetId};

/// In which order objects are touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// Each step stats, reads and deletes the oldest object of a set and creates the newest of another (md-workbench).
    #[default]
    Cycle,
    /// One op at a time for all objects (mdtest).
    Bulk,
}

/// Parameters of a run; letters as in the seed paper of md-workbench.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Parameters {
    /// N: ranks, in all processes together.
    pub ranks: u32,
    /// D: data sets made for each rank.
    pub data_sets: u32,
    /// P: objects precreated in each data set.
    pub objects: u64,
    /// I: iterations over the data sets in one benchmark phase.
    pub iterations: u64,
    /// S: bytes of an object.
    pub size_bytes: u64,
    /// O: how many ranks away from the reader the writer is; 0 = every rank has its own objects.
    pub offset: u32,
    /// Cycle or bulk.
    pub pattern: Pattern,
    /// Bulk: all ranks in one data set.
    pub shared: bool,
    /// Every rank does its operations in a random order.
    pub random_order: bool,
    /// Compare what was read with what was written.
    pub verify: bool,
    /// Cycle: neither delete nor create.
    pub read_only: bool,
    /// How objects are written and read.
    pub manner: Manner,
    /// Of contents and orders.
    pub seed: u64,
    /// Stop a rank after this many failures in a row.
    pub give_up: u32,
    /// Rows kept of each rank's phase; slow operations beyond that are kept too.
    pub rows: usize,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            ranks: 1,
            data_sets: 1,
            objects: 3_000,
            iterations: 1_000,
            size_bytes: 3_901,
            offset: 1,
            pattern: Pattern::Cycle,
            shared: false,
            random_order: false,
            verify: false,
            read_only: false,
            manner: Manner::default(),
            seed: 0,
            give_up: 100,
            rows: 0,
        }
    }
}

/// What of the parameters a kept tree was made with; a later run must agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// Layout of this text.
    pub format: u32,
    /// N.
    pub ranks: u32,
    /// D.
    pub data_sets: u32,
    /// P.
    pub objects: u64,
    /// S.
    pub size_bytes: u64,
    /// Cycle or bulk.
    pub pattern: Pattern,
    /// All ranks in one data set.
    pub shared: bool,
    /// Of contents.
    pub seed: u64,
}

impl Parameters {
    /// What a tree made by this run has to say of itself.
    pub fn kept(&self) -> Kept {
        Kept {
            format: 1,
            ranks: self.ranks,
            data_sets: self.data_sets,
            objects: self.objects,
            size_bytes: self.size_bytes,
            pattern: self.pattern,
            shared: self.shared,
            seed: self.seed,
        }
    }

    /// Say what is out of all bounds, before memory is taken for it.
    pub fn check_sizes(&self) -> Result<(), BenchError> {
        const LARGEST: u64 = 1 << 30;
        let wrong = |what: &str, expected: &str| Err(BenchError::wrong(what, expected));
        if self.ranks == 0 || self.data_sets == 0 || self.objects == 0 || self.iterations == 0 {
            return wrong("ranks, data sets, objects and iterations are counts", "each at least 1");
        }
        if self.size_bytes > LARGEST {
            return wrong(&format!("objects of {} bytes", self.size_bytes), "at most 1 GiB");
        }
        let steps = self.objects.max(self.iterations);
        if steps.checked_mul(u64::from(self.data_sets) * u64::from(self.ranks)).is_none_or(|n| n > 1 << 40) {
            return wrong("more than 10^12 objects", "fewer ranks, data sets, objects or iterations");
        }
        Ok(())
    }

    /// Say what does not fit together, before anything is touched.
    pub fn check(&self, capabilities: &Capabilities) -> Result<(), BenchError> {
        self.check_sizes()?;
        let wrong = |what: &str, expected: &str| Err(BenchError::wrong(what, expected));
        if self.pattern == Pattern::Cycle && !self.read_only && self.iterations > self.objects && self.apart()
        {
            let what = format!(
                "{} iterations on data sets of {} objects: a reader could overtake its writer",
                self.iterations, self.objects
            );
            return wrong(&what, "at most as many iterations as objects, or --offset 0");
        }
        let margin = if self.read_only { 1 } else { self.iterations + 1 };
        if self.pattern == Pattern::Cycle && self.random_order && self.objects < margin {
            let expected = format!("more objects ({}) than iterations ({})", self.objects, self.iterations);
            let what = "random order picks objects that are neither deleted nor created meanwhile";
            return wrong(what, &expected);
        }
        if self.manner.fsync && !capabilities.fsync {
            return wrong("this backend cannot force an object to stable storage", "none of --fsync");
        }
        if self.verify && !capabilities.stores {
            return wrong("this backend keeps nothing that could be verified", "none of --verify");
        }
        Ok(())
    }

    /// Whether readers and writers of a data set are different ranks.
    pub fn apart(&self) -> bool {
        (1..=self.data_sets).any(|d| (u64::from(d) * u64::from(self.offset)) % u64::from(self.ranks) != 0)
    }

    /// The data sets that a rank makes and removes.
    pub fn own_sets(&self, rank: u32) -> Vec<SetId> {
        if self.pattern == Pattern::Bulk && self.shared {
            return if rank == 0 { self.sets_of(0) } else { Vec::new() };
        }
        self.sets_of(rank)
    }

    /// The data sets of a rank.
    pub fn sets_of(&self, rank: u32) -> Vec<SetId> {
        (0..self.data_sets).map(|set| SetId { rank, set }).collect()
    }

    /// Where rank `rank` finds the old objects of set `set`.
    pub fn reads_from(&self, rank: u32, set: u32) -> SetId {
        SetId { rank: self.away(rank, set, self.ranks - self.offset % self.ranks), set }
    }

    /// Where it puts new ones.
    pub fn writes_to(&self, rank: u32, set: u32) -> SetId {
        SetId { rank: self.away(rank, set, self.offset), set }
    }

    fn away(&self, rank: u32, set: u32, by: u32) -> u32 {
        let ranks = u64::from(self.ranks);
        ((u64::from(rank) + u64::from(by) % ranks * ((u64::from(set) + 1) % ranks)) % ranks) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Capabilities =
        Capabilities { stores: true, exclusive: true, delete_tells: true, fsync: true, threads: true };

    #[test]
    fn every_set_has_one_reader_and_one_writer() {
        for (ranks, offset) in [(1, 1), (4, 1), (5, 2), (6, 3), (4, 0), (3, 7)] {
            let parameters = Parameters { ranks, offset, data_sets: 9, ..Parameters::default() };
            for set in 0..9 {
                for places in [Parameters::reads_from, Parameters::writes_to] {
                    let mut owners: Vec<u32> =
                        (0..ranks).map(|rank| places(&parameters, rank, set).rank).collect();
                    owners.sort_unstable();
                    assert!(owners.iter().copied().eq(0..ranks), "N {ranks}, O {offset}, d {set}");
                }
            }
        }
    }

    #[test]
    fn neighbours_are_as_the_paper_says() {
        let parameters = Parameters { ranks: 10, offset: 3, data_sets: 4, ..Parameters::default() };
        // (rank - O (d + 1)) mod N and (rank + O (d + 1)) mod N
        assert_eq!(parameters.reads_from(1, 1), SetId { rank: 5, set: 1 });
        assert_eq!(parameters.writes_to(8, 2), SetId { rank: 7, set: 2 });
    }

    #[test]
    fn what_does_not_fit_is_said_before_the_start() {
        let good = Parameters { ranks: 4, ..Parameters::default() };
        assert_eq!(good.check(&ALL), Ok(()));
        let cases = [
            (Parameters { ranks: 0, ..good.clone() }, "at least 1"),
            (Parameters { iterations: 3_001, ..good.clone() }, "overtake"),
            (Parameters { random_order: true, iterations: 3_000, ..good.clone() }, "random order"),
            (Parameters { size_bytes: u64::MAX, ..good.clone() }, "1 GiB"),
            (Parameters { data_sets: u32::MAX, objects: u64::MAX, ..good.clone() }, "fewer"),
        ];
        for (parameters, words) in cases {
            let error = parameters.check(&ALL).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let own = Parameters { iterations: 3_001, offset: 4, ..good.clone() };
        assert_eq!(own.check(&ALL), Ok(()), "a rank cannot overtake itself");
        let none = Capabilities {
            stores: false,
            exclusive: false,
            delete_tells: false,
            fsync: false,
            threads: true,
        };
        assert!(Parameters { verify: true, ..good.clone() }.check(&none).is_err());
        assert!(Parameters { manner: Manner { fsync: true, direct: false }, ..good }.check(&none).is_err());
    }
}
