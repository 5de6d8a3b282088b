//! `headland demo`: the main job on embedded defaults.
//!
//! A ball falls, is recorded and judged; what is shown of its bounces is read back from the
//! file.

use std::path::Path;
use std::sync::Arc;

use headland_base::{Diagnostic, Source};
use headland_judge::Scene;
use headland_record::{LoadOptions, Reader, Recording, load};
use headland_report::{Align, Chart, chart, matrix, table, verdicts_json};
use headland_sim::{Cast, Ending, Model, Setup};
use serde_json::{Value, json};

use crate::args::{DemoArgs, WorldArgs};
use crate::context::{Context, Ended, Outcome, read_options, refuse_stdout};
use crate::job::{Job, Recorded, record};
use crate::judging::{Asked, Loaded, MaybeTest, judge_all};
use crate::test_file::TestFile;

const BALL: &str = include_str!("../../../../worlds/ball.sdf");
const TEST: &str = include_str!("../../../../worlds/tests/ball.lrp");
const ENGINE: &str = "rapier";
const DURATION_SECS: f64 = 5.0;
const RADIUS: f64 = 0.5;

pub fn run(context: &Context, args: &DemoArgs) -> Ended {
    refuse_stdout(&args.output, "the demo reads back what it recorded")?;
    let source = Source::new("ball.sdf", BALL);
    let read =
        headland_world::read_text(source, Path::new("."), &read_options(&WorldArgs::default()))?;
    let model = Model::compile(&Arc::new(read.world))?;
    let duration = headland_base::SimDuration::from_secs(DURATION_SECS).expect("a few seconds");
    let setup = Setup::new(&model, duration);
    let engine = headland_engines::find(ENGINE).map_err(|diagnostic| vec![diagnostic])?;
    let tests = [TestFile::of_source(&Source::new("ball.lrp", TEST), Path::new("ball.lrp"))];
    let job = Job {
        engine,
        model: &model,
        world_file: Path::new("ball.sdf"),
        setup: &setup,
        seed: 0,
        output: &args.output,
        commands: Default::default(),
        sensors: Default::default(),
        tests: &tests,
        stops_on_red: false,
    };
    let recorded = record(context, &job, &mut Cast::default())?;

    // Everything shown is read back from the file: what others will see of it.
    let reader = Reader::open(&args.output).map_err(|diagnostic| vec![diagnostic])?;
    let (recording, findings) = load(reader, &LoadOptions::default());
    if findings.has_errors() {
        return Err(findings.into_vec());
    }
    let bounces = Bounces::of(&recording)?;
    let shown = args.output.display().to_string();
    let loaded = Loaded::of_scene(&shown, &args.output, Arc::new(Scene::new(recording)));
    let tests: Vec<MaybeTest> = tests.into_iter().map(Ok).collect();
    let round = judge_all(&tests, &[loaded], Asked::default());
    context.show(&round.findings);
    let simulated = recorded.end.state.time;
    let factor = simulated.secs() / recorded.secs.max(1e-9);
    context.print(&if context.json() {
        let mut json = bounces.as_json(&args.output, &recorded);
        json["verdicts"] = verdicts_json(&round.matrix)["results"].take();
        format!("{json}\n")
    } else {
        bounces.story(&args.output, factor, &matrix(&round.matrix, context.paints()))
    });
    // Of a run that was broken off, what is shown is not the demo.
    let ended = match recorded.end.ending {
        Ending::Interrupted => Outcome::Partial,
        _ => Outcome::Passed,
    };
    Ok(round.outcome.max(ended))
}

/// What the recording says about the ball.
struct Bounces {
    /// Time \[s\] and height \[m\] above the ground.
    curve: Vec<(f64, f64)>,
    tops: Vec<Top>,
}

/// The highest point between two bounces.
struct Top {
    time_secs: f64,
    height: f64,
    /// Of the height before, or of where the ball was let go.
    ratio: f64,
}

impl Bounces {
    fn of(recording: &Recording) -> Result<Bounces, Diagnostic> {
        let (height, speed) = (
            recording.require_column("ball/pose/z")?,
            recording.require_column("ball/linear_vel/z")?,
        );
        let heights = height.values.iter().map(|z| z - RADIUS);
        let curve: Vec<(f64, f64)> = height.times.iter().map(|t| t.secs()).zip(heights).collect();
        let mut before = curve[0].1;
        let tops = (1..curve.len())
            .filter(|&i| speed.values[i - 1] > 0.0 && speed.values[i] <= 0.0)
            .map(|i| curve[i])
            .filter(|(_, height)| *height > 0.02)
            .map(|(time_secs, height)| {
                let ratio = height / std::mem::replace(&mut before, height);
                Top { time_secs, height, ratio }
            })
            .collect();
        Ok(Bounces { curve, tops })
    }

    fn as_json(&self, output: &Path, recorded: &Recorded) -> Value {
        let tops = self.tops.iter().map(|top| {
            json!({"secs": top.time_secs, "height_m": top.height, "of_the_one_before": top.ratio})
        });
        json!({
            "recording": output, "engine": ENGINE,
            "simulated_secs": recorded.end.state.time.secs(), "ended": recorded.ending_word(),
            "messages": recorded.written.n_messages, "bounces": tops.collect::<Vec<_>>(),
        })
    }

    fn story(&self, output: &Path, factor: f64, verdict: &str) -> String {
        let drawing = Chart {
            title: "height of the ball above the ground [m]",
            x_label: "time [s]",
            n_columns: 64,
            n_rows: 10,
            floor: Some(0.0),
        };
        let row = |(i, top): (usize, &Top)| {
            vec![
                (i + 1).to_string(),
                format!("{:.3}", top.time_secs),
                format!("{:.4}", top.height),
                format!("{:.4}", top.ratio),
            ]
        };
        let rows: Vec<Vec<String>> = self.tops.iter().enumerate().map(row).collect();
        let header = ["bounce", "top at s", "height m", "of the one before"]
            .map(|name| (name, Align::Right));
        let shown = output.display();
        format!(
            "A ball falls 3 m onto the ground; both bounce with a restitution of 0.7.\n\n{}\n{}\n\
             Each bounce should reach 0.7² = 0.49 of the one before. A test says so; it watched the\n\
             run and was asked again on the recording:\n\n\
             {verdict}\n\
             Recorded in {shown} with the test inside, {factor:.0} × faster than real time.\n\n\
             Try next:\n  \
             headland info {shown}                what is in the recording\n  \
             headland export {shown} -o ball.csv  the numbers as a table\n  \
             headland run WORLD                     a world of your own: SDF, URDF or MJCF\n\
             The recording is a ROS 2 MCAP, the format rosbags, evo, Foxglove, Rerun and PlotJuggler read.\n",
            chart(&drawing, &self.curve),
            table(&header, &rows),
        )
    }
}
