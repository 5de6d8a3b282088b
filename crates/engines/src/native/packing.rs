//! Which robot sits in which lane of which pack.

use headland_base::Diagnostic;
use headland_sim::contact::Movers;
use headland_sim::motion::{Pack, Robot, needs, needs_ground, pack_of};
use headland_sim::tree::{Forest, Tree, widest};
use headland_sim::{Model, State};
use headland_world::{Detail, ModelAt};

/// Pack, robot, and node or column.
pub(super) type Seat = (usize, usize, usize);

/// Who moves whom: constant.
pub(super) struct Packing {
    forest: Forest,
    /// Trees that are moved together, and how deep.
    groups: Vec<(Detail, Vec<usize>)>,
    /// Pack, robot and node of every rigid; none for what no force moves.
    pub seats: Vec<Option<Seat>>,
}

impl Packing {
    pub fn of(model: &Model) -> Packing {
        let forest = Forest::of(model);
        let groups = group(model, &forest);
        let mut seat_of_tree = vec![(0, 0); forest.trees.len()];
        for (pack, (_, trees)) in groups.iter().enumerate() {
            for (robot, tree) in trees.iter().enumerate() {
                seat_of_tree[*tree] = (pack, robot);
            }
        }
        let seat = |place: &Option<(usize, usize)>| {
            place.map(|(tree, node)| {
                let (pack, robot) = seat_of_tree[tree];
                (pack, robot, node)
            })
        };
        let seats = forest.places.iter().map(seat).collect();
        Packing { forest, groups, seats }
    }

    /// A pack for every group, where a state has its robots.
    pub fn packs(&self, model: &Model, state: &State) -> Vec<Box<dyn Pack>> {
        let one = |(detail, trees): &(Detail, Vec<usize>)| {
            let robots: Vec<Robot> =
                trees.iter().map(|i| Robot::of(*i, &self.forest.trees[*i])).collect();
            let tree = &self.forest.trees[trees[0]];
            pack_of(model, tree, robots, state, *detail)
        };
        self.groups.iter().map(one).collect()
    }

    /// Who moves the bodies.
    pub fn movers(&self, model: &Model, packs: &[Box<dyn Pack>]) -> Movers {
        let bodies_of = |is_meant: &dyn Fn(&dyn Pack) -> bool| -> Vec<usize> {
            let meant = |seat: &Option<Seat>| seat.is_some_and(|(p, ..)| is_meant(&*packs[p]));
            let rigids = model.rigids.iter().zip(&self.seats).filter(|(_, seat)| meant(seat));
            rigids.flat_map(|(rigid, _)| rigid.body_idxs.iter().copied()).collect()
        };
        Movers::forces()
            .with_led(bodies_of(&|pack| !pack.gives_way()))
            .with_whole(bodies_of(&|pack| pack.gives_way() && !pack.joints_give_way()))
    }
}

/// Trees of one model and detail, at most as many together as a lane is wide.
fn group(model: &Model, forest: &Forest) -> Vec<(Detail, Vec<usize>)> {
    let widest = widest();
    let mut groups: Vec<(Detail, Vec<usize>)> = Vec::new();
    for (i, tree) in forest.trees.iter().enumerate() {
        let detail = detail_of(model, tree);
        let open = groups.iter_mut().find(|(of, trees)| {
            *of == detail && trees.len() < widest && forest.trees[trees[0]].is_same_model(tree)
        });
        match open {
            Some((_, trees)) => trees.push(i),
            None => groups.push((detail, vec![i])),
        }
    }
    groups
}

/// How deep a robot is moved. A single body is what it is at every detail.
fn detail_of(model: &Model, tree: &Tree) -> Detail {
    let named = model.world.models.iter().find(|robot| robot.name == tree.robot);
    match named.and_then(|robot| robot.detail) {
        Some(detail) if !is_single(tree) => detail,
        _ => Detail::Articulated,
    }
}

/// Whether forces move a robot, and it does not do as it is told.
pub(super) fn is_moved_by_forces(model: &Model, tree: &Tree) -> bool {
    !matches!(detail_of(model, tree), Detail::Kinematic | Detail::Vehicle)
}

/// Whether integrators of several stages move a robot by theirs: it has no way of its own.
pub(super) fn has_stages(model: &Model, tree: &Tree) -> bool {
    detail_of(model, tree) == Detail::Articulated && tree.loops.is_empty()
}

fn is_single(tree: &Tree) -> bool {
    tree.nodes.len() == 1 && tree.is_free()
}

/// What keeps robots from being moved at their details, and details that nothing comes of.
pub(super) fn check(model: &Model) -> Vec<Diagnostic> {
    let forest = Forest::of(model);
    let state = State::initial(model);
    let missing = |tree: &Tree| needs(model, &state, tree, detail_of(model, tree));
    let mut out: Vec<Diagnostic> = forest.trees.iter().flat_map(missing).collect();
    let walks = |tree: &&Tree| detail_of(model, tree) == Detail::Kinematic;
    let mut walkers: Vec<&str> =
        forest.trees.iter().filter(walks).map(|tree| tree.robot.as_str()).collect();
    walkers.dedup(); // a robot may be several trees, one after the other
    out.extend(needs_ground(model, &walkers));
    model.world.visit_models(&mut |at| {
        if let Some(why) = at.model.detail.and_then(|detail| idle(model, &forest, &at, detail)) {
            let message = format!("the detail of `{}` changes nothing: {why}", at.scope);
            out.push(
                Diagnostic::warning("idle-detail", message)
                    .help("take it away, or give it to a robot with joints"),
            );
        }
    });
    out
}

/// Why nothing comes of a detail.
fn idle(model: &Model, forest: &Forest, at: &ModelAt<'_, '_>, detail: Detail) -> Option<String> {
    let outermost = model.world.models.iter().find(|outer| std::ptr::eq(*outer, at.model));
    if outermost.is_none() {
        return Some("it is part of another model, whose detail holds".to_string());
    }
    let mut trees = forest.trees.iter().filter(|tree| tree.robot == at.model.name).peekable();
    if trees.peek().is_none() {
        return Some("no force moves it".to_string());
    }
    (detail != Detail::Articulated && trees.all(is_single))
        .then(|| "it is a single body, which moves the same at every detail".to_string())
}
