//! `headland render`: pictures of a world, or of what happened in it.
//!
//! A world is told from a recording by its first letter: `<`. A recording brings its world with
//! it, unless one is given. The work is `sense`'s.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use headland_base::maths::PI;
use headland_base::{Diagnostic, Severity, SimDuration, SimTime, Source, names};
use headland_record::{ImportOptions, Recording, import};
use headland_sense::camera::{self, Camera, Pinhole, Shows};
use headland_sense::image::Image;
use headland_sense::picture::{From, Shot, Stage, evenly};
use headland_sense::render::{self, Renderer};
use headland_sense::view;
use headland_sim::Model;
use headland_world::Places;
use headland_world::Read;

use crate::args::RenderArgs;
use crate::context::{
    Context, Ended, Outcome, read_options, refuse_same, refuse_stdout, write_file,
};
use crate::progress::CountProgress;

/// The largest strip, a side \[pixels\].
const MOST_STRIP: usize = 65_500;

/// The most pictures of a sequence.
const MOST_PICTURES: i64 = 100_000;

pub fn run(context: &Context, args: &RenderArgs) -> Ended {
    let output = args.output.clone().unwrap_or_else(|| default_output(&args.source));
    refuse_stdout(&output, "a picture is written to a file")?;
    refuse_same(&args.source, &output)?;
    let (read, recording, outcome) = source(context, args)?;
    let model = Model::compile_read(&Arc::new(read.world), &read.places)?;
    context.show(&headland_sense::scene::bad_looks(&model.world));
    let mut stage = Stage::new(&model, recording.as_ref()).map_err(|fault| vec![fault])?;
    let times = moments(args, stage.span(), recording.is_some())?;
    let kept = (recording.is_some(), times.len() > 1);
    let shot = shot(args, (&model, &read.places), kept)?;
    refuse_long_strip(args, &shot)?;
    context.show(marks_unseen(&shot).as_slice());
    let mut renderers = renderers(args, &shot)?;

    let mut written: Vec<PathBuf> = Vec::new();
    let mut strip: Vec<Image> = Vec::new();
    let is_sequence = args.every.is_some();
    let n_times = times.len();
    let mut size = (0, 0);
    let progress = CountProgress::new(context.shows_progress(), n_times, "pictures");
    let shot_all = stage.shoot(&shot, &mut renderers, &times, |i, image| {
        progress.tick();
        size = (image.width, image.height);
        if args.strip.is_some() {
            strip.push(image);
            return Ok(());
        }
        let path = if is_sequence { numbered(&output, i, n_times) } else { output.clone() };
        write_file(&path, image.to_png())?;
        written.push(path);
        Ok(())
    });
    progress.finish();
    renderers.iter_mut().for_each(|renderer| context.show(&renderer.take_findings()));
    shot_all?;
    if args.strip.is_some() {
        let image = Image::side_by_side(&strip);
        size = (image.width, image.height);
        write_file(&output, image.to_png())?;
        written.push(output);
    }
    report(context, &written, size, &times, depths(&shot));
    Ok(outcome)
}

/// Who draws for each camera, or for the eye outside: whom the options name, or the camera.
fn renderers(args: &RenderArgs, shot: &Shot) -> Result<Vec<Box<dyn Renderer>>, Vec<Diagnostic>> {
    let own = match &shot.from {
        From::Cameras(cameras) => cameras.iter().map(|camera| camera.renderer).collect(),
        From::Outside { .. } => vec![render::RENDERERS[0].0],
    };
    let make = |own: &str| {
        let name = args.renderer.as_deref().unwrap_or(own);
        render::renderer(name, usize::from(args.threads)).map_err(|fault| vec![fault])
    };
    own.into_iter().map(make).collect()
}

/// Warns of marks over a picture without colours.
fn marks_unseen(shot: &Shot) -> Option<Diagnostic> {
    let From::Cameras(cameras) = &shot.from else { return None };
    let is_coloured = |camera: &Camera| matches!(camera.shows, Shows::Colour | Shows::Both);
    if shot.draw.is_empty() || cameras.iter().any(is_coloured) {
        return None;
    }
    let message = format!("camera `{}` shows no colours, so --draw draws nothing", cameras[0].name);
    let help = "look from outside, without --camera, or through a camera that shows colours";
    Some(Diagnostic::warning("marks-unseen", message).help(help))
}

/// The nearest and the furthest that is shown as a depth \[m\].
fn depths(shot: &Shot) -> Option<(f64, f64)> {
    let From::Cameras(cameras) = &shot.from else { return None };
    let shows = |camera: &&Camera| matches!(camera.shows, Shows::Depth | Shows::Both);
    cameras.iter().find(shows).map(|camera| camera.clip)
}

fn report(
    context: &Context,
    written: &[PathBuf],
    (width, height): (usize, usize),
    times: &[SimTime],
    depths: Option<(f64, f64)>,
) {
    if context.json() {
        let times: Vec<f64> = times.iter().map(|time| time.secs()).collect();
        let mut json = serde_json::json!({
            "files": written, "width": width, "height": height, "times": times,
        });
        if let Some((near, far)) = depths {
            json["depth_range"] = serde_json::json!([near, far]);
        }
        context.print(&format!("{json}\n"));
        return;
    }
    let moments = match times {
        [only] => format!("at {only}"),
        [first, .., last] => format!("{} moments from {first} to {last}", times.len()),
        [] => String::new(),
    };
    let depths = depths.map(|(near, far)| format!("; depths from {near} m, white, to {far} m"));
    let moments = moments + &depths.unwrap_or_default();
    match written {
        [only] => context.print(&format!("{}: {width} × {height}, {moments}\n", only.display())),
        [first, .., last] => context.print(&format!(
            "{} to {}: {width} × {height}, {moments}\n",
            first.display(),
            last.display()
        )),
        [] => {}
    }
}

/// Refuses a strip that is wider than a picture can be before it is drawn.
fn refuse_long_strip(args: &RenderArgs, shot: &Shot) -> Result<(), Vec<Diagnostic>> {
    let one: usize = match &shot.from {
        From::Cameras(cameras) => {
            let n_images = |camera: &Camera| if camera.shows == Shows::Both { 2 } else { 1 };
            let width = |camera: &Camera| (camera.pinhole.width + 4) * n_images(camera);
            cameras.iter().map(width).sum()
        }
        From::Outside { pinhole, .. } => pinhole.width + 4,
    };
    let width = usize::from(args.strip.unwrap_or(0)) * one;
    if width <= MOST_STRIP {
        return Ok(());
    }
    let message = format!("a strip {width} pixels wide is wider than {MOST_STRIP}");
    let help = "take fewer pictures, or smaller ones with --size";
    Err(vec![Diagnostic::error("too-large", message).help(help)])
}

/// `soccer.sdf` → `soccer.png`, here.
fn default_output(source: &Path) -> PathBuf {
    // A folder such as `.` has no name.
    let stem = source.file_stem().unwrap_or("picture".as_ref());
    Path::new(stem).with_extension("png")
}

/// `walk.png` → `walk_0007.png`.
fn numbered(output: &Path, i: usize, n: usize) -> PathBuf {
    let n_digits = n.saturating_sub(1).to_string().len().max(4);
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    let ending = output.extension().map_or("png".into(), |ending| ending.to_string_lossy());
    output.with_file_name(format!("{stem}_{i:0n_digits$}.{ending}"))
}

/// The world, what was found out about it, and what happened in it.
fn source(
    context: &Context,
    args: &RenderArgs,
) -> Result<(Read, Option<Recording>, Outcome), Vec<Diagnostic>> {
    if is_world(&args.source) {
        if args.world.is_some() {
            let message = format!("`{}` is a world itself", args.source.display());
            return Err(vec![
                Diagnostic::error("two-worlds", message)
                    .help("--world is for recordings that do not bring theirs"),
            ]);
        }
        return Ok((read_world(context, args, &args.source)?, None, Outcome::Passed));
    }
    let imported = import(&args.source, &ImportOptions::default())?;
    let outcome = context.show_findings(imported.findings, true)?;
    let recording = imported.recording;
    let read = match &args.world {
        Some(world) => read_world(context, args, world)?,
        None => {
            let attached = recording.attachments.iter().find(|file| file.name == "world.sdf");
            let attached = attached.ok_or_else(|| {
                let message = format!("`{}` does not bring its world", args.source.display());
                vec![
                    Diagnostic::error("no-world", message)
                        .help("say which world it shows: --world WORLD"),
                ]
            })?;
            let text = String::from_utf8_lossy(&attached.bytes).into_owned();
            let name = format!("{}: world.sdf", args.source.display());
            let folder = args.source.parent().unwrap_or(Path::new(""));
            // What was worth a word about this world was said when it was run.
            let options = read_options(&args.world_args);
            let read = headland_world::read_text(Source::new(name, text), folder, &options);
            read.map_err(|faults| faults.into_iter().map(beside_its_world).collect::<Vec<_>>())?
        }
    };
    Ok((read, Some(recording), outcome))
}

/// Files that a world names lie beside the world, which may be elsewhere than its recording.
fn beside_its_world(fault: Diagnostic) -> Diagnostic {
    match fault.code {
        "missing-file" => fault.help("say which world it shows, with its files: --world WORLD"),
        _ => fault,
    }
}

/// A world; notes on how it will move are not for somebody who looks at it.
fn read_world(context: &Context, args: &RenderArgs, path: &Path) -> Result<Read, Vec<Diagnostic>> {
    let read = headland_world::read(path, &read_options(&args.world_args))?;
    let is_told = |finding: &&Diagnostic| finding.severity >= Severity::Warning;
    let told: Vec<Diagnostic> = read.findings.iter().filter(is_told).cloned().collect();
    context.show(&told);
    Ok(read)
}

/// Whether a file begins as XML does, after a mark of its encoding and blanks.
fn is_world(path: &Path) -> bool {
    let mut head = [0u8; 512];
    let is_file = path.metadata().is_ok_and(|about| about.is_file());
    let read = is_file.then(|| File::open(path).and_then(|mut file| file.read(&mut head)).ok());
    let n = read.flatten().unwrap_or(0);
    let head = head[..n].strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head[..n]);
    head.trim_ascii_start().first() == Some(&b'<')
}

/// The moments to show.
fn moments(
    args: &RenderArgs,
    (first, last): (SimTime, SimTime),
    is_recording: bool,
) -> Result<Vec<SimTime>, Vec<Diagnostic>> {
    let asked = [args.at_time, args.start, args.end].into_iter().flatten().next();
    if !is_recording && (asked.is_some() || args.every.is_some() || args.strip.is_some()) {
        let message =
            format!("`{}` is a world, in which no time has passed", args.source.display());
        return Err(vec![Diagnostic::error("needs-recording", message).help(
            "run it and render the recording: `headland run WORLD -o run.mcap`, then `headland \
             render run.mcap`",
        )]);
    }
    let inside = |time: SimTime| match (first..=last).contains(&time) {
        true => Ok(time),
        false => {
            let message =
                format!("the recording goes from {first} to {last}; there is nothing at {time}");
            Err(vec![Diagnostic::error("no-such-moment", message)])
        }
    };
    if let Some(time) = args.at_time {
        return Ok(vec![inside(time)?]);
    }
    let start = args.start.map_or(Ok(first), inside)?;
    let end = args.end.map_or(Ok(last), inside)?;
    if start > end {
        let message = format!("--start {start} is after --end {end}");
        return Err(vec![Diagnostic::error("no-such-moment", message)]);
    }
    if let Some(n) = args.strip {
        return Ok(evenly(start, end, usize::from(n)));
    }
    let Some(every) = args.every else { return Ok(vec![end]) };
    let period = SimDuration::from_secs(every).filter(|period| *period > SimDuration::ZERO);
    let n = period.map_or(i64::MAX, |period| (end - start).nanos() / period.nanos() + 1);
    match period {
        Some(period) if n <= MOST_PICTURES => Ok((0..n).map(|i| start + period * i).collect()),
        _ => {
            let message = format!("every {every} s makes more than {MOST_PICTURES} pictures");
            Err(vec![
                Diagnostic::error("bad-duration", message)
                    .help("take fewer, or a part of the recording with --start and --end"),
            ])
        }
    }
}

/// How the pictures are taken.
fn shot(
    args: &RenderArgs,
    (model, places): (&Model, &Places),
    (is_recording, caption): (bool, bool),
) -> Result<Shot, Vec<Diagnostic>> {
    if let Some(kind) = args.draw.iter().find(|kind| kind.needs_recording() && !is_recording) {
        let name = headland_sense::overlay::KINDS.iter().find(|(_, _, known)| known == kind);
        let name = name.map_or("", |(name, _, _)| name);
        let message = format!("--draw {name}: in a world before time starts there are none");
        return Err(vec![
            Diagnostic::error("needs-recording", message).help("render a recording of it"),
        ]);
    }
    let from = match &args.camera {
        Some(name) => From::Cameras(find_cameras(model, places, name)?),
        None => {
            let (width, height) = args.size.unwrap_or(match args.strip {
                Some(_) => (480, 360),
                None => (960, 540),
            });
            let fov = args.fov.map_or(view::FOV, |degrees| degrees * PI / 180.0);
            From::Outside {
                pinhole: Pinhole::from_fov(width, height, fov),
                eye: args.eye,
                at: args.at,
            }
        }
    };
    Ok(Shot { from, draw: args.draw.clone(), caption })
}

/// A camera, or all of a sensor with several, by its whole name, or by the end of it, as long as
/// only one has that.
fn find_cameras(
    model: &Model,
    places: &Places,
    name: &str,
) -> Result<Vec<Camera>, Vec<Diagnostic>> {
    let (cameras, faults) = camera::cameras(&model.world, places);
    let mut named: Vec<(&str, Vec<&Camera>)> = Vec::new();
    for camera in &cameras {
        named.push((&camera.name, vec![camera]));
        let sensor = camera.sensor_name();
        match named.iter_mut().find(|(known, _)| *known == sensor) {
            _ if camera.among.is_none() => {}
            Some((_, all)) => all.push(camera),
            None => named.push((sensor, vec![camera])),
        }
    }
    // As `check` lists them, by their topics.
    let topic = name.strip_prefix('/').map(|topic| topic.replace('/', "::"));
    let asked = name;
    let name = topic.as_deref().unwrap_or(name);
    let ends_so = |whole: &str| {
        whole == name || whole.strip_suffix(name).is_some_and(|rest| rest.ends_with("::"))
            // The robot and the camera, without the link between them.
            || name.split_once("::").is_some_and(|(robot, last)| {
                whole.strip_prefix(robot).is_some_and(|rest| rest.starts_with("::"))
                    && whole.strip_suffix(last).is_some_and(|rest| rest.ends_with("::"))
            })
    };
    let mut found: Vec<&(&str, Vec<&Camera>)> =
        named.iter().filter(|(whole, _)| ends_so(whole)).collect();
    if let Some(whole) = found.iter().position(|(whole, _)| *whole == name) {
        found = vec![found[whole]];
    }
    match found[..] {
        [(_, of_it)] => Ok(of_it.iter().map(|camera| (*camera).clone()).collect()),
        [] => {
            let last = |whole: &str| whole.rsplit("::").next().unwrap_or_default().to_string();
            let ends: Vec<String> = named.iter().map(|(whole, _)| last(whole)).collect();
            let meant = names::nearest(&last(name), ends.iter().map(String::as_str));
            let near = meant
                .map(|near| format!("did you mean `{near}`?"))
                .or_else(|| names::suggestion(name, named.iter().map(|(whole, _)| *whole)));
            let message = format!("no camera is called `{asked}`");
            let mut fault = Diagnostic::error("unknown-camera", message).help_maybe(near);
            if cameras.is_empty() && faults.is_empty() {
                fault = fault.note("there is no camera in this world; leave --camera out");
            }
            Err(std::iter::once(fault).chain(faults).collect())
        }
        _ => {
            let message = format!("`{asked}` is the name of {} cameras", found.len());
            let all: Vec<String> = found.iter().map(|(whole, _)| format!("`{whole}`")).collect();
            Err(vec![
                Diagnostic::error("ambiguous-camera", message)
                    .help(format!("say which: {}", all.join(" or "))),
            ])
        }
    }
}
