//! The map is true: every crate is on it, none leans back, and what we link may be linked.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// `0  base` … from ARCHITECTURE.md: crate name to row.
fn rows() -> BTreeMap<String, usize> {
    let page = std::fs::read_to_string(format!("{ROOT}/ARCHITECTURE.md")).expect("the map");
    let map =
        page.split("## The map").nth(1).and_then(|rest| rest.split("```").nth(1)).expect("a block");
    let mut rows = BTreeMap::new();
    for line in map.lines() {
        let mut words = line.split_whitespace();
        if let Some(row) = words.next().and_then(|word| word.parse::<usize>().ok()) {
            rows.extend(words.map(|name| (name.to_string(), row)));
        }
    }
    rows
}

/// The packages this machine links; others of the lock file may not even be here.
fn metadata() -> Value {
    let rustc = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let rustc = String::from_utf8(rustc.stdout).expect("text");
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--filter-platform", host])
        .current_dir(ROOT)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo writes JSON")
}

/// `headland-world` is `world`; the binary's crate is `cli`.
fn short(name: &str) -> String {
    if name == "headland" {
        "cli".to_string()
    } else {
        name.trim_start_matches("headland-").to_string()
    }
}

#[test]
fn every_crate_is_on_the_map_and_none_leans_back() {
    let rows = rows();
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let is_ours = |name: &str| name == "headland" || name.starts_with("headland-");
    let crates = packages.iter().filter(|package| {
        let path = package["manifest_path"].as_str().unwrap_or_default();
        is_ours(package["name"].as_str().unwrap_or_default()) && path.contains("/crates/")
    });
    let mut seen = Vec::new();
    for package in crates {
        let name = short(package["name"].as_str().expect("a name"));
        let row = *rows.get(&name).unwrap_or_else(|| panic!("`{name}` is not on the map"));
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let other = dependency["name"].as_str().expect("a name");
            if is_ours(other) && dependency["kind"].is_null() {
                let below = rows[&short(other)];
                assert!(below < row, "`{name}` (row {row}) leans on `{other}` (row {below})");
            }
        }
        seen.push(name);
    }
    for name in rows.keys() {
        assert!(seen.contains(name), "`{name}` is on the map but there is no such crate");
    }
}

#[test]
fn every_licence_is_one_users_can_ship() {
    let deny = std::fs::read_to_string(format!("{ROOT}/deny.toml")).expect("deny.toml");
    let allowed: Vec<&str> = deny
        .split("allow = [")
        .nth(1)
        .and_then(|rest| rest.split("\n]").next())
        .expect("a list of licences")
        .lines()
        .filter_map(|line| line.trim().strip_prefix('"')?.split('"').next())
        .collect();
    for package in metadata()["packages"].as_array().expect("packages") {
        let (name, licence) = (&package["name"], package["license"].as_str().unwrap_or_default());
        // "A OR B" needs one of them, "A AND B" both.
        let licence = licence.replace('/', " OR ").replace(['(', ')'], " ");
        let fits = licence
            .split(" AND ")
            .all(|part| part.split(" OR ").any(|l| allowed.contains(&l.trim())));
        assert!(fits, "{name} is under `{licence}`");
    }
}

/// The version written into recordings is the one that is linked.
#[test]
fn the_engine_version_is_the_locked_one() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let locked = packages.iter().find(|package| package["name"] == "rapier3d-f64").expect("linked");
    assert_eq!(locked["version"], headland_engines::rapier::VERSION);
}
