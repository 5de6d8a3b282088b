//! Xacro is a macro language whose output is URDF. It is recognised, not expanded.
//!
//! The library there is for it follows a macro that calls itself until the stack ends the
//! program, and expands forty macros that call each other twice without end. Both are one
//! short file, so the user's own `xacro` does the expanding.

use headland_base::Diagnostic;
use roxmltree::Node;

use crate::xml::Xml;

/// The diagnostic for a file that still has macros in it, pointing at the first.
pub(crate) fn not_expanded(xml: &Xml<'_>, root: Node<'_, '_>) -> Option<Diagnostic> {
    let is_xacro = |node: &Node<'_, '_>| {
        node.is_element() && node.tag_name().namespace().is_some_and(|ns| ns.ends_with("/xacro"))
    };
    let first = root.descendants().find(is_xacro)?;
    let path = &xml.source.path;
    let stem = match path.strip_suffix(".xacro") {
        Some(stem) => stem.trim_end_matches(".urdf").to_string(),
        None => format!("{}_expanded", path.trim_end_matches(".urdf")),
    };
    let name = first.tag_name().name();
    Some(
        Diagnostic::error(
            "xacro-not-expanded",
            format!("`xacro:{name}` is a macro to be expanded first"),
        )
        .at(xml.place(first))
        .help(format!("xacro {path} > {stem}.urdf")),
    )
}
