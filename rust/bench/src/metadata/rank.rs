//! One rank: its way to the storage, its data sets, and everything it does there that is not timed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;

use super::BenchError;
use super::account::Account;
use super::content::Content;
use super::parameters::{Parameters, Pattern};
use super::pattern::{Steps, Stretch};
use super::phase::{Surveyed, Work};
use super::rows::Rows;
use super::running::Running;
use super::survey::{Wanted, repair};
use crate::ranks::gauge::Gauge;
use iosonde_core::backend::faulty::{Fault, Faulty};
use iosonde_core::backend::store::{ObjectStore, SetId};
use iosonde_core::backend::{Backend, ObjectName};
use iosonde_core::clock::{Clock, Stop};
use iosonde_core::sample::Op;
use iosonde_core::seed::Random;

/// What all ranks of a process share.
#[derive(Clone)]
pub struct Common {
    /// What the run is asked to do.
    pub parameters: Arc<Parameters>,
    /// Every instant comes from it.
    pub clock: Arc<dyn Clock>,
    /// Raised when somebody wants an end.
    pub stop: Arc<Stop>,
    /// Misbehaviour to put on, counted from `origin_ns`.
    pub faults: Vec<Fault>,
    /// How many ranks this process has.
    pub here: u32,
    /// When the run began, monotonic.
    pub origin_ns: u64,
}

/// A data set that this rank has open.
pub(super) struct Open {
    pub id: SetId,
    pub backend: Box<dyn Backend>,
}

/// One rank of a run.
pub struct Rank {
    /// Its number, over all processes.
    pub number: u32,
    pub(super) common: Common,
    pub(super) store: Box<dyn ObjectStore>,
    pub(super) open: Vec<Open>,
    places: HashMap<SetId, usize>,
    pub(super) content: Content,
    pub(super) account: Account,
    pub(super) rows: Arc<Mutex<Rows>>,
    pub(super) gauge: Arc<Gauge<Account>>,
    pub(super) running: Option<Running>,
}

impl Rank {
    /// A rank with its way to the storage.
    pub fn new(
        number: u32,
        common: Common,
        store: Box<dyn ObjectStore>,
        gauge: Arc<Gauge<Account>>,
        rows: Arc<Mutex<Rows>>,
    ) -> Self {
        let content = Content::new(common.parameters.seed, common.parameters.size_bytes);
        Self {
            number,
            common,
            store,
            open: Vec::new(),
            places: HashMap::new(),
            content,
            account: Account::default(),
            rows,
            gauge,
            running: None,
        }
    }

    /// Say what cannot work before anything is done.
    pub fn check(&mut self) -> Result<(), BenchError> {
        let parameters = Arc::clone(&self.common.parameters);
        let can = self.store.capabilities();
        if !can.threads && self.common.here > 1 {
            return Err(BenchError::wrong(
                "this backend takes one rank a process",
                "-n 1: start more processes with mpirun",
            ));
        }
        parameters.check(&can)
    }

    /// Make or accept the root; the first rank of a run also holds it against other runs.
    pub fn begin(&mut self, first: bool) -> Result<(), BenchError> {
        self.ask("make a directory for the benchmark", |store| store.begin())?;
        if first {
            self.ask("hold the benchmark's directory", |store| store.lock())?;
        }
        if !self.common.parameters.manner.direct {
            return Ok(());
        }
        let size = self.common.parameters.size_bytes;
        match self.ask("try O_DIRECT", |store| store.direct_alignment())? {
            Some(alignment) if size.is_multiple_of(alignment) && size > 0 => Ok(()),
            Some(alignment) => Err(BenchError::wrong(
                format!("objects of {size} bytes cannot be written with O_DIRECT here"),
                format!(
                    "a multiple of {alignment} bytes: try --size {}",
                    size.max(1).next_multiple_of(alignment)
                ),
            )),
            None => Err(BenchError::wrong(
                "O_DIRECT is not granted here",
                "a file system that has it: try without --direct",
            )),
        }
    }

    /// The text kept at the root.
    pub fn note(&mut self) -> Result<Option<String>, BenchError> {
        self.ask("read what the kept tree says of itself", |store| store.note())
    }

    /// Keep a text at the root.
    pub fn set_note(&mut self, text: &str) -> Result<(), BenchError> {
        self.ask("write a note beside the data sets", |store| store.set_note(text))
    }

    /// Make its own data sets.
    pub fn make_sets(&mut self) -> Result<(), BenchError> {
        self.close();
        for set in self.common.parameters.own_sets(self.number) {
            self.ask("make a data set", |store| store.make_set(set))?;
        }
        Ok(())
    }

    /// Look at its own data sets and make them whole: all of P objects, or only without holes.
    pub fn survey(&mut self, full: bool) -> Result<Surveyed, BenchError> {
        let parameters = Arc::clone(&self.common.parameters);
        let most = parameters.objects;
        let wanted = if full { Wanted::Full(most) } else { Wanted::Begun(most) };
        let mut sets = Vec::new();
        for id in parameters.own_sets(self.number) {
            if !self.store.capabilities().stores {
                sets.push(super::survey::Survey { count: most, found: most, ..Default::default() });
                continue;
            }
            let numbers = self.ask("list a data set", |store| store.list_set(id))?;
            // Not the timed one: a fault put on a run is not put on its repair.
            let mut backend = self.open_plain(id)?;
            let content = &mut self.content;
            let found =
                repair(backend.as_mut(), numbers, wanted, parameters.size_bytes, |backend, object| {
                    backend.create(&ObjectName::new(object), content.of(id, object))
                });
            sets.push(found.map_err(|errno| self.refused("repair a data set", errno))?);
        }
        Ok(Surveyed { rank: self.number, sets })
    }

    /// Make ready for a phase: open what it touches, list what it deletes. Returns how many operations it has.
    pub fn load(&mut self, work: &Work, iteration: u32) -> Result<u64, BenchError> {
        let steps = match work {
            Work::Precreate => self.precreate()?,
            Work::Benchmark { ops, first } => self.benchmark(ops, first, iteration)?,
            Work::Bulk { op, counts, shift } => self.bulk(*op, counts, *shift, iteration)?,
            Work::Cleanup => self.cleanup()?,
        };
        self.account.clear();
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let planned = steps.operations();
        self.gauge.begin(planned);
        self.running = Some(Running::new(steps));
        Ok(planned)
    }

    fn precreate(&mut self) -> Result<Steps, BenchError> {
        let surveyed = self.survey(false)?;
        let objects = self.common.parameters.objects;
        let mut stretches = Vec::new();
        let ids = self.common.parameters.own_sets(self.number);
        for (id, set) in ids.into_iter().zip(surveyed.sets) {
            let stored = if self.store.capabilities().stores { set.count } else { 0 };
            let place = self.place(id)?;
            stretches.push(Stretch { set: place, from: set.first + stored, count: objects - stored });
        }
        Ok(Steps::each(Op::MdCreate, stretches, None))
    }

    fn benchmark(&mut self, ops: &[Op], first: &[u64], iteration: u32) -> Result<Steps, BenchError> {
        let parameters = Arc::clone(&self.common.parameters);
        let ops: Vec<Op> = if parameters.read_only {
            ops.iter().copied().filter(|op| matches!(op, Op::MdStat | Op::MdRead)).collect()
        } else {
            ops.to_vec()
        };
        let whole = ops.contains(&Op::MdDelete) && ops.contains(&Op::MdCreate);
        if !whole && !parameters.read_only && parameters.iterations > parameters.objects {
            let what = format!(
                "{} iterations of one operation on data sets of {} objects: there are no more",
                parameters.iterations, parameters.objects
            );
            return Err(BenchError::wrong(what, "at most as many iterations as objects"));
        }
        let number = self.number;
        let mut pools = |id: SetId| -> Result<Stretch, BenchError> {
            let at = id.rank as usize * parameters.data_sets as usize + id.set as usize;
            let from = first.get(at).copied();
            let from = from.ok_or(BenchError::Incomplete("a data set has no position"))?;
            Ok(Stretch { set: self.place(id)?, from, count: parameters.objects })
        };
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for set in 0..parameters.data_sets {
            reads.push(pools(parameters.reads_from(number, set))?);
            writes.push(pools(parameters.writes_to(number, set))?);
        }
        let random = parameters.random_order.then(|| self.random(iteration));
        Ok(Steps::cycle(&ops, reads, writes, parameters.iterations, random))
    }

    fn bulk(&mut self, op: Op, counts: &[u64], shift: u32, iteration: u32) -> Result<Steps, BenchError> {
        let parameters = Arc::clone(&self.common.parameters);
        let ranks = u64::from(parameters.ranks);
        let whose =
            ((u64::from(self.number) + u64::from(shift) * u64::from(parameters.offset)) % ranks) as u32;
        let count = counts.get(whose as usize).copied();
        let count = count.ok_or(BenchError::Incomplete("a rank has no count of objects"))?;
        let mut stretches = Vec::new();
        for set in 0..parameters.data_sets {
            let stretch = if parameters.shared {
                let place = self.place(SetId { rank: 0, set })?;
                Stretch { set: place, from: u64::from(whose) * parameters.objects, count }
            } else {
                Stretch { set: self.place(SetId { rank: whose, set })?, from: 0, count }
            };
            stretches.push(stretch);
        }
        let mut random = self.random(iteration);
        let shuffled = parameters.random_order && op != Op::MdCreate;
        Ok(Steps::each(op, stretches, shuffled.then_some(&mut random)))
    }

    /// Every set there is, shared out over the ranks; a set that vanished meanwhile needs no cleaning.
    fn cleanup(&mut self) -> Result<Steps, BenchError> {
        let parameters = Arc::clone(&self.common.parameters);
        let mut stretches = Vec::new();
        for id in self.shared_out()? {
            let mut numbers = match self.store.list_set(id) {
                Err(Errno::NOENT) => continue,
                numbers => numbers.map_err(|errno| self.refused("list a data set", errno))?,
            };
            numbers.sort_unstable();
            let set = self.place(id)?;
            for run in numbers.chunk_by(|a, b| a + 1 == *b) {
                stretches.push(Stretch { set, from: run[0], count: run.len() as u64 });
            }
        }
        if !self.store.capabilities().stores {
            for id in parameters.own_sets(self.number) {
                stretches.push(Stretch { set: self.place(id)?, from: 0, count: parameters.objects });
            }
        }
        Ok(Steps::each(Op::MdDelete, stretches, None))
    }

    fn shared_out(&mut self) -> Result<Vec<SetId>, BenchError> {
        let all = self.ask("list the data sets", |store| store.sets())?;
        let (number, ranks) = (self.number, self.common.parameters.ranks);
        let whole = self.common.parameters.shared && self.common.parameters.pattern == Pattern::Bulk;
        let mine = |id: &SetId| if whole { id.set % ranks == number } else { id.rank % ranks == number };
        Ok(all.into_iter().filter(mine).collect())
    }

    /// Remove the data sets that fall to it; they must be empty.
    pub fn remove_sets(&mut self) -> Result<(), BenchError> {
        self.close();
        for id in self.shared_out()? {
            self.ask("remove a data set", |store| store.remove_set(id))?;
        }
        Ok(())
    }

    /// Remove the root after all sets are gone.
    pub fn end(&mut self) -> Result<(), BenchError> {
        self.ask("remove the benchmark's directory", |store| store.end())
    }

    /// Sets that are removed and made again are others.
    fn close(&mut self) {
        self.running = None;
        self.places.clear();
        self.open.clear();
    }

    fn random(&self, iteration: u32) -> Random {
        Random::stream(self.common.parameters.seed, &format!("order of rank {}, {iteration}", self.number))
    }

    fn place(&mut self, id: SetId) -> Result<usize, BenchError> {
        if let Some(&place) = self.places.get(&id) {
            return Ok(place);
        }
        let backend = self.open_plain(id)?;
        let backend: Box<dyn Backend> = if self.common.faults.is_empty() {
            backend
        } else {
            let clock = Arc::clone(&self.common.clock);
            Box::new(Faulty::new(backend, clock, self.common.origin_ns, self.common.faults.clone()))
        };
        self.open.push(Open { id, backend });
        self.places.insert(id, self.open.len() - 1);
        Ok(self.open.len() - 1)
    }

    fn open_plain(&mut self, id: SetId) -> Result<Box<dyn Backend>, BenchError> {
        let manner = self.common.parameters.manner;
        let opened = self.store.open_set(id, manner);
        opened.map_err(|errno| match errno {
            Errno::NOENT => BenchError::wrong(
                "a data set is missing",
                "a tree made by an earlier precreate: run that phase first",
            ),
            errno => self.refused("open a data set", errno),
        })
    }

    fn ask<R>(
        &mut self,
        what: &str,
        call: impl FnOnce(&mut dyn ObjectStore) -> Result<R, Errno>,
    ) -> Result<R, BenchError> {
        let result = call(self.store.as_mut());
        result.map_err(|errno| self.refused(what, errno))
    }

    fn refused(&self, what: &str, errno: Errno) -> BenchError {
        BenchError::Refused { attempt: what.to_owned(), errno, problem: self.store.problem() }
    }
}
