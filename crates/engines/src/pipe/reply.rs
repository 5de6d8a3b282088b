//! What a program answers, read strictly: every line is what was asked for, or the reason why
//! it is not. `null` is a number that went non-finite.

use headland_base::{Quat, Transform, Vec3};
use headland_sim::{Contact, Model, Motion, State};
use headland_world::Twist;
use serde::{Deserialize, Deserializer};

/// The version of the protocol; `docs/src/engine-protocol.md`.
const VERSION: u64 = 1;

/// The first line of a program.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Hello {
    headland_engine: u64,
    pub(super) name: String,
    #[serde(default)]
    pub(super) version: String,
}

/// What it makes of the world.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Started {
    /// What it realises differently from what was asked.
    #[serde(default)]
    pub(super) realised: Vec<String>,
    /// What it cannot represent.
    #[serde(default)]
    pub(super) cannot: Vec<String>,
}

/// Where everything is after a step.
#[derive(Debug, Deserialize)]
struct Stepped {
    rigids: Vec<[Number; 13]>,
    #[serde(default)]
    contacts: Vec<(usize, usize, [Number; 10])>,
    /// What the program has to say of this step.
    #[serde(default)]
    remarks: Vec<String>,
}

/// A program may say of any line that it could not.
#[derive(Deserialize)]
struct Trouble {
    error: String,
}

/// What is wrong with a line.
#[derive(Debug)]
pub(super) enum Wrong {
    /// The program says what, in its own words.
    Told(String),
    /// It is not what was asked for.
    Seen(String),
}

impl From<String> for Wrong {
    fn from(what: String) -> Wrong {
        Wrong::Seen(what)
    }
}

/// A number, or `null` for one that went non-finite.
#[derive(Clone, Copy, Debug)]
struct Number(f64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Number, D::Error> {
        Option::<f64>::deserialize(from).map(|number| Number(number.unwrap_or(f64::NAN)))
    }
}

/// The first line.
pub(super) fn hello(line: &[u8]) -> Result<Hello, Wrong> {
    let hello: Hello = parse(line, "a hello")?;
    if hello.headland_engine != VERSION {
        let theirs = hello.headland_engine;
        return Err(format!("it speaks version {theirs} of the protocol, not {VERSION}").into());
    }
    Ok(hello)
}

/// The answer to `start`.
pub(super) fn started(line: &[u8]) -> Result<Started, Wrong> {
    // Everything in it may be left out, so an error would pass for an answer.
    if let Ok(Trouble { error }) = serde_json::from_slice(line) {
        return Err(Wrong::Told(error));
    }
    parse(line, "an answer to `start`")
}

/// The answer to `step`, written into the state; its remarks.
pub(super) fn stepped(line: &[u8], model: &Model, state: &mut State) -> Result<Vec<String>, Wrong> {
    let stepped: Stepped = parse(line, "an answer to `step`")?;
    let (n, wanted) = (stepped.rigids.len(), model.rigids.len());
    if n != wanted {
        return Err(format!("it answered with {n} rigids instead of {wanted}").into());
    }
    let mut is_lost = vec![false; n];
    for (i, numbers) in stepped.rigids.iter().enumerate() {
        let [x, y, z, qw, qx, qy, qz, vx, vy, vz, wx, wy, wz] = numbers.map(|number| number.0);
        let turn = Quat::from_xyzw(qx, qy, qz, qw);
        let length = turn.length();
        if (length - 1.0).abs() > 1e-6 {
            return Err(format!("the quaternion of rigid {i} has length {length}").into());
        }
        is_lost[i] = numbers.iter().any(|number| !number.0.is_finite());
        if model.rigids[i].motion == Motion::Static {
            continue; // what stands still is not moved by rounding
        }
        let now = &mut state.rigids[i];
        now.world_from_rigid = Transform::new(turn, Vec3::new(x, y, z));
        now.twist = Twist { linear: Vec3::new(vx, vy, vz), angular: Vec3::new(wx, wy, wz) };
    }
    state.contacts.clear();
    for (i, (a, b, numbers)) in stepped.contacts.iter().enumerate() {
        let (a, b) = (*a, *b);
        if a >= b || b >= model.bodies.len() {
            return Err(format!("contact {i} is between bodies {a} and {b}").into());
        }
        let [x, y, z, nx, ny, nz, depth, fx, fy, fz] = numbers.map(|number| number.0);
        if !numbers.iter().all(|number| number.0.is_finite()) {
            // What touches a body that is lost is lost with it.
            if [a, b].iter().any(|body| is_lost[model.bodies[*body].rigid_idx]) {
                continue;
            }
            return Err(format!("contact {i} is not finite").into());
        }
        let length = Vec3::new(nx, ny, nz).length();
        if (length - 1.0).abs() > 1e-6 {
            return Err(format!("the normal of contact {i} has length {length}").into());
        }
        state.contacts.push(Contact {
            body_a: a,
            body_b: b,
            position: Vec3::new(x, y, z),
            normal: Vec3::new(nx, ny, nz),
            depth,
            force: Vec3::new(fx, fy, fz),
        });
    }
    // Points of one pair keep the engine's own order.
    state.contacts.sort_by_key(|contact| (contact.body_a, contact.body_b));
    Ok(stepped.remarks)
}

fn parse<'a, T: Deserialize<'a>>(line: &'a [u8], what: &str) -> Result<T, Wrong> {
    // A list would pass for an object with its fields in order.
    if line.trim_ascii_start().first() == Some(&b'[') {
        return Err(format!("it did not give {what}: a list is no object").into());
    }
    serde_json::from_slice(line).map_err(|error| {
        if let Ok(Trouble { error }) = serde_json::from_slice(line) {
            return Wrong::Told(error);
        }
        let text = String::from_utf8_lossy(line);
        if ["NaN", "Infinity"].iter().any(|word| text.contains(word)) {
            return format!("{what} is not JSON: NaN and Infinity are `null` there").into();
        }
        format!("it did not give {what}: {error}").into()
    })
}
