//! SDF, versions 1.4 to 1.12: read strictly, written exactly.
//!
//! ```text
//! text ─ schema: every unknown name
//!      └ world, model, link, joint, … : every malformed value ─► poses as written
//!                                                 frames ─────► poses in their scope ─► World
//! World ─ write ─► text that reads back as the same World
//! ```
//!
//! What SDF has no word for stands in our own namespace, `xmlns:headland="urn:headland:sdf"`:
//!
//! ```text
//! in world     headland:region name           pose, geometry: box, sphere, cylinder, polyline
//!              headland:contact_set           links by whole names
//! in physics   headland:native                law, integrator, surface: for our own engine
//! in model     headland:detail                kinematic | vehicle | com-fixed | com | articulated
//!              headland:actuator              name joint type(motor|position|velocity)
//!                                             gear kp kv command_range effort_range
//!                                             stall_effort no_load_speed rate
//!              headland:contact_exclude       first second: two links
//!              headland:contact_pair          first second: two links, as neighbours too
//!              headland:contact_set           links that never touch each other
//!              headland:touches               all | none | feet | links
//!              headland:foot                  link; pose, size
//!              headland:wheel                 joint radius steers_by
//!              headland:controller            type rate; parameters
//! in include   headland:detail, touches, controller: instead of what the file says
//!              headland:paint                 visual; a colour
//! in link      headland:twist                 vx vy vz wx wy wz, in the world's frame
//! on inertial  headland:derived="density"     computed from the shapes
//!              headland:default="true"        nobody gave it
//! in surface   headland:surface_type          a word
//! in axis      headland:initial_position      where it is when time starts
//! in dynamics  headland:armature              inertia of the rotor
//! anywhere     headland:foreign               format kind name: what another format said
//! ```
//!
//! Start reading at `read` below, then `world.rs`, `model.rs` and `frames.rs`.

mod auto;
mod edit;
mod frames;
mod include;
pub(crate) mod inline;
mod joint;
mod link;
mod model;
mod native;
mod paint;
mod reader;
mod schema;
mod shape;
mod siblings;
mod surface;
mod world;
mod write;

use std::path::Path;
use std::sync::Arc;

use headland_base::maths::unit_quat;
use headland_base::{Findings, Source, Transform};
use roxmltree::{Document, Node};

use crate::assets::Kept;
use crate::read::ReadOptions;
use crate::xml::Xml;
use crate::{Places, World};

pub use edit::edit;
pub use inline::{is_inside, n_numbers_of_shapes, n_numbers_of_textures, with_shapes_inside};
pub use write::write;

/// Reads a parsed document whose root is `sdf`. The world is what could be made of it;
/// it is good when the findings hold no error.
pub(crate) fn read(
    source: &Arc<Source>,
    document: &Document<'_>,
    base_dir: &Path,
    options: &ReadOptions,
    findings: &mut Findings,
) -> (World, Places) {
    let root = document.root_element();
    let own_path = Path::new(&source.path).canonicalize().unwrap_or(source.path.clone().into());
    let mut shared = reader::Shared::new(options, base_dir.to_path_buf(), own_path);
    let world = read_file(source, root, &mut shared, findings);
    (world, shared.places)
}

/// Reads the outermost file; `shared` then knows what that took.
fn read_file(
    source: &Arc<Source>,
    root: Node<'_, '_>,
    shared: &mut reader::Shared<'_>,
    findings: &mut Findings,
) -> World {
    let mut reader = reader::Reader {
        xml: Xml { source: Arc::clone(source), lenient: shared.options.lenient, findings },
        version: world::NEWEST,
        dir: shared.root_dir.clone(),
        shared,
        kept: Kept::default(),
        nesting: 0,
    };
    reader.version = reader.version_of(root);
    reader.xml.check_names(root, &schema::SDF);
    let world = reader.root(root);
    reader.note_what_was_kept();
    world
}

/// A transform whose rotation is of unit length again after a chain of products.
fn tidy(transform: Transform) -> Transform {
    let rotation = unit_quat(transform.rotation).unwrap_or_default();
    Transform::new(rotation, transform.translation)
}
