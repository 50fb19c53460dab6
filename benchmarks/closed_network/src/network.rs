//! N clients, m first-come-first-served servers, a delay on the way there and back, and waits between operations.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use iosonde_core::seed::Random;

/// What is simulated; times in seconds.
#[derive(Debug, Clone)]
pub struct Network {
    /// Clients, each with at most one operation on its way.
    pub clients: usize,
    /// Servers of the one queue.
    pub servers: usize,
    /// Mean of the exponential service time, seconds.
    pub service_s: f64,
    /// Mean delay outside of the queue, seconds, of the median client: half before the server and half behind it,
    /// each Gamma(4).
    pub delay_s: f64,
    /// Standard deviation of the logarithm of a client's own mean delay.
    pub spread: f64,
    /// What a server does, uninterruptibly, when its queue runs empty, seconds; 0: nothing.
    pub background_s: f64,
    /// Operations, the first fifth of which only warm up.
    pub operations: u64,
}

/// One measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Time spent waiting over time spent in operations.
    pub waiting_factor: f64,
    /// Sum over clients of operations over the time they took, per second.
    pub corrected_per_s: f64,
}

/// A client whose operation reaches the queue; the earliest first.
struct Arrival {
    at_s: f64,
    began_s: f64,
    client: usize,
}

impl PartialEq for Arrival {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Arrival {}
impl PartialOrd for Arrival {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Arrival {
    fn cmp(&self, other: &Self) -> Ordering {
        other.at_s.total_cmp(&self.at_s)
    }
}

/// What each client did after the warm-up.
#[derive(Debug, Clone, Copy, Default)]
struct Done {
    operations: u64,
    busy_s: f64,
}

impl Network {
    /// Measure with a waiting factor: after each operation a client waits that many times what it took.
    pub fn measure(&self, waiting_factor: f64, own_delay_s: &[f64], random: &mut Random) -> Measured {
        let done = self.run(waiting_factor, own_delay_s, random);
        let seen = done.iter().filter(|client| client.operations > 0);
        Measured {
            waiting_factor,
            corrected_per_s: seen.map(|client| client.operations as f64 / client.busy_s).sum(),
        }
    }

    /// Every client's own mean delay, seconds.
    pub fn delays_s(&self, random: &mut Random) -> Vec<f64> {
        (0..self.clients).map(|_| self.delay_s * (self.spread * random.normal()).exp()).collect()
    }

    fn run(&self, waiting_factor: f64, own_delay_s: &[f64], random: &mut Random) -> Vec<Done> {
        let mut done = vec![Done::default(); self.clients];
        let mut servers = vec![0.0_f64; self.servers];
        let mut arrivals: BinaryHeap<Arrival> = (0..self.clients)
            .map(|client| {
                let began_s = self.service_s * self.clients as f64 * random.unit();
                Arrival { at_s: began_s + half(own_delay_s[client], random), began_s, client }
            })
            .collect();
        for operation in 0..self.operations {
            let Some(mut next) = arrivals.peek_mut() else { break };
            // First come, first served: whoever arrives next gets the server that is free first.
            let free_s = servers.iter_mut().min_by(|a, b| a.total_cmp(b)).expect("at least one server");
            let start_s = next.at_s.max(self.idle_until_s(*free_s, next.at_s));
            *free_s = start_s - self.service_s * random.unit().ln();
            let delay_s = own_delay_s[next.client];
            let ended_s = *free_s + half(delay_s, random);
            let took_s = ended_s - next.began_s;
            if operation >= self.operations / 5 {
                done[next.client].operations += 1;
                done[next.client].busy_s += took_s;
            }
            next.began_s = ended_s + waiting_factor * took_s;
            next.at_s = next.began_s + half(delay_s, random);
        }
        done
    }

    /// When a server that ran empty can serve again: the work it began then is not interrupted.
    fn idle_until_s(&self, free_s: f64, arrival_s: f64) -> f64 {
        if arrival_s > free_s { free_s + self.background_s } else { free_s }
    }
}

/// Half of a delay: Gamma with shape 4.
fn half(mean_delay_s: f64, random: &mut Random) -> f64 {
    let product: f64 = (0..4).map(|_| random.unit()).product();
    -product.ln() / 4.0 * mean_delay_s / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network() -> Network {
        Network {
            clients: 1,
            servers: 1,
            service_s: 0.001,
            delay_s: 0.003,
            spread: 0.0,
            background_s: 0.0,
            operations: 400_000,
        }
    }

    fn measure(network: &Network, waiting_factor: f64) -> f64 {
        let mut random = Random::stream(5, "test");
        let delays_s = network.delays_s(&mut random);
        network.measure(waiting_factor, &delays_s, &mut random).corrected_per_s
    }

    #[test]
    fn one_client_waits_for_nobody() {
        for factor in [0.0, 1.0, 4.0] {
            let rate = measure(&network(), factor);
            assert!((rate * 0.004 - 1.0).abs() < 0.01, "{rate}");
        }
    }

    #[test]
    fn many_clients_reach_what_the_servers_can_do() {
        for servers in [1, 3] {
            let many = Network { clients: 60, servers, ..network() };
            for factor in [0.0, 1.0] {
                let rate = measure(&many, factor);
                let most = 1000.0 * servers as f64 * (1.0 + factor);
                assert!((rate / most - 1.0).abs() < 0.02, "{rate} of {most}");
            }
        }
    }

    #[test]
    fn machine_repair_has_a_known_answer() {
        // Exact for any distribution of the delay: p0 is Erlang's B with N lines and L / D erlangs.
        let five = Network { clients: 5, ..network() };
        let erlang_b = (1..=5).fold(1.0, |b, n| 3.0 * b / (f64::from(n) + 3.0 * b));
        let rate = measure(&five, 0.0);
        assert!((rate / (1000.0 * (1.0 - erlang_b)) - 1.0).abs() < 0.01, "{rate}");
    }

    #[test]
    fn work_in_idle_moments_delays_those_who_come() {
        let alone = Network { background_s: 0.05, ..network() };
        // The one client always finds the server at work that began when its last operation left.
        let rate = measure(&alone, 0.0);
        assert!((rate * 0.051 - 1.0).abs() < 0.02, "{rate}");
    }

    #[test]
    fn clients_differ_around_the_median_one() {
        let spread = Network { clients: 20_000, spread: 0.2, ..network() };
        let delays = spread.delays_s(&mut Random::stream(1, "spread"));
        let log: f64 = delays.iter().map(|delay| (delay / 0.003).ln()).sum::<f64>() / delays.len() as f64;
        let square =
            delays.iter().map(|delay| (delay / 0.003).ln().powi(2)).sum::<f64>() / delays.len() as f64;
        assert!(log.abs() < 0.005 && (square.sqrt() - 0.2).abs() < 0.005, "{log} {square}");
    }
}
