//! Islands: blocks that reach each other through robots they share.

use headland_sim::constraint::{Block, Blocks};

use super::solving::Solver;

/// Which blocks belong together: scratch.
pub(super) struct Islands {
    /// The robot that stands for each robot's island.
    leaders: Vec<usize>,
    /// Blocks, island by island, each in the order they were opened.
    blocks: Vec<usize>,
    ends: Vec<usize>,
    /// Leader and block, in order.
    order: Vec<(usize, usize)>,
}

impl Islands {
    pub fn new(n_robots: usize) -> Islands {
        Islands {
            leaders: vec![0; n_robots],
            blocks: Vec::new(),
            ends: Vec::new(),
            order: Vec::new(),
        }
    }

    /// Finds them anew, in the order of their first blocks.
    pub fn find(&mut self, blocks: &[Block]) {
        for (i, leader) in self.leaders.iter_mut().enumerate() {
            *leader = i;
        }
        for block in blocks {
            if let [Some(a), Some(b)] = block.robots {
                let (a, b) = (self.leader(a), self.leader(b));
                self.leaders[a.max(b)] = a.min(b);
            }
        }
        let of_block = |islands: &Islands, i: usize| {
            blocks[i].robots[0].map_or(usize::MAX, |robot| islands.leader(robot))
        };
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend((0..blocks.len()).map(|i| (of_block(self, i), i)));
        order.sort_unstable();
        self.blocks.clear();
        self.ends.clear();
        for (at, (leader, block)) in order.iter().enumerate() {
            if at > 0 && order[at - 1].0 != *leader {
                self.ends.push(at);
            }
            self.blocks.push(*block);
        }
        if !order.is_empty() {
            self.ends.push(order.len());
        }
        self.order = order;
    }

    /// Gives each solver its islands: neighbours, and about as many rows as the others.
    pub fn share_out(&self, blocks: &Blocks, solvers: &mut [Solver]) {
        let rows_of = |island: usize| -> usize {
            self.blocks(island).iter().map(|block| blocks.blocks[*block].n_rows).sum()
        };
        let n_rows: usize = (0..self.n()).map(rows_of).sum();
        let (mut island, mut n_given) = (0, 0);
        let n_solvers = solvers.len();
        for (i, solver) in solvers.iter_mut().enumerate() {
            let first = island;
            let enough = n_rows * (i + 1) / n_solvers;
            while island < self.n() && (n_given < enough || i + 1 == n_solvers) {
                n_given += rows_of(island);
                island += 1;
            }
            solver.share = first..island;
        }
    }

    fn leader(&self, mut robot: usize) -> usize {
        while self.leaders[robot] != robot {
            robot = self.leaders[robot];
        }
        robot
    }

    /// How many there are.
    pub fn n(&self) -> usize {
        self.ends.len()
    }

    /// The blocks of one.
    pub fn blocks(&self, island: usize) -> &[usize] {
        let first = if island == 0 { 0 } else { self.ends[island - 1] };
        &self.blocks[first..self.ends[island]]
    }
}
