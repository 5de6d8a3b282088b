//! Contacts: what overlaps becomes ODE's contact joints before a step, and after it the
//! house's one form, with the forces ODE gave them.

use std::ffi::{c_int, c_void};

use headland_base::Vec3;
use headland_sim::{Contact, TouchFilter};

use super::ffi::{self, Api, Feedback, Handle, mode};
use super::realise::{self, MOST_CONTACTS, Settings};
use super::shapes::{Missing, Touch};

/// Everything a near callback needs; its address is what ODE carries around.
pub(super) struct Contacts {
    api: &'static Api,
    world: Handle,
    /// The contact joints of one step.
    group: Handle,
    touches: Vec<Touch>,
    missing: Missing,
    filter: TouchFilter,
    settings: Settings,
    dt: f64,
    found: Vec<Found>,
    /// One per contact found; ODE writes here during a step.
    feedbacks: Vec<Feedback>,
    buffer: Box<[ffi::Contact; MOST_CONTACTS]>,
}

/// A contact joint with what we say of it.
struct Found {
    joint: Handle,
    contact: Contact,
    /// Whether ODE's first body, of whose force it tells, is our `body_b`.
    tells_b: bool,
}

impl Contacts {
    pub(super) fn new(
        api: &'static Api,
        world: Handle,
        group: Handle,
        touches: Vec<Touch>,
        missing: Missing,
        filter: TouchFilter,
        settings: Settings,
    ) -> Contacts {
        Contacts {
            api,
            world,
            group,
            touches,
            missing,
            filter,
            settings,
            dt: 0.0,
            found: Vec::new(),
            feedbacks: Vec::new(),
            buffer: Box::new([ffi::Contact::EMPTY; MOST_CONTACTS]),
        }
    }

    pub(super) fn touches(&self) -> &[Touch] {
        &self.touches
    }

    /// Finds what touches and has ODE keep it apart in the next step.
    pub(super) unsafe fn find(&mut self, space: Handle, dt: f64) {
        self.dt = dt;
        self.found.clear();
        let api = self.api;
        // SAFETY: `near` is given back the address of this value, which nobody else uses
        // meanwhile. The list of feedbacks is not touched again before the step is over.
        unsafe {
            (api.dSpaceCollide)(space, std::ptr::from_mut(self).cast(), near);
            self.feedbacks.clear();
            self.feedbacks.resize(self.found.len(), Feedback::default());
            for (found, feedback) in self.found.iter().zip(&mut self.feedbacks) {
                (api.dJointSetFeedback)(found.joint, feedback);
            }
        }
    }

    /// Reads what the step made of them.
    pub(super) fn read(&self, out: &mut Vec<Contact>) {
        out.clear();
        for (found, feedback) in self.found.iter().zip(&self.feedbacks) {
            let force = vec3(&feedback.force1);
            let force = if found.tells_b { force } else { -force };
            out.push(Contact { force, ..found.contact });
        }
        // Points of one pair keep ODE's order, which is the same in every run.
        out.sort_by_key(|contact| (contact.body_a, contact.body_b));
    }

    /// Lets ODE forget them.
    pub(super) unsafe fn forget(&mut self) {
        // SAFETY: the group is ours; its joints are used no more.
        unsafe { (self.api.dJointGroupEmpty)(self.group) };
    }

    unsafe fn collide(&mut self, first: Handle, second: Handle) {
        let api = self.api;
        // SAFETY: every shape of the space carries its number.
        let (i, j) =
            unsafe { ((api.dGeomGetData)(first) as usize, (api.dGeomGetData)(second) as usize) };
        let (a, b) = (&self.touches[i], &self.touches[j]);
        if !(a.is_dynamic || b.is_dynamic) || !self.filter.may_touch(a.body_idx, b.body_idx) {
            return;
        }
        let (mut one, mut other) = (first, second);
        if a.needs_stand_in(b, &self.missing) {
            match (a.stand_in, b.stand_in) {
                (_, Some(stand_in)) => other = stand_in,
                (Some(stand_in), None) => one = stand_in,
                (None, None) => return,
            }
        }
        // SAFETY: two shapes, and room for as many contacts as are asked for.
        let n = unsafe {
            (api.dCollide)(
                one,
                other,
                self.settings.max_contacts as c_int,
                &mut self.buffer[0].geom,
                size_of::<ffi::Contact>() as c_int,
            )
        };
        if n == 0 {
            return;
        }
        let surface = realise::surface(&a.surface, &b.surface, self.dt, &self.settings);
        // SAFETY: the two shapes ODE has just named.
        let asked = unsafe { self.asked_direction(i, j, first, second) };
        for k in 0..usize::try_from(n).unwrap_or(0) {
            // SAFETY: one of the contacts ODE has just written.
            unsafe { self.add(k, i, j, surface, asked) };
        }
    }

    /// The friction direction of the surface whose counts, in the world.
    unsafe fn asked_direction(
        &self,
        i: usize,
        j: usize,
        first: Handle,
        second: Handle,
    ) -> Option<Vec3> {
        let (a, b) = (&self.touches[i].surface, &self.touches[j].surface);
        if self.settings.raw {
            return None;
        }
        let (touch, geom) = match realise::direction_is_first(a, b) {
            true => (&self.touches[i], first),
            false => (&self.touches[j], second),
        };
        let d = touch.surface.friction_direction?;
        if let Some(turn) = touch.plane_turn {
            return Some(turn * d);
        }
        // SAFETY: three rows of four of the rotation of a shape that is no plane.
        let rows = unsafe { std::slice::from_raw_parts((self.api.dGeomGetRotation)(geom), 12) };
        let row = |k: usize| Vec3::new(rows[4 * k], rows[4 * k + 1], rows[4 * k + 2]).dot(d);
        Some(Vec3::new(row(0), row(1), row(2)))
    }

    unsafe fn add(
        &mut self,
        k: usize,
        i: usize,
        j: usize,
        surface: ffi::Surface,
        asked: Option<Vec3>,
    ) {
        let (a, b) = (&self.touches[i], &self.touches[j]);
        let it = &mut self.buffer[k];
        let (normal, depth) = (vec3(&it.geom.normal), it.geom.depth);
        it.surface = surface;
        if let Some(along) = realise::friction_direction(asked, normal) {
            it.surface.mode |= mode::FRICTION_DIRECTION;
            it.friction_direction = [along.x, along.y, along.z, 0.0];
        }
        let has_own = surface.mode & mode::SOFT_ERP != 0;
        let erp = if has_own { surface.soft_erp } else { self.settings.erp };
        it.geom.depth =
            realise::told_depth(depth, &a.surface, &b.surface, erp, self.dt, &self.settings);
        // SAFETY: a contact that is filled in, between two bodies of the world, one of which
        // may be null; both are not.
        let joint = unsafe {
            let joint = (self.api.dJointCreateContact)(self.world, self.group, it);
            (self.api.dJointAttach)(joint, a.ode_body, b.ode_body);
            joint
        };
        // ODE's normal points into its first shape. Where that stands in the world, ODE swaps
        // the two and tells of the force on the second.
        let a_is_larger = a.body_idx > b.body_idx;
        let contact = Contact {
            body_a: a.body_idx.min(b.body_idx),
            body_b: a.body_idx.max(b.body_idx),
            position: vec3(&it.geom.position),
            normal: if a_is_larger { normal } else { -normal },
            depth,
            force: Vec3::ZERO,
        };
        let tells_first = !a.ode_body.is_null();
        self.found.push(Found { joint, contact, tells_b: tells_first == a_is_larger });
    }
}

/// What ODE calls for every two shapes whose boxes overlap.
unsafe extern "C" fn near(data: *mut c_void, first: Handle, second: Handle) {
    // SAFETY: the address `find` gave away, for as long as it waits.
    unsafe { (*data.cast::<Contacts>()).collide(first, second) };
}

pub(super) fn vec3(v: &[f64; 4]) -> Vec3 {
    Vec3::new(v[0], v[1], v[2])
}
