//! What strictness costs: reading an SDF world of N links (names checked, frames resolved,
//! physics checked) against `roxmltree` alone parsing the same text. Target: under 10 times
//! for 10,000 links. The curve shows that the cost grows as the work does.

use std::path::Path;

use headland_base::Source;
use headland_bench::{best_of, boxes_world, check_value, is_full};
use headland_world::{ReadOptions, read_text, sdf};

fn main() {
    let (counts, rounds): (&[usize], usize) =
        if is_full() { (&[100, 1_000, 10_000, 50_000], 5) } else { (&[200], 1) };
    println!("parse_sdf: reading a world against roxmltree alone on the same text");
    println!(" links   text MiB  roxmltree µs/link  headland µs/link  ratio  check");
    for &n in counts {
        let text = boxes_world(n);
        let source = Source::new("boxes.sdf", text.clone());
        let options = ReadOptions::default();
        let read = || read_text(source.clone(), Path::new("."), &options).expect("a sound world");
        let best = best_of(
            rounds,
            &mut [
                &mut || {
                    let document = roxmltree::Document::parse(&text).expect("XML");
                    assert!(document.root().has_children());
                },
                &mut || drop(read()),
            ],
        );
        println!(
            "{n:>6}  {:>8.2}  {:>17.3}  {:>16.3}  {:>5.2}  {}",
            text.len() as f64 / 1048576.0,
            best[0] / n as f64 * 1e6,
            best[1] / n as f64 * 1e6,
            best[1] / best[0],
            check_value(sdf::write(&read().world).as_bytes())
        );
    }
}
