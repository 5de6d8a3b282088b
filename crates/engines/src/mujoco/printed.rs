//! Contacts from MuJoCo's own account of its data, for versions before 3.5, which have no
//! other function that tells where and between whom they are.
//!
//! A text of the form that 2.2.2 to 3.4 print goes in; contacts come out, with the forces
//! that a function gives. Writing and reading the text takes time: it holds every matrix.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use headland_base::Vec3;
use headland_sim::{Contact, Fault};

use super::library::Sim;

/// Contacts that are asked for a force before it is believed that there is none.
const N_ASKED: usize = 64;

/// What is needed to read it.
pub(super) struct Printed {
    folder: tempfile::TempDir,
    /// The link of each geom, by MuJoCo's number and by our name for it.
    body_of: BTreeMap<String, usize>,
}

/// A contact as it is printed.
#[derive(Clone, Debug, Default, PartialEq)]
struct Account {
    geoms: Option<(String, String)>,
    is_left_out: bool,
    dist: f64,
    pos: Vec<f64>,
    frame: Vec<f64>,
}

impl Printed {
    /// Of a model whose geoms belong to these links.
    pub(super) fn of(sim: &Sim<'_>, body_of_geom: &[usize]) -> Result<Printed, Fault> {
        let folder = printing_folder()?;
        let mut body_of = BTreeMap::new();
        for (i, body_idx) in body_of_geom.iter().enumerate() {
            let name = format!("g{i}");
            if let Some(id) = sim.geom(&name) {
                body_of.insert(id.to_string(), *body_idx);
            }
            body_of.insert(name, *body_idx);
        }
        Ok(Printed { folder, body_of })
    }

    /// Of a file whose bodies, by their numbers, belong to these links. Whose a geom is, MuJoCo
    /// only prints.
    pub(super) fn of_bodies(
        sim: &Sim<'_>,
        link_of_body: &BTreeMap<usize, usize>,
    ) -> Result<Printed, Fault> {
        let folder = printing_folder()?;
        let mut body_of = BTreeMap::new();
        for geom in geoms_of(sim, folder.path())? {
            if let Some(link) = link_of_body.get(&geom.body) {
                body_of.insert(geom.id, *link);
                body_of.extend(geom.name.map(|name| (name, *link)));
            }
        }
        Ok(Printed { folder, body_of })
    }

    /// What touched in the last step.
    pub(super) fn read(&self, sim: &Sim<'_>, out: &mut Vec<Contact>) -> Result<(), Fault> {
        if (0..N_ASKED).all(|i| sim.contact_force(i) == [0.0; 6]) {
            return Ok(());
        }
        let file = self.folder.path().join("data.txt");
        sim.print_data(&file);
        let text = std::fs::read_to_string(&file)
            .map_err(|why| Fault(format!("mujoco did not print its data: {why}")))?;
        for (i, account) in accounts(&text).iter().enumerate() {
            let Some((first, second)) = &account.geoms else { continue };
            let bodies = (self.body_of.get(first), self.body_of.get(second));
            let (Some(&a), Some(&b)) = bodies else { continue };
            if a == b || account.is_left_out || account.frame.len() != 9 || account.pos.len() != 3 {
                continue;
            }
            let row = |k: usize| Vec3::from_slice(&account.frame[3 * k..3 * k + 3]);
            let [n, t, u, ..] = sim.contact_force(i);
            let force = row(0) * n + row(1) * t + row(2) * u;
            let sign = if a <= b { 1.0 } else { -1.0 };
            out.push(Contact {
                body_a: a.min(b),
                body_b: a.max(b),
                position: Vec3::from_slice(&account.pos),
                normal: row(0) * sign,
                depth: -account.dist,
                force: force * sign,
            });
        }
        Ok(())
    }
}

fn printing_folder() -> Result<tempfile::TempDir, Fault> {
    tempfile::Builder::new()
        .prefix("headland-mujoco-")
        .tempdir()
        .map_err(|why| Fault(format!("mujoco has nowhere to print to: {why}")))
}

/// Bodies of a file with a geom that touches others, by their numbers.
pub(super) fn touching_bodies(sim: &Sim<'_>) -> Result<BTreeSet<usize>, Fault> {
    let geoms = geoms_of(sim, printing_folder()?.path())?;
    Ok(geoms.into_iter().filter(|geom| geom.touches).map(|geom| geom.body).collect())
}

fn geoms_of(sim: &Sim<'_>, folder: &Path) -> Result<Vec<Geom>, Fault> {
    let file = folder.join("model.txt");
    sim.print_model(&file);
    let text = std::fs::read_to_string(&file)
        .map_err(|why| Fault(format!("mujoco did not print its model: {why}")))?;
    Ok(geoms(&text))
}

/// A geom as it is printed.
#[derive(Clone, Debug, Default)]
struct Geom {
    id: String,
    name: Option<String>,
    body: usize,
    /// By its masks; a `<pair>` may still name it.
    touches: bool,
}

/// The geoms of a printed model.
fn geoms(text: &str) -> Vec<Geom> {
    let mut out: Vec<Geom> = Vec::new();
    let mut is_inside = false;
    for line in text.lines() {
        if !line.starts_with(' ') {
            let id = line.strip_prefix("GEOM ").and_then(|rest| rest.trim().strip_suffix(':'));
            is_inside = id.is_some();
            out.extend(id.map(|id| Geom { id: id.to_string(), ..Geom::default() }));
        }
        let Some(geom) = out.last_mut().filter(|_| is_inside) else { continue };
        let mut words = line.split_whitespace();
        let (Some(word), Some(value)) = (words.next(), words.next()) else { continue };
        match word.strip_prefix("geom_").unwrap_or(word) {
            "name" => geom.name = Some(value.to_string()),
            "bodyid" => geom.body = value.parse().unwrap_or(usize::MAX),
            "contype" | "conaffinity" => geom.touches |= value != "0",
            _ => {}
        }
    }
    out
}

/// The contacts of a text, in order.
fn accounts(text: &str) -> Vec<Account> {
    let mut out: Vec<Account> = Vec::new();
    let lines = text.lines().skip_while(|line| line.trim_end() != "CONTACT").skip(1);
    for line in lines.take_while(|line| line.starts_with(' ')) {
        let line = line.trim();
        if line.strip_suffix(':').is_some_and(|n| n.parse::<usize>().is_ok()) {
            out.push(Account::default());
            continue;
        }
        let (Some(account), Some((word, rest))) =
            (out.last_mut(), line.split_once(char::is_whitespace))
        else {
            continue;
        };
        let words: Vec<&str> = rest.split_whitespace().filter(|word| *word != ":").collect();
        let numbers = || words.iter().filter_map(|word| word.parse().ok()).collect::<Vec<f64>>();
        let two = |i: usize, j: usize| Some((words.get(i)?.to_string(), words.get(j)?.to_string()));
        match word {
            "geom" | "geoms" => account.geoms = two(0, 1),
            // Geom, flex, element and vertex of each side.
            "gfev" => account.geoms = two(0, 4),
            "exclude" => account.is_left_out = words.first() != Some(&"0"),
            "dist" => account.dist = numbers().first().copied().unwrap_or_default(),
            "pos" => account.pos = numbers(),
            "frame" => account.frame = numbers(),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        let forms = [
            "geom          3 12",
            "gfev          3 -1 -1 -1 : 12 -1 -1 -1",
            "geoms         3 : 12",
        ];
        for form in forms {
            let text = format!(
                "XPOS\n  1 2 3\n\nCONTACT\n  0:\n     dim           3\n     {form}\n     exclude       \
                 0\n     efc_address   0\n     dist           -0.25\n     pos            1 2 3\n     \
                 frame          0 0 1 1 0 0 0 1 0\n  1:\n     {form}\n     exclude       1\n\nEFC_TYPE\n \
                 5\n"
            );
            let found = accounts(&text);
            assert_eq!(found.len(), 2, "{form}");
            assert_eq!(found[0].geoms, Some(("3".to_string(), "12".to_string())));
            assert_eq!((found[0].dist, found[0].pos.clone()), (-0.25, vec![1.0, 2.0, 3.0]));
            assert_eq!(found[0].frame.len(), 9);
            assert!(!found[0].is_left_out && found[1].is_left_out);
        }
    }
}
