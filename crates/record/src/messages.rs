//! The ROS 2 messages we know by type, as Rust values.
//!
//! Field for field as ROS 2 defines them, so that `serde` gives the wire order; `cdr` turns
//! them into bytes and back.
//!
//! Deliberately absent: what a message means for a recording; that is `sampler`.

use headland_base::maths::{Quat, Vec3};
use headland_base::{SimTime, Transform};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::definitions;

pub use crate::cdr::{decode, encode, encode_with_data};

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $package:literal / $name:literal,)*) => {
        /// The message types written and read as typed values.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind { $($(#[$doc])* $kind,)* }

        impl Kind {
            /// Every kind there is.
            pub const ALL: &[Kind] = &[$(Kind::$kind,)*];

            /// The name a channel's schema carries: `geometry_msgs/msg/PoseStamped`.
            pub fn name(self) -> &'static str {
                match self { $(Kind::$kind => concat!($package, "/msg/", $name),)* }
            }

            fn short_name(self) -> &'static str {
                match self { $(Kind::$kind => concat!($package, "/", $name),)* }
            }
        }
    };
}

kinds! {
    /// Where an object is.
    PoseStamped = "geometry_msgs" / "PoseStamped",
    /// How an object moves.
    TwistStamped = "geometry_msgs" / "TwistStamped",
    /// A force and a torque.
    WrenchStamped = "geometry_msgs" / "WrenchStamped",
    /// Positions, velocities and efforts of named joints.
    JointState = "sensor_msgs" / "JointState",
    /// An inertial measurement.
    Imu = "sensor_msgs" / "Imu",
    /// A position on the Earth.
    NavSatFix = "sensor_msgs" / "NavSatFix",
    /// A magnetic field.
    MagneticField = "sensor_msgs" / "MagneticField",
    /// A pressure of air or water.
    FluidPressure = "sensor_msgs" / "FluidPressure",
    /// A height, and how it changes.
    Altimeter = "ros_gz_interfaces" / "Altimeter",
    /// One turn of a planar range finder.
    LaserScan = "sensor_msgs" / "LaserScan",
    /// Points in space with what was measured at each.
    PointCloud2 = "sensor_msgs" / "PointCloud2",
    /// One distance.
    Range = "sensor_msgs" / "Range",
    /// Objects that were found, with poses.
    Detection3DArray = "vision_msgs" / "Detection3DArray",
    /// A picture as it is.
    Image = "sensor_msgs" / "Image",
    /// A picture as a PNG or a JPEG.
    CompressedImage = "sensor_msgs" / "CompressedImage",
    /// How a camera maps directions to pixels.
    CameraInfo = "sensor_msgs" / "CameraInfo",
    /// A pose and a twist with covariances.
    Odometry = "nav_msgs" / "Odometry",
    /// Several named transforms.
    TfMessage = "tf2_msgs" / "TFMessage",
    /// Yes or no.
    Bool = "std_msgs" / "Bool",
    /// One number.
    Float64 = "std_msgs" / "Float64",
    /// One text.
    Text = "std_msgs" / "String",
    /// Every contact at one moment.
    Contacts = "headland_msgs" / "Contacts",
    /// What a sole carries, and where.
    FootPressure = "headland_msgs" / "FootPressure",
    /// What the joints were told to do.
    JointCommand = "headland_msgs" / "JointCommand",
    /// Something worth a word: a divergence, a watchdog, the end of the run.
    Event = "headland_msgs" / "Event",
}

impl Kind {
    /// The kind with this schema name; ROS writes it with or without the middle `msg`.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| kind.name() == name || kind.short_name() == name)
    }

    /// Whether its messages begin with a header, and so say when they were measured.
    pub fn has_header(self) -> bool {
        let text = definitions::schema_text(self.short_name());
        let mut own = text.lines().take_while(|line| !line.starts_with('='));
        own.any(|line| line == "std_msgs/Header header")
    }

    /// The `ros2msg` text a channel embeds: the type and everything it is made of.
    pub fn definition(self) -> String {
        definitions::schema_text(self.short_name())
    }
}

/// A message that knows its kind.
pub trait Message: Serialize + DeserializeOwned {
    /// Which of the known types it is.
    const KIND: Kind;
}

macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident $(: $kind:ident)? { $($(#[$field_doc:meta])* $field:ident: $ty:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct $name { $($(#[$field_doc])* pub $field: $ty,)* }
        $(impl Message for $name { const KIND: Kind = Kind::$kind; })?
    )*};
}

messages! {
    /// `builtin_interfaces/Time`.
    Time {
        /// Whole seconds.
        sec: i32,
        /// The rest, below one second.
        nanosec: u32,
    }
    /// `std_msgs/Header`.
    Header {
        /// When it was measured.
        stamp: Time,
        /// The frame its numbers are written in.
        frame_id: String,
    }
    /// `geometry_msgs/Vector3` and `geometry_msgs/Point`.
    Vector3 {
        /// Along x.
        x: f64,
        /// Along y.
        y: f64,
        /// Along z.
        z: f64,
    }
    /// `geometry_msgs/Quaternion`.
    Quaternion {
        /// First imaginary part.
        x: f64,
        /// Second imaginary part.
        y: f64,
        /// Third imaginary part.
        z: f64,
        /// Real part.
        w: f64,
    }
    /// `geometry_msgs/Pose`.
    Pose {
        /// Where \[m\].
        position: Vector3,
        /// Which way.
        orientation: Quaternion,
    }
    /// `geometry_msgs/PoseStamped`.
    PoseStamped: PoseStamped {
        /// When, and in which frame.
        header: Header,
        /// `frame_from_object`.
        pose: Pose,
    }
    /// `geometry_msgs/Twist`.
    Twist {
        /// Velocity \[m/s\].
        linear: Vector3,
        /// Angular velocity \[rad/s\].
        angular: Vector3,
    }
    /// `geometry_msgs/TwistStamped`.
    TwistStamped: TwistStamped {
        /// When, and in which frame.
        header: Header,
        /// The motion.
        twist: Twist,
    }
    /// `geometry_msgs/Wrench`.
    Wrench {
        /// Force \[N\].
        force: Vector3,
        /// Torque \[N·m\].
        torque: Vector3,
    }
    /// `geometry_msgs/WrenchStamped`.
    WrenchStamped: WrenchStamped {
        /// When, and in which frame.
        header: Header,
        /// The load.
        wrench: Wrench,
    }
    /// `sensor_msgs/JointState`. The three number lists are as long as `name`, or empty.
    JointState: JointState {
        /// When.
        header: Header,
        /// The joints, in the order of the lists below.
        name: Vec<String>,
        /// \[rad\] or \[m\].
        position: Vec<f64>,
        /// \[rad/s\] or \[m/s\].
        velocity: Vec<f64>,
        /// \[N·m\] or \[N\].
        effort: Vec<f64>,
    }
    /// `sensor_msgs/Imu`.
    Imu: Imu {
        /// When, and in which frame.
        header: Header,
        /// Orientation estimate; its covariance starts with −1 where there is none.
        orientation: Quaternion,
        /// Row-major 3×3.
        orientation_covariance: [f64; 9],
        /// \[rad/s\].
        angular_velocity: Vector3,
        /// Row-major 3×3.
        angular_velocity_covariance: [f64; 9],
        /// \[m/s²\].
        linear_acceleration: Vector3,
        /// Row-major 3×3.
        linear_acceleration_covariance: [f64; 9],
    }
    /// `sensor_msgs/NavSatStatus`.
    NavSatStatus {
        /// [`NavSatStatus::FIX`] or [`NavSatStatus::NO_FIX`].
        status: i8,
        /// [`NavSatStatus::GPS`], and others.
        service: u16,
    }
    /// `sensor_msgs/NavSatFix`.
    NavSatFix: NavSatFix {
        /// When, and the frame of the antenna.
        header: Header,
        /// Whether there is a fix, and from which satellites.
        status: NavSatStatus,
        /// North of the equator \[°\].
        latitude: f64,
        /// East of Greenwich \[°\].
        longitude: f64,
        /// Above the WGS 84 ellipsoid \[m\].
        altitude: f64,
        /// Row-major 3×3 over east, north and up \[m²\].
        position_covariance: [f64; 9],
        /// [`NavSatFix::UNKNOWN`], [`NavSatFix::DIAGONAL_KNOWN`] and others.
        position_covariance_type: u8,
    }
    /// `sensor_msgs/MagneticField`.
    MagneticField: MagneticField {
        /// When, and in which frame.
        header: Header,
        /// \[T\].
        magnetic_field: Vector3,
        /// Row-major 3×3.
        magnetic_field_covariance: [f64; 9],
    }
    /// `sensor_msgs/FluidPressure`.
    FluidPressure: FluidPressure {
        /// When, and in which frame.
        header: Header,
        /// Absolute \[Pa\].
        fluid_pressure: f64,
        /// \[Pa²\], 0 where it is not known.
        variance: f64,
    }
    /// `ros_gz_interfaces/Altimeter`.
    Altimeter: Altimeter {
        /// When, and in which frame.
        header: Header,
        /// Above the reference \[m\].
        vertical_position: f64,
        /// Upwards \[m/s\].
        vertical_velocity: f64,
        /// What heights are told from, in the world \[m\].
        vertical_reference: f64,
    }
    /// `sensor_msgs/LaserScan`.
    LaserScan: LaserScan {
        /// When the first ray was measured, and in which frame.
        header: Header,
        /// Angle of the first ray \[rad\].
        angle_min: f32,
        /// Angle of the last ray \[rad\].
        angle_max: f32,
        /// Between rays \[rad\].
        angle_increment: f32,
        /// Between rays \[s\].
        time_increment: f32,
        /// Between scans \[s\].
        scan_time: f32,
        /// Shortest distance the sensor can see \[m\].
        range_min: f32,
        /// Longest distance the sensor can see \[m\].
        range_max: f32,
        /// Distances \[m\].
        ranges: Vec<f32>,
        /// Strengths of the echoes, or empty.
        intensities: Vec<f32>,
    }
    /// `sensor_msgs/Image`.
    Image: Image {
        /// When, and in which frame: +z forward, +x right, +y down.
        header: Header,
        /// Rows.
        height: u32,
        /// Pixels of a row.
        width: u32,
        /// What a pixel is: `rgb8`, `mono8`, `32FC1`, …
        encoding: String,
        /// Whether numbers have their first byte first.
        is_bigendian: u8,
        /// Bytes of a row.
        step: u32,
        /// The pixels, row by row from the top.
        data: Vec<u8>,
    }
    /// `sensor_msgs/CompressedImage`.
    CompressedImage: CompressedImage {
        /// When, and in which frame.
        header: Header,
        /// `png` or `jpeg`.
        format: String,
        /// The file.
        data: Vec<u8>,
    }
    /// `sensor_msgs/RegionOfInterest`.
    RegionOfInterest {
        /// First column.
        x_offset: u32,
        /// First row.
        y_offset: u32,
        /// Rows; 0 is all.
        height: u32,
        /// Columns; 0 is all.
        width: u32,
        /// Whether it is to be rectified.
        do_rectify: bool,
    }
    /// `sensor_msgs/CameraInfo`.
    CameraInfo: CameraInfo {
        /// When, and in which frame.
        header: Header,
        /// Rows.
        height: u32,
        /// Pixels of a row.
        width: u32,
        /// `plumb_bob` or `equidistant`.
        distortion_model: String,
        /// The coefficients in OpenCV's order.
        d: Vec<f64>,
        /// Row-major 3×3: focal lengths, skew and principal point of the image as it is.
        k: [f64; 9],
        /// Row-major 3×3: the rectified frame from the camera's.
        r: [f64; 9],
        /// Row-major 3×4 of the rectified image; its fourth column is where the other camera of
        /// a pair is.
        p: [f64; 12],
        /// Pixels along a row that became one; 0 is 1.
        binning_x: u32,
        /// Rows that became one; 0 is 1.
        binning_y: u32,
        /// What of the sensor is shown; nothing is all.
        roi: RegionOfInterest,
    }
    /// `sensor_msgs/PointField`.
    PointField {
        /// What is measured: `x`, `intensity`, …
        name: String,
        /// Where it is in a point \[bytes\].
        offset: u32,
        /// Which sort of number: 4 is u16, 7 is f32.
        datatype: u8,
        /// How many of them.
        count: u32,
    }
    /// `sensor_msgs/PointCloud2`.
    PointCloud2: PointCloud2 {
        /// When and in which frame.
        header: Header,
        /// Rows; 1 where points have no order.
        height: u32,
        /// Points in a row.
        width: u32,
        /// What is in a point.
        fields: Vec<PointField>,
        /// Whether numbers have their first byte first.
        is_bigendian: bool,
        /// Bytes of a point.
        point_step: u32,
        /// Bytes of a row.
        row_step: u32,
        /// The points.
        data: Vec<u8>,
        /// Whether every point is one; those that are none are not numbers.
        is_dense: bool,
    }
    /// `sensor_msgs/Range`.
    Range: Range {
        /// When and in which frame.
        header: Header,
        /// 0 is sound, 1 is light.
        radiation_type: u8,
        /// The angle it looks over \[rad\].
        field_of_view: f32,
        /// Shortest distance it can see \[m\].
        min_range: f32,
        /// Longest distance it can see \[m\].
        max_range: f32,
        /// The distance \[m\]; infinite where there is nothing.
        range: f32,
        /// Of the distance \[m²\].
        variance: f32,
    }
    /// `vision_msgs/ObjectHypothesis`.
    ObjectHypothesis {
        /// What it is taken for.
        class_id: String,
        /// How sure that is, 0 to 1.
        score: f64,
    }
    /// `vision_msgs/ObjectHypothesisWithPose`.
    ObjectHypothesisWithPose {
        /// What it is taken for.
        hypothesis: ObjectHypothesis,
        /// Where it is.
        pose: PoseWithCovariance,
    }
    /// `vision_msgs/BoundingBox3D`.
    BoundingBox3D {
        /// Its middle.
        center: Pose,
        /// From side to side \[m\].
        size: Vector3,
    }
    /// `vision_msgs/Detection3D`.
    Detection3D {
        /// When and in which frame.
        header: Header,
        /// What it may be, the likeliest first.
        results: Vec<ObjectHypothesisWithPose>,
        /// Around it.
        bbox: BoundingBox3D,
        /// The same as long as it is taken for the same object.
        id: String,
    }
    /// `vision_msgs/Detection3DArray`.
    Detection3DArray: Detection3DArray {
        /// When and in which frame.
        header: Header,
        /// What was found.
        detections: Vec<Detection3D>,
    }
    /// `geometry_msgs/PoseWithCovariance`.
    PoseWithCovariance {
        /// The pose.
        pose: Pose,
        /// Row-major 6×6 over x, y, z and rotations about them.
        covariance: [[f64; 6]; 6],
    }
    /// `geometry_msgs/TwistWithCovariance`.
    TwistWithCovariance {
        /// The motion.
        twist: Twist,
        /// Row-major 6×6 over x, y, z and rotations about them.
        covariance: [[f64; 6]; 6],
    }
    /// `nav_msgs/Odometry`.
    Odometry: Odometry {
        /// When, and the frame of the pose.
        header: Header,
        /// The frame of the twist.
        child_frame_id: String,
        /// Where.
        pose: PoseWithCovariance,
        /// How it moves.
        twist: TwistWithCovariance,
    }
    /// `geometry_msgs/Transform`.
    TransformParts {
        /// \[m\].
        translation: Vector3,
        /// A unit quaternion.
        rotation: Quaternion,
    }
    /// `geometry_msgs/TransformStamped`.
    TransformStamped {
        /// When, and the outer frame.
        header: Header,
        /// The inner frame.
        child_frame_id: String,
        /// `frame_from_child`.
        transform: TransformParts,
    }
    /// `tf2_msgs/TFMessage`.
    TfMessage: TfMessage {
        /// One per child frame.
        transforms: Vec<TransformStamped>,
    }
    /// `std_msgs/Bool`.
    Bool: Bool {
        /// Yes or no.
        data: bool,
    }
    /// `std_msgs/Float64`.
    Float64: Float64 {
        /// The number.
        data: f64,
    }
    /// `std_msgs/String`.
    Text: Text {
        /// The text.
        data: String,
    }
    /// `headland_msgs/Contact`: two bodies touch in one point.
    Contact {
        /// The first body.
        body_a: String,
        /// The second body.
        body_b: String,
        /// Where, in the world \[m\].
        position: Vector3,
        /// From `body_a` towards `body_b`, unit length, in the world.
        normal: Vector3,
        /// How deep they overlap, positive when they do \[m\].
        depth: f64,
        /// Along the normal, never negative \[N\].
        normal_force: f64,
        /// All of the force `body_a` puts on `body_b`, friction included, in the world \[N\].
        force: Vector3,
    }
    /// `headland_msgs/Contacts`.
    Contacts: Contacts {
        /// When, and in which frame.
        header: Header,
        /// Every contact at that moment.
        contacts: Vec<Contact>,
    }
    /// `headland_msgs/FootPressure`, in the frame of the sole: x forward, y left, z up.
    FootPressure: FootPressure {
        /// When, and the frame of the sole.
        header: Header,
        /// What presses against the sole along z \[N\].
        normal_force: f64,
        /// Where on the sole it acts as one force; its middle where nothing presses \[m\].
        centre_of_pressure: Vector3,
        /// At the corners: front left, front right, rear left, rear right \[N\].
        cells: [f64; 4],
    }
    /// `headland_msgs/JointCommand`. All lists are equally long.
    JointCommand: JointCommand {
        /// When it was given.
        header: Header,
        /// The joints.
        name: Vec<String>,
        /// [`JointCommand::POSITION`], [`JointCommand::VELOCITY`] or
        /// [`JointCommand::EFFORT`], per joint.
        mode: Vec<u8>,
        /// In the unit of its mode.
        target: Vec<f64>,
    }
    /// `headland_msgs/Event`.
    Event: Event {
        /// When.
        header: Header,
        /// Who says so: a body, a controller, the engine.
        source: String,
        /// What kind of thing happened: `divergence`, `watchdog`, `end`.
        kind: String,
        /// In words.
        text: String,
    }
}

impl JointCommand {
    /// The target is a position.
    pub const POSITION: u8 = 0;
    /// The target is a velocity.
    pub const VELOCITY: u8 = 1;
    /// The target is a force or torque.
    pub const EFFORT: u8 = 2;
}

impl NavSatStatus {
    /// There is no position.
    pub const NO_FIX: i8 = -1;
    /// There is one, without augmentation.
    pub const FIX: i8 = 0;
    /// From the American satellites.
    pub const GPS: u16 = 1;
}

impl NavSatFix {
    /// Nothing is known of the covariance.
    pub const UNKNOWN: u8 = 0;
    /// Its diagonal is known.
    pub const DIAGONAL_KNOWN: u8 = 2;
}

impl Time {
    /// The stamp of a moment; `None` outside what its 32 bits of seconds hold.
    pub fn from_sim(time: SimTime) -> Option<Time> {
        let sec = i32::try_from(time.nanos().div_euclid(1_000_000_000)).ok()?;
        Some(Time { sec, nanosec: time.nanos().rem_euclid(1_000_000_000) as u32 })
    }

    /// The moment of a stamp.
    pub fn sim(&self) -> SimTime {
        SimTime::from_nanos(i64::from(self.sec) * 1_000_000_000 + i64::from(self.nanosec))
    }
}

impl Header {
    /// A header for a moment; times past 2038 saturate, as a 32-bit stamp must.
    pub fn new(time: SimTime, frame_id: &str) -> Header {
        let last = Time { sec: i32::MAX, nanosec: 999_999_999 };
        Header { stamp: Time::from_sim(time).unwrap_or(last), frame_id: frame_id.to_string() }
    }
}

impl From<Vec3> for Vector3 {
    fn from(v: Vec3) -> Vector3 {
        Vector3 { x: v.x, y: v.y, z: v.z }
    }
}

impl From<&Vector3> for Vec3 {
    fn from(v: &Vector3) -> Vec3 {
        Vec3::new(v.x, v.y, v.z)
    }
}

impl From<Quat> for Quaternion {
    fn from(q: Quat) -> Quaternion {
        Quaternion { x: q.x, y: q.y, z: q.z, w: q.w }
    }
}

impl From<&Quaternion> for Quat {
    fn from(q: &Quaternion) -> Quat {
        Quat::from_xyzw(q.x, q.y, q.z, q.w)
    }
}

impl From<&Transform> for Pose {
    fn from(transform: &Transform) -> Pose {
        Pose { position: transform.translation.into(), orientation: transform.rotation.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_and_without_msg_are_known() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_name(kind.name()), Some(*kind));
            assert_eq!(Kind::from_name(&kind.name().replace("/msg/", "/")), Some(*kind));
        }
        assert_eq!(Kind::from_name("std_msgs/msg/Byte"), None);
    }

    #[test]
    fn stamps_before_zero_and_past_32_bits() {
        let before = SimTime::from_nanos(-1);
        assert_eq!(Time::from_sim(before).unwrap(), Time { sec: -1, nanosec: 999_999_999 });
        assert_eq!(Time::from_sim(before).unwrap().sim(), before);
        assert_eq!(Time::from_sim(SimTime::from_nanos(i64::MAX)), None);
    }
}
