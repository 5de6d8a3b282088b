//! `headland:paint` in an `include`: a visual of the robot it brings, in another colour, so that
//! teams of one robot are told apart.

use headland_base::{Diagnostic, names};
use roxmltree::Node;

use super::frames::Named;
use super::reader::Reader;
use crate::world::join_scope;
use crate::xml;
use crate::{Model, Visual};

/// One visual and its colour.
pub(super) struct Paint {
    /// Its name from the robot on: `torso::shirt`.
    visual: Named,
    rgba: [f64; 4],
}

impl Reader<'_, '_> {
    /// Everything an `include` paints.
    pub fn paints(&mut self, node: Node<'_, '_>) -> Vec<Paint> {
        let children: Vec<_> = xml::children(node, "headland:paint").collect();
        let one = |child: Node<'_, '_>| {
            let (visual, rgba) = (self.required_attribute(child, "visual"), self.colour(child));
            Some(Paint { visual: visual?, rgba: rgba? })
        };
        children.into_iter().filter_map(one).collect()
    }

    /// Paints a robot; reports visuals that it does not have.
    pub fn paint(&mut self, model: &mut Model, paints: &[Paint]) {
        for Paint { visual, rgba } in paints {
            let mut known = Vec::new();
            let mut is_found = false;
            visit(model, "", &mut |name, shape| {
                if name == visual.name {
                    is_found = true;
                    shape.material.ambient = Some(*rgba);
                    shape.material.diffuse = Some(*rgba);
                }
                known.push(name);
            });
            if !is_found {
                let known = known.iter().map(String::as_str);
                self.xml.findings.push(
                    Diagnostic::error("unknown-visual", format!("no visual `{}`", visual.name))
                        .at(visual.place.clone())
                        .help_maybe(names::suggestion(&visual.name, known)),
                );
            }
        }
    }
}

/// Every visual with its name from the model on. Readers bound the nesting.
fn visit(model: &mut Model, scope: &str, see: &mut impl FnMut(String, &mut Visual)) {
    for link in &mut model.links {
        let link_name = join_scope(scope, &link.name);
        for visual in &mut link.visuals {
            see(join_scope(&link_name, &visual.name), visual);
        }
    }
    for inner in &mut model.models {
        visit(inner, &join_scope(scope, &inner.name.clone()), see);
    }
}
