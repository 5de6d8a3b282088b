//! `headland demo`: the main job on embedded defaults.

use std::path::Path;
use std::sync::Arc;

use headland_base::{Diagnostic, Source};
use headland_judge::Scene;
use headland_record::{LoadOptions, Reader, Recording, load};
use headland_report::{Align, Chart, chart, matrix, table};
use headland_sim::{Cast, Model, Setup};

use crate::args::{DemoArgs, WorldArgs};
use crate::context::{Context, Ended, Outcome, read_options};
use crate::job::{Job, record};
use crate::judging::{Asked, Loaded, MaybeTest, judge_all};
use crate::test_file::TestFile;

const BALL: &str = include_str!("../../../../worlds/ball.sdf");
const TEST: &str = include_str!("../../../../worlds/ball.lrp");
const DURATION_SECS: f64 = 5.0;
const RADIUS: f64 = 0.5;

pub fn run(context: &Context, args: &DemoArgs) -> Ended {
    let source = Source::new("ball.sdf", BALL);
    let read =
        headland_world::read_text(source, Path::new("."), &read_options(&WorldArgs::default()))?;
    let model = Model::compile(&Arc::new(read.world))?;
    let duration = headland_base::SimDuration::from_secs(DURATION_SECS).expect("a few seconds");
    let setup = Setup::new(&model, duration);
    let engine = headland_engines::find("rapier").map_err(|diagnostic| vec![diagnostic])?;
    let test = TestFile::of_source(&Source::new("ball.lrp", TEST), Path::new("ball.lrp"));
    let tests = [test];
    let job = Job {
        engine,
        model: &model,
        setup: &setup,
        seed: 0,
        output: &args.output,
        commands: None,
        tests: &tests,
        stops_on_red: false,
    };
    let secs = record(context, &job, &mut Cast::default())?.secs;

    // Everything shown is read back from the file: what others will see of it.
    let reader = Reader::open(&args.output).map_err(|diagnostic| vec![diagnostic])?;
    let (recording, findings) = load(reader, &LoadOptions::default());
    if findings.has_errors() {
        return Err(findings.into_vec());
    }
    let scene = Arc::new(Scene::new(recording));
    let factor = DURATION_SECS / secs.max(1e-9);
    let judged = judged(context, &tests, &scene, &args.output);
    context.print(&story(scene.recording(), &args.output, factor, &judged.0)?);
    Ok(judged.1)
}

/// The verdict in words.
fn judged(
    context: &Context,
    tests: &[TestFile],
    scene: &Arc<Scene>,
    output: &Path,
) -> (String, Outcome) {
    let loaded = Loaded::of_scene(&output.display().to_string(), output, Arc::clone(scene));
    let tests: Vec<MaybeTest> = tests.iter().cloned().map(Ok).collect();
    let round = judge_all(&tests, &[loaded], Asked::default());
    context.show(&round.findings);
    (matrix(&round.matrix, context.paints()), round.outcome)
}

fn story(
    recording: &Recording,
    output: &Path,
    factor: f64,
    verdict: &str,
) -> Result<String, Vec<Diagnostic>> {
    let column = |key: &str| {
        recording
            .column(key)
            .ok_or_else(|| vec![Diagnostic::error("demo", format!("the recording has no `{key}`"))])
    };
    let (height, speed) = (column("ball/pose/z")?, column("ball/linear_vel/z")?);
    let curve: Vec<(f64, f64)> = height
        .times
        .iter()
        .map(|t| t.secs())
        .zip(height.values.iter().map(|z| z - RADIUS))
        .collect();
    let drawing = Chart {
        title: "height of the ball above the ground [m]",
        x_label: "time [s]",
        n_columns: 64,
        n_rows: 10,
        floor: Some(0.0),
    };
    let apexes: Vec<(f64, f64)> = (1..curve.len())
        .filter(|&i| speed.values[i - 1] > 0.0 && speed.values[i] <= 0.0)
        .map(|i| curve[i])
        .filter(|(_, height)| *height > 0.02)
        .collect();
    let mut before = curve[0].1;
    let rows: Vec<Vec<String>> = apexes
        .iter()
        .enumerate()
        .map(|(i, (time, height))| {
            let ratio = height / std::mem::replace(&mut before, *height);
            vec![
                (i + 1).to_string(),
                format!("{time:.3}"),
                format!("{height:.4}"),
                format!("{ratio:.4}"),
            ]
        })
        .collect();
    let header = [
        ("bounce", Align::Right),
        ("top at s", Align::Right),
        ("height m", Align::Right),
        ("of the one before", Align::Right),
    ];
    let shown = output.display();
    Ok(format!(
        "A ball falls 3 m onto the ground; both bounce with a restitution of 0.7.\n\n{}\n{}\n\
         Each bounce should reach 0.7² = 0.49 of the one before. A test says so; it watched the run\n\
         and was asked again on the recording:\n\n\
         {verdict}\n\
         Recorded in {shown} with the test inside, {factor:.0} × faster than real time.\n\n\
         Try next:\n  \
         headland info {shown}                what is in the recording\n  \
         headland export {shown} -o ball.csv  the numbers as a table\n  \
         headland run WORLD                     a world of your own: SDF, URDF or MJCF\n\
         The recording is a ROS 2 MCAP, the format rosbags, evo, Foxglove, Rerun and PlotJuggler read.\n",
        chart(&drawing, &curve),
        table(&header, &rows),
    ))
}
