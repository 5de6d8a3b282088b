//! Reads the files it is given and prints what it finds, one summary line per file:
//! `cargo run -p headland-world --example findings -- [--lenient] [--quiet] FILE…`

use std::path::{Path, PathBuf};

use headland_world::resource::Resources;
use headland_world::{ReadOptions, read, read_text, sdf};

fn main() {
    let (flags, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    let has = |flag: &str| flags.iter().any(|given| given == flag);
    let search = std::env::var_os("HEADLAND_RESOURCE_PATH").unwrap_or_default();
    let search: Vec<PathBuf> = std::env::split_paths(&search).collect();
    let options = ReadOptions {
        lenient: has("--lenient"),
        resources: Resources::new(search),
        derive_inertia: None,
    };
    for file in files {
        let path = Path::new(&file);
        let (summary, findings) = match read(path, &options) {
            Ok(read) => {
                let base_dir = path.parent().unwrap_or(Path::new(""));
                let written = sdf::write(&read.world);
                let source = headland_base::Source::new("written.sdf", written);
                let again = read_text(source, base_dir, &options);
                let same = match again {
                    Ok(again) if again.world == read.world => "same again",
                    Ok(_) => "DIFFERS when written and read again",
                    Err(_) => "REFUSED when written and read again",
                };
                let (links, joints) = (read.world.links().len(), read.world.joints().len());
                (format!("ok: {links} links, {joints} joints, {same}"), read.findings)
            }
            Err(findings) => {
                let mut codes: Vec<_> = findings
                    .iter()
                    .filter(|d| d.severity == headland_base::Severity::Error)
                    .map(|d| d.code)
                    .collect();
                codes.dedup();
                (format!("refused: {}", codes.join(" ")), findings)
            }
        };
        println!("{file}: {summary}");
        if !has("--quiet") {
            for finding in findings {
                print!("{}", finding.render(false));
            }
        }
    }
}
