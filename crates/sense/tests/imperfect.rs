//! Imperfections of pictures: each does what its number says, at zero nothing, and none shifts
//! another.
#![allow(clippy::unwrap_used)]

use headland_base::Seed;
use headland_base::maths::{Vec2, erfc, sqrt};
use headland_sense::imperfect::{Darkroom, Imperfections, KNOBS, Sun};

const SIZE: (usize, usize) = (320, 200);

/// A grey card with bright and dark squares.
fn card() -> Vec<u8> {
    let at = |i: usize| {
        let (x, y) = (i % SIZE.0 / 40, i / SIZE.0 / 40);
        if (x + y) % 2 == 0 { [60, 70, 80] } else { [180, 170, 160] }
    };
    (0..SIZE.0 * SIZE.1).flat_map(at).collect()
}

fn developed(how: Imperfections, from: &[u8], seed: u64) -> Vec<u8> {
    let mut rgb = from.to_vec();
    Darkroom::new(&how, SIZE, &Seed::new(seed)).develop(&mut rgb, sun());
    rgb
}

fn sun() -> Option<Sun> {
    Some(Sun { pixel: Vec2::new(250.0, 40.0), colour: [1.0, 0.95, 0.9] })
}

fn grey(value: u8) -> Vec<u8> {
    vec![value; SIZE.0 * SIZE.1 * 3]
}

fn mean(rgb: &[u8]) -> f64 {
    rgb.iter().map(|x| f64::from(*x)).sum::<f64>() / rgb.len() as f64
}

fn set(name: &str, value: f64) -> Imperfections {
    let mut how = Imperfections::default();
    let (_, _, _, knob) = KNOBS.iter().find(|(known, ..)| *known == name).unwrap();
    *knob(&mut how) = value;
    how
}

/// Values that show.
const SHOWN: &[(&str, f64)] = &[
    ("drops", 14.0),
    ("leaf", 0.15),
    ("dirt", 0.15),
    ("defocus", 2.5),
    ("glare", 0.5),
    ("flare", 0.7),
    ("exposure", 0.8),
    ("low_contrast", 0.6),
    ("noise", 0.04),
    ("bayer", 1.0),
    ("jpeg", 8.0),
];

#[test]
fn a_knob_at_zero_changes_no_byte_and_one_that_is_turned_does() {
    let card = card();
    assert_eq!(developed(Imperfections::default(), &card, 1), card);
    for (name, value) in SHOWN {
        assert_eq!(developed(set(name, 0.0), &card, 1), card, "{name}");
        assert_ne!(developed(set(name, *value), &card, 1), card, "{name}");
        assert_eq!(developed(set(name, *value), &card, 1), developed(set(name, *value), &card, 1));
    }
    let names: Vec<&str> = KNOBS.iter().map(|(name, ..)| *name).skip(2).collect();
    assert_eq!(names, SHOWN.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}

/// Of white noise of 200 · 320 · 3 samples the deviation is known to 1/√(2n) = 0.16 %; 3.29 times
/// that is 99.9 % sure. Rounding to bytes adds 1/12.
#[test]
fn noise_has_the_deviation_and_the_shape_that_it_says() {
    for sigma in [0.01, 0.04] {
        let noisy = developed(set("noise", sigma), &grey(128), 4);
        let off: Vec<f64> = noisy.iter().map(|x| f64::from(*x) - 128.0).collect();
        let n = off.len() as f64;
        let middle = off.iter().sum::<f64>() / n;
        let stddev = sqrt(off.iter().map(|x| x * x).sum::<f64>() / n);
        let expected = sqrt(sigma * sigma * 255.0 * 255.0 + 1.0 / 12.0);
        assert!((stddev / expected - 1.0).abs() < 3.29 * 0.0016 + 1e-3, "{stddev} {expected}");
        assert!(middle.abs() < 3.29 * expected / sqrt(n), "{middle}");
        // A bell, of which every level holds what lies within half a level: Kolmogorov's distance,
        // which is below 1.95/√n in 99.9 % of such samples.
        let mut n_up_to = 0.0;
        for level in -255..=255 {
            n_up_to += off.iter().filter(|x| **x == f64::from(level)).count() as f64;
            let x = (f64::from(level) + 0.5) / (sigma * 255.0);
            let wanted = 0.5 * erfc(-x / sqrt(2.0));
            assert!((n_up_to / n - wanted).abs() < 1.95 / sqrt(n), "{level}: {}", n_up_to / n);
        }
        let neighbours: f64 = off.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / n;
        assert!((neighbours / expected / expected).abs() < 3.29 / sqrt(n));
    }
    let shifted = Imperfections { noise_mean: 0.1, ..set("noise", 0.01) };
    assert!((mean(&developed(shifted, &grey(100), 1)) - 125.5).abs() < 0.1);
}

#[test]
fn exposure_counts_in_stops_and_contrast_in_shares() {
    assert_eq!(developed(set("exposure", 1.0), &grey(60), 1), grey(120));
    assert_eq!(developed(set("exposure", -1.0), &grey(60), 1), grey(30));
    assert_eq!(developed(set("exposure", 3.0), &grey(60), 1), grey(255));
    let card = card();
    let range = |rgb: &[u8]| f64::from(rgb.iter().max().unwrap() - rgb.iter().min().unwrap());
    let faded = developed(set("low_contrast", 0.6), &card, 1);
    assert!((range(&faded) / range(&card) - 0.4).abs() < 0.01, "{}", range(&faded));
}

/// An edge that is blurred by a bell has its quarter and three quarters 2·0.6745 deviations apart.
#[test]
fn defocus_blurs_by_so_many_pixels() {
    let half = |i: usize| if i % SIZE.0 < 160 { [0; 3] } else { [240; 3] };
    let edge: Vec<u8> = (0..SIZE.0 * SIZE.1).flat_map(half).collect();
    for sigma in [2.0, 4.0] {
        let blurred = developed(set("defocus", sigma), &edge, 1);
        let row: Vec<f64> =
            (0..SIZE.0).map(|x| f64::from(blurred[(100 * SIZE.0 + x) * 3])).collect();
        let crossing = |level: f64| {
            let right = row.iter().position(|v| *v >= level).unwrap();
            right as f64 - (row[right] - level) / (row[right] - row[right - 1])
        };
        let spread = (crossing(180.0) - crossing(60.0)) / (2.0 * 0.6745);
        assert!((spread - sigma).abs() < 0.1, "{spread} {sigma}");
    }
}

/// Dirt and leaves hide the share that they say; drops their circles; scattered light stays light.
#[test]
fn what_is_on_the_lens_hides_as_much_as_it_says() {
    for share in [0.05, 0.3] {
        for seed in 0..4 {
            // White light, of which the veil's own colour remains.
            let hidden = |name: &str, own: f64| {
                let left = developed(set(name, share), &grey(255), seed);
                (255.0 - mean(&left)) / (255.0 - own)
            };
            let (leaf, dirt) = (
                hidden("leaf", (48.0 + 74.0 + 26.0) / 3.0),
                hidden("dirt", (70.0 + 58.0 + 44.0) / 3.0),
            );
            assert!((leaf - share).abs() < 0.01, "leaf {leaf} {share}");
            assert!((dirt - share).abs() < 0.01, "dirt {dirt} {share}");
        }
    }
    let card = card();
    let changed = |n: f64| {
        let seen = developed(set("drops", n), &card, 2);
        seen.as_chunks::<3>().0.iter().zip(card.as_chunks::<3>().0).filter(|(a, b)| a != b).count()
    };
    assert!(changed(5.0) > 100 && changed(40.0) > 2 * changed(5.0));
    // A lamp in the dark: the middle keeps its share, and the light is only moved.
    let lamp = |i: usize| {
        let (x, y) = ((i % SIZE.0) as f64 - 160.0, (i / SIZE.0) as f64 - 100.0);
        if x * x + y * y < 900.0 { [250; 3] } else { [0; 3] }
    };
    let lamp: Vec<u8> = (0..SIZE.0 * SIZE.1).flat_map(lamp).collect();
    let scattered = developed(set("glare", 0.5), &lamp, 1);
    assert!((mean(&scattered) / mean(&lamp) - 1.0).abs() < 0.1, "{}", mean(&scattered));
    assert!(scattered[(100 * SIZE.0 + 160) * 3] < 200 && scattered[(100 * SIZE.0 + 200) * 3] > 5);
}

#[test]
fn a_flare_needs_a_sun_and_grows_with_its_strength() {
    let dark = grey(20);
    let mut rgb = dark.clone();
    Darkroom::new(&set("flare", 0.8), SIZE, &Seed::new(1)).develop(&mut rgb, None);
    assert_eq!(rgb, dark);
    let [weak, strong] = [0.2, 0.8].map(|s| developed(set("flare", s), &dark, 1));
    assert!(mean(&dark) < mean(&weak) && mean(&weak) < mean(&strong));
    let at = |x: usize, y: usize| strong[(y * SIZE.0 + x) * 3];
    assert!(at(250, 40) > 150 && at(250, 40) > at(20, 20), "brightest at the sun");
}

/// Of an even colour nothing is lost; of one red pixel on a green site red is lost.
#[test]
fn a_mosaic_keeps_what_is_even_and_guesses_the_rest() {
    let even: Vec<u8> = (0..SIZE.0 * SIZE.1).flat_map(|_| [200, 90, 40]).collect();
    assert_eq!(developed(set("bayer", 1.0), &even, 1), even);
    let mut one = grey(0);
    one[(10 * SIZE.0 + 11) * 3] = 255;
    assert_eq!(developed(set("bayer", 1.0), &one, 1), grey(0));
    let mut one = grey(0);
    one[(10 * SIZE.0 + 10) * 3] = 255;
    let spread = developed(set("bayer", 1.0), &one, 1);
    assert_eq!([10, 11, 12].map(|x| spread[(10 * SIZE.0 + x) * 3]), [255, 128, 0]);
}

/// Turning one knob shifts no other. Of the four that draw by chance, each is looked at beside
/// every other knob, where that other changes nothing by itself: there the bytes are the same.
#[test]
fn knobs_draw_from_streams_of_their_own() {
    let both = |a: (&str, f64), b: (&str, f64), from: &[u8]| {
        let mut how = set(a.0, a.1);
        *KNOBS.iter().find(|(known, ..)| *known == b.0).unwrap().3(&mut how) = b.1;
        developed(how, from, 9)
    };
    let alone = |a: (&str, f64), from: &[u8]| developed(set(a.0, a.1), from, 9);
    let even = |colour: [u8; 3]| colour.repeat(SIZE.0 * SIZE.1);
    let by_chance = [("drops", 14.0), ("leaf", 0.15), ("dirt", 0.15), ("noise", 0.02)];

    // Drops leave black as it is; mud and leaf leave what has their colour. Whatever else is drawn
    // by chance is then as it is without them, in every byte.
    let (mud, green, black) = (even([70, 58, 44]), even([48, 74, 26]), grey(0));
    for (veil, from) in
        [(("dirt", 0.15), &mud), (("leaf", 0.15), &green), (("drops", 14.0), &black)]
    {
        assert_eq!(alone(veil, from), *from, "{veil:?}");
        for other in by_chance.iter().filter(|(name, _)| *name != veil.0) {
            // Mud lies over drops and the leaf; that one is seen under it is asked elsewhere.
            let is_under = (veil.0 == "dirt" && other.0 != "noise")
                || (veil.0 == "leaf" && other.0 == "drops");
            if !is_under {
                assert_eq!(both(*other, veil, from), alone(*other, from), "{other:?} {veil:?}");
            }
        }
    }
    let grey = grey(128);
    // The other way round: noise of less than half a level changes no byte, whatever it draws.
    let faint = ("noise", 1e-4);
    assert_eq!(alone(faint, &grey), grey);
    for veil in &by_chance[..3] {
        let off = |a: Vec<u8>, b: Vec<u8>| a.iter().zip(&b).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(off(both(*veil, faint, &grey), alone(*veil, &grey)) <= Some(1), "{veil:?}");
        // JPEG comes last, of bytes: it makes of them what it makes of them alone.
        let jpeg = ("jpeg", 90.0);
        assert_eq!(both(*veil, jpeg, &grey), alone(jpeg, &alone(*veil, &grey)), "{veil:?}");
    }
    assert_eq!(
        both(("noise", 0.02), ("jpeg", 90.0), &grey),
        alone(("jpeg", 90.0), &alone(("noise", 0.02), &grey))
    );
    // The rest draws nothing. Exposure comes before noise: twice 60 is 120.
    let (dark, light) = (vec![60; grey.len()], vec![120; grey.len()]);
    let noisy = alone(("noise", 0.02), &light);
    assert_eq!(both(("noise", 0.02), ("exposure", 1.0), &dark), noisy);
    // Without any contrast every picture is the same grey under the same noise.
    let faded = |from: &[u8]| both(("noise", 0.02), ("low_contrast", 1.0), from);
    assert_eq!(faded(&dark), faded(&light));
    // Blur and scattered light leave an even grey, up to rounding.
    let noisy = alone(("noise", 0.02), &grey);
    for other in [("defocus", 2.5), ("glare", 0.5), ("low_contrast", 1.0)] {
        let beside = both(("noise", 0.02), other, &grey);
        let most = beside.iter().zip(&noisy).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(most <= Some(1), "noise beside {other:?}: {most:?}");
    }
    // A mosaic keeps of each pixel the colour that its filter lets through.
    let raw = both(("noise", 0.02), ("bayer", 1.0), &grey);
    for i in 0..SIZE.0 * SIZE.1 {
        let own = i * 3 + i / SIZE.0 % 2 + i % SIZE.0 % 2;
        assert_eq!(raw[own], noisy[own], "pixel {i}");
    }
}
