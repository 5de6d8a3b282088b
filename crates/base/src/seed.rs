//! One door for chance: a seed that is split by name.
//!
//! `seed.child("lidar")` depends on the parent and the name alone, so a new sensor, a
//! new robot or another order of construction shifts nobody else's numbers.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use sha2::{Digest, Sha256};

/// A source of seeds and of random streams.
///
/// 256 bits and not 64: a campaign splits one seed millions of times, and two children
/// that collide would silently be one experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    /// The seed a person types.
    pub fn new(number: u64) -> Seed {
        Seed(
            Sha256::new()
                .chain_update(b"headland seed")
                .chain_update(number.to_le_bytes())
                .finalize()
                .into(),
        )
    }

    /// The seed of a named part. `a.child("b").child("c")` and `a.child("bc")` differ,
    /// because each level hashes the whole of its parent.
    pub fn child(&self, name: &str) -> Seed {
        Seed(Sha256::new().chain_update(self.0).chain_update(name.as_bytes()).finalize().into())
    }

    /// A fresh stream of random numbers, the same one every time it is asked for.
    pub fn rng(&self) -> ChaCha8Rng {
        ChaCha8Rng::from_seed(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::rand_core::Rng;

    #[test]
    fn a_sibling_shifts_nobodys_numbers() {
        let seed = Seed::new(7);
        let alone = seed.child("lidar").rng().next_u64();
        seed.child("camera").rng().next_u64();
        assert_eq!(seed.child("lidar").rng().next_u64(), alone);
    }

    #[test]
    fn names_and_numbers_and_depth_all_matter() {
        let seeds = [
            Seed::new(0),
            Seed::new(1),
            Seed::new(0).child("a"),
            Seed::new(0).child("ab"),
            Seed::new(0).child("a").child("b"),
            Seed::new(1).child("a"),
        ];
        for (i, a) in seeds.iter().enumerate() {
            assert!(seeds[i + 1..].iter().all(|b| a != b), "seed {i} repeats");
        }
    }

    /// The stream is part of the promise "same seed, same bytes": an update of a
    /// dependency that changes it must not pass unseen.
    #[test]
    fn the_stream_is_pinned() {
        assert_eq!(Seed::new(42).child("terrain").rng().next_u64(), PINNED);
    }
    const PINNED: u64 = 683_083_925_100_738_147;
}
