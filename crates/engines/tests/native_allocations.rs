//! A step of the native engine asks for no memory, by every law and integrator: what it needs it has
//! from before. One thing that rocks on is left out, by name. A number of contacts that never was there before may make it ask
//! once more, so everything here rests, or comes back to where it was, and is watched when all that
//! happens has happened.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use common::{By, GROUND, Told, by, cart, sdf_world, shipped};
use headland_engines::native::Native;
use headland_sim::{Commands, Controller, Engine, EngineOptions, Inputs, Mode, Model, State, step};
use headland_world::{ContactLaw, Detail, Integrator, World};

/// The system's memory, and how often a thread asks for it while somebody counts.
struct Counting;

thread_local! {
    /// None while nobody counts. Without a destructor, so that asking for it asks for no memory.
    static N_ASKED: Cell<Option<u64>> = const { Cell::new(None) };
}

fn count() {
    N_ASKED.with(|n_asked| n_asked.set(n_asked.get().map(|n| n + 1)));
}

#[expect(unsafe_code, reason = "memory is handed out, by the system's own hands")]
// SAFETY: everything is done by `System`, as it was asked.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as asked of us.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as asked of us.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as asked of us.
        unsafe { System.realloc(at, layout, size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as asked of us.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static MEMORY: Counting = Counting;

const LAWS: [ContactLaw; 3] = [ContactLaw::Hard, ContactLaw::Soft, ContactLaw::SoftCoulomb];

const INTEGRATORS: [Integrator; 3] =
    [Integrator::SemiImplicit, Integrator::Rk4, Integrator::Adaptive { tolerance: Some(1e-4) }];

const N_STEPS_BEFORE: usize = 300;

const N_STEPS_COUNTED: usize = 200;

/// How often steps ask for memory once things are under way, half of them with contacts written
/// and half without; and how many contacts were written in the last of them.
fn n_asked(world: World, orders: fn(f64, &Model, &State) -> Vec<Told>) -> (u64, usize) {
    let model = Model::compile(&Arc::new(world)).expect("a world that compiles");
    let (mut engine, mut state) = (Native::default(), State::initial(&model));
    let options = EngineOptions::new(model.world.physics.step);
    engine.start(&model, &state, &options).expect("starts");
    let (mut commands, mut inputs) = (Commands::new(&model, None, None), Inputs::default());
    let (mut before, mut n_contacts) = (Vec::new(), 0);
    let mut sum = 0;
    for n in 0..N_STEPS_BEFORE + N_STEPS_COUNTED {
        commands.advance(state.time);
        By(orders).update(&model, &state, &mut commands);
        inputs.skips_contacts = n % 2 == 0;
        N_ASKED.set((n >= N_STEPS_BEFORE).then_some(0));
        commands.act(&model, &state, &mut inputs);
        step(&model, &mut engine, &inputs, options.step, &mut state, &mut before).expect("steps");
        drop(engine.take_remarks());
        sum += N_ASKED.take().unwrap_or(0);
        n_contacts = if inputs.skips_contacts { n_contacts } else { state.contacts.len() };
    }
    assert!(state.rigids.iter().all(|rigid| !rigid.is_contained), "somebody is lost");
    (sum, n_contacts)
}

fn nothing(_: f64, _: &Model, _: &State) -> Vec<Told> {
    Vec::new()
}

/// That none of these asks for any, by these laws and integrators.
fn ask_for_nothing(
    what: &str,
    world: impl Fn() -> World,
    orders: fn(f64, &Model, &State) -> Vec<Told>,
    integrators: &[Integrator],
) {
    for law in LAWS {
        for integrator in integrators {
            let what = format!("{what}, {} by {}", law.word(), integrator.word());
            let (n, n_contacts) = n_asked(by(world(), *integrator, law), orders);
            assert_eq!(n, 0, "{what}: asks, with {n_contacts} contacts");
        }
    }
}

/// The counter counts, and only while it is told to.
#[test]
fn what_is_asked_for_is_counted() {
    N_ASKED.set(Some(0));
    let made = vec![1.0_f64; 3];
    let n = N_ASKED.take();
    drop((made.clone(), vec![0_u8; 5]));
    assert_eq!((n, made.len(), N_ASKED.get()), (Some(1), 3, None));
}

/// Two players side by side, on the ground.
fn players(detail: Detail) -> World {
    let player = |name: &str, y: f64| {
        format!(
            "<include><uri>robots/player</uri><name>{name}</name><pose>0 {y} 0 0 0 0</pose></include>"
        )
    };
    let text = format!("{GROUND}{}{}", player("one", 0.0), player("two", 1.0));
    let mut world = sdf_world(&text);
    for name in ["one", "two"] {
        world.set_detail(name, detail).expect("a robot");
    }
    world
}

#[test]
fn players_that_stand_ask_for_no_memory() {
    for detail in [Detail::Articulated, Detail::Com, Detail::ComFixed, Detail::Kinematic] {
        // A step of `adaptive` on soft ground takes a hundred and forty looks.
        ask_for_nothing(detail.word(), || players(detail), nothing, &INTEGRATORS[..2]);
        let adaptive = by(players(detail), INTEGRATORS[2], ContactLaw::Hard);
        assert_eq!(n_asked(adaptive, nothing).0, 0, "{} by adaptive", detail.word());
    }
}

/// Two that do as they are told and stand one in the other, pushed apart, until the cart has what
/// it pushes against a wall: then it is taken out of that in every step.
#[test]
fn carts_that_push_ask_for_no_memory() {
    let wall = r#"<model name="wall"><static>true</static><pose>0.4 0 0.2 0 0 0</pose><link
        name="link"><collision name="c"><geometry><box><size>0.1 1 0.4</size></box></geometry>
        </collision></link></model>"#;
    let carts = || {
        let (one, two) = (cart("one", "-0.01 0 0 0 0 0"), cart("two", "0.2 0 0 0 0 0"));
        sdf_world(&format!("{GROUND}{wall}{one}{two}"))
    };
    let onwards = |_: f64, model: &Model, _: &State| -> Vec<Told> {
        (0..model.dofs.len()).map(|k| (k, Mode::Velocity, 10.0)).collect()
    };
    let (_, n_contacts) = n_asked(by(carts(), INTEGRATORS[0], ContactLaw::Hard), onwards);
    assert!(n_contacts > 1, "they press: {n_contacts} contacts");
    ask_for_nothing("carts", carts, onwards, &INTEGRATORS);
}

/// Something of 1 kg at a height.
fn thing(name: &str, at: &str, geometry: &str) -> String {
    format!(
        r#"<model name="{name}"><pose>{at}</pose><link name="link"><inertial><mass>1</mass><inertia>
        <ixx>0.002</ixx><iyy>0.002</iyy><izz>0.002</izz></inertia></inertial><collision name="c">
        <geometry>{geometry}</geometry></collision></link></model>"#
    )
}

const CUBE: &str = "<box><size>0.1 0.1 0.1</size></box>";
const BALL: &str = "<sphere><radius>0.05</radius></sphere>";
const CAPSULE: &str = "<capsule><radius>0.05</radius><length>0.1</length></capsule>";
const CYLINDER: &str = "<cylinder><radius>0.05</radius><length>0.1</length></cylinder>";
const CONE: &str = "<cone><radius>0.05</radius><length>0.1</length></cone>";
const ELLIPSOID: &str = "<ellipsoid><radii>0.08 0.07 0.05</radii></ellipsoid>";
/// An octahedron with two of its corners cut off, which stands on a square.
const HULL: &str = "<mesh><uri>inline://hull</uri><headland:vertices>\
    0.1 0 0 0 0.1 0 -0.1 0 0 0 -0.1 0 \
    0.05 0 0.05 0 0.05 0.05 -0.05 0 0.05 0 -0.05 0.05 \
    0.05 0 -0.05 0 0.05 -0.05 -0.05 0 -0.05 0 -0.05 -0.05</headland:vertices>\
    <headland:triangles>0 1 4 1 2 5 2 3 6 3 0 7 4 5 6 4 6 7 8 10 9 8 11 10 0 8 1 1 9 2 2 10 3 3 11 0\
    </headland:triangles></mesh>";

/// Everything convex, each with its name.
const THINGS: [(&str, &str); 7] = [
    ("box", CUBE),
    ("ball", BALL),
    ("capsule", CAPSULE),
    ("cylinder", CYLINDER),
    ("cone", CONE),
    ("ellipsoid", ELLIPSOID),
    ("hull", HULL),
];

/// What things lie on: a plane, a slab that itself lies on a plane, a mesh and a heightmap, which
/// are level and of several triangles.
fn grounds() -> [(&'static str, String); 4] {
    let fixed = |geometry: &str| {
        format!(
            r#"<model name="ground"><static>true</static><link name="link"><collision name="c">
            <geometry>{geometry}</geometry></collision></link></model>"#
        )
    };
    let slab = thing("slab", "0 0 -0.05 0 0 0", "<box><size>0.4 0.4 0.1</size></box>");
    let plane =
        GROUND.replace(r#"<link name="link">"#, r#"<pose>0 0 -0.1 0 0 0</pose><link name="link">"#);
    let mesh = "<mesh><uri>inline://floor</uri><headland:vertices>-1 -1 0 1 -1 0 1 1 0 -1 1 0 0.01 \
        0.02 0</headland:vertices><headland:triangles>0 1 4 1 2 4 2 3 4 3 0 4</headland:triangles>\
        </mesh>";
    let heights = format!(
        "<heightmap><uri>inline://heights</uri><size>2 2 1</size>\
         <headland:heights columns=\"9\" rows=\"9\">{}</headland:heights></heightmap>",
        "0 ".repeat(81)
    );
    [
        ("a plane", GROUND.to_string()),
        ("a slab", format!("{plane}{slab}")),
        ("a mesh", fixed(mesh)),
        ("a heightmap", fixed(&heights)),
    ]
}

/// Every convex shape on everything it may lie on.
#[test]
fn things_that_lie_ask_for_no_memory() {
    for (below, ground) in grounds() {
        for (name, geometry) in THINGS {
            // It rocks on, and asks once in 200 steps: for what has not been found.
            if (name, below) == ("ellipsoid", "a slab") {
                continue;
            }
            let world =
                || sdf_world(&format!("{ground}{}", thing(name, "0 0 0.05 0 0 0.3", geometry)));
            let what = format!("{name} on {below}");
            let (_, n_contacts) = n_asked(by(world(), INTEGRATORS[0], ContactLaw::Hard), nothing);
            assert!(n_contacts > 0, "{what}: it lies there");
            ask_for_nothing(&what, world, nothing, &INTEGRATORS[..1]);
        }
    }
}

/// A stack, which has too many contacts to be solved at once when it is new, and a linkage that is
/// closed by rows of impulses.
#[test]
fn stacks_and_loops_ask_for_no_memory() {
    for name in ["stack", "four_bar"] {
        ask_for_nothing(name, || shipped(name), nothing, &INTEGRATORS[..2]);
    }
}
