//! Sensors of a written world on a bench: asked at moments and poses that a test chooses.

#![allow(dead_code)]

use std::path::Path;
use std::sync::Arc;

use headland_base::{Diagnostic, Seed, SimTime, Source};
use headland_record::messages::{Message, decode};
use headland_sense::declare::declare;
use headland_sim::{Look, Model, Sensor, State};
use headland_world::{Places, ReadOptions, read_text};

pub struct Bench {
    pub model: Model,
    pub places: Places,
    pub state: State,
    pub sensors: Vec<Box<dyn Sensor>>,
    pub findings: Vec<Diagnostic>,
}

impl Bench {
    /// The sensors of a world that is written without its outer elements.
    pub fn new(inside: &str) -> Bench {
        Bench::seeded(inside, 0)
    }

    pub fn seeded(inside: &str, seed: u64) -> Bench {
        let text = format!(
            "<sdf version='1.11' xmlns:headland='urn:headland:sdf'><world name='w'>{inside}\
             </world></sdf>"
        );
        let source = Source::new("test.sdf", text);
        let read = read_text(source, Path::new(""), &ReadOptions::default());
        let read = read.unwrap_or_else(|faults| panic!("{}", faults[0].render(false)));
        let model = Model::compile_read(&Arc::new(read.world), &read.places).unwrap();
        let (declared, mut findings) = declare(&model, &read.places);
        findings.extend(declared.iter().flat_map(|d| d.findings.clone()));
        let mut sensors: Vec<Box<dyn Sensor>> =
            declared.into_iter().filter_map(|declared| declared.into_sensor()).collect();
        let root = Seed::new(seed).child("sensor");
        for sensor in &mut sensors {
            let seed = root.child(&sensor.outputs()[0].topic);
            sensor.start(&model, &seed);
        }
        let state = State::initial(&model);
        Bench { model, places: read.places, state, sensors, findings }
    }

    /// The bytes of one output of a sensor now, or nothing.
    pub fn bytes(&mut self, sensor_idx: usize, output: usize) -> Option<Vec<u8>> {
        let look = Look { model: &self.model, state: &self.state, last_step: None, n_threads: 1 };
        let mut said = None;
        self.sensors[sensor_idx].sample(&look, &mut |i, cdr| {
            if i == output {
                said = Some(cdr);
            }
        });
        said
    }

    /// What a sensor says on its first output now.
    pub fn ask<M: Message>(&mut self, sensor_idx: usize) -> M {
        self.output(sensor_idx, 0)
    }

    pub fn output<M: Message>(&mut self, sensor_idx: usize, output: usize) -> M {
        decode(&self.bytes(sensor_idx, output).expect("a message")).unwrap()
    }

    /// What a sensor says so many times, a tenth of a second apart.
    pub fn often<M: Message>(&mut self, sensor_idx: usize, n: usize) -> Vec<M> {
        let one = |i: usize| {
            self.state.time = SimTime::from_nanos(i as i64 * 100_000_000);
            self.ask(sensor_idx)
        };
        (0..n).map(one).collect()
    }

    /// Moves the rigid of a body.
    pub fn body(&self, name: &str) -> usize {
        self.model.bodies.iter().find(|body| body.name == name).expect("a body").rigid_idx
    }
}
