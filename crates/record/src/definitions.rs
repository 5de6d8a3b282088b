//! The `.msg` text of every ROS 2 type we write, and how a channel's schema is put
//! together from it.
//!
//! A schema embeds the type itself and, behind separators, everything it is made of, so
//! that a reader needs no ROS installation. Only field lists are here: comments would be
//! repeated in every file.

use std::collections::BTreeSet;

/// Every type by its short name (`package/Type`) and its fields. A type that is not
/// `package/`-qualified inside belongs to the package of the type that uses it.
const TYPES: &[(&str, &str)] = &[
    ("builtin_interfaces/Time", "int32 sec\nuint32 nanosec\n"),
    ("std_msgs/Header", "builtin_interfaces/Time stamp\nstring frame_id\n"),
    ("std_msgs/Float64", "float64 data\n"),
    ("std_msgs/Bool", "bool data\n"),
    ("std_msgs/String", "string data\n"),
    ("geometry_msgs/Vector3", "float64 x\nfloat64 y\nfloat64 z\n"),
    ("geometry_msgs/Point", "float64 x\nfloat64 y\nfloat64 z\n"),
    ("geometry_msgs/Quaternion", "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n"),
    ("geometry_msgs/Pose", "Point position\nQuaternion orientation\n"),
    ("geometry_msgs/PoseStamped", "std_msgs/Header header\nPose pose\n"),
    ("geometry_msgs/PoseWithCovariance", "Pose pose\nfloat64[36] covariance\n"),
    ("geometry_msgs/Twist", "Vector3 linear\nVector3 angular\n"),
    ("geometry_msgs/TwistStamped", "std_msgs/Header header\nTwist twist\n"),
    ("geometry_msgs/TwistWithCovariance", "Twist twist\nfloat64[36] covariance\n"),
    ("geometry_msgs/Wrench", "Vector3 force\nVector3 torque\n"),
    ("geometry_msgs/WrenchStamped", "std_msgs/Header header\nWrench wrench\n"),
    ("geometry_msgs/Transform", "Vector3 translation\nQuaternion rotation\n"),
    (
        "geometry_msgs/TransformStamped",
        "std_msgs/Header header\nstring child_frame_id\nTransform transform\n",
    ),
    ("tf2_msgs/TFMessage", "geometry_msgs/TransformStamped[] transforms\n"),
    (
        "nav_msgs/Odometry",
        "std_msgs/Header header\nstring child_frame_id\n\
         geometry_msgs/PoseWithCovariance pose\ngeometry_msgs/TwistWithCovariance twist\n",
    ),
    (
        "sensor_msgs/JointState",
        "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\n\
         float64[] effort\n",
    ),
    (
        "sensor_msgs/Imu",
        "std_msgs/Header header\ngeometry_msgs/Quaternion orientation\n\
         float64[9] orientation_covariance\ngeometry_msgs/Vector3 angular_velocity\n\
         float64[9] angular_velocity_covariance\ngeometry_msgs/Vector3 linear_acceleration\n\
         float64[9] linear_acceleration_covariance\n",
    ),
    (
        "sensor_msgs/NavSatStatus",
        "int8 STATUS_NO_FIX=-1\nint8 STATUS_FIX=0\nint8 STATUS_SBAS_FIX=1\n\
         int8 STATUS_GBAS_FIX=2\nint8 status\nuint16 SERVICE_GPS=1\nuint16 SERVICE_GLONASS=2\n\
         uint16 SERVICE_COMPASS=4\nuint16 SERVICE_GALILEO=8\nuint16 service\n",
    ),
    (
        "sensor_msgs/NavSatFix",
        "std_msgs/Header header\nNavSatStatus status\nfloat64 latitude\nfloat64 longitude\n\
         float64 altitude\nfloat64[9] position_covariance\nuint8 COVARIANCE_TYPE_UNKNOWN=0\n\
         uint8 COVARIANCE_TYPE_APPROXIMATED=1\nuint8 COVARIANCE_TYPE_DIAGONAL_KNOWN=2\n\
         uint8 COVARIANCE_TYPE_KNOWN=3\nuint8 position_covariance_type\n",
    ),
    (
        "sensor_msgs/MagneticField",
        "std_msgs/Header header\ngeometry_msgs/Vector3 magnetic_field\n\
         float64[9] magnetic_field_covariance\n",
    ),
    (
        "sensor_msgs/FluidPressure",
        "std_msgs/Header header\nfloat64 fluid_pressure\nfloat64 variance\n",
    ),
    (
        "ros_gz_interfaces/Altimeter",
        "std_msgs/Header header\nfloat64 vertical_position\nfloat64 vertical_velocity\n\
         float64 vertical_reference\n",
    ),
    (
        "sensor_msgs/LaserScan",
        "std_msgs/Header header\nfloat32 angle_min\nfloat32 angle_max\nfloat32 angle_increment\n\
         float32 time_increment\nfloat32 scan_time\nfloat32 range_min\nfloat32 range_max\n\
         float32[] ranges\nfloat32[] intensities\n",
    ),
    (
        "sensor_msgs/Image",
        "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\n\
         uint8 is_bigendian\nuint32 step\nuint8[] data\n",
    ),
    ("sensor_msgs/CompressedImage", "std_msgs/Header header\nstring format\nuint8[] data\n"),
    (
        "sensor_msgs/RegionOfInterest",
        "uint32 x_offset\nuint32 y_offset\nuint32 height\nuint32 width\nbool do_rectify\n",
    ),
    (
        "sensor_msgs/CameraInfo",
        "std_msgs/Header header\nuint32 height\nuint32 width\nstring distortion_model\n\
         float64[] d\nfloat64[9] k\nfloat64[9] r\nfloat64[12] p\nuint32 binning_x\n\
         uint32 binning_y\nRegionOfInterest roi\n",
    ),
    ("sensor_msgs/PointField", "string name\nuint32 offset\nuint8 datatype\nuint32 count\n"),
    (
        "sensor_msgs/PointCloud2",
        "std_msgs/Header header\nuint32 height\nuint32 width\nPointField[] fields\n\
         bool is_bigendian\nuint32 point_step\nuint32 row_step\nuint8[] data\nbool is_dense\n",
    ),
    (
        "sensor_msgs/Range",
        "std_msgs/Header header\nuint8 ULTRASOUND=0\nuint8 INFRARED=1\nuint8 radiation_type\n\
         float32 field_of_view\nfloat32 min_range\nfloat32 max_range\nfloat32 range\n\
         float32 variance\n",
    ),
    ("vision_msgs/ObjectHypothesis", "string class_id\nfloat64 score\n"),
    (
        "vision_msgs/ObjectHypothesisWithPose",
        "ObjectHypothesis hypothesis\ngeometry_msgs/PoseWithCovariance pose\n",
    ),
    ("vision_msgs/BoundingBox3D", "geometry_msgs/Pose center\ngeometry_msgs/Vector3 size\n"),
    (
        "vision_msgs/Detection3D",
        "std_msgs/Header header\nObjectHypothesisWithPose[] results\nBoundingBox3D bbox\n\
         string id\n",
    ),
    ("vision_msgs/Detection3DArray", "std_msgs/Header header\nDetection3D[] detections\n"),
    (
        "headland_msgs/Contact",
        "string body_a\nstring body_b\ngeometry_msgs/Point position\n\
         geometry_msgs/Vector3 normal\nfloat64 depth\nfloat64 normal_force\n\
         geometry_msgs/Vector3 force\n",
    ),
    (
        "headland_msgs/FootPressure",
        "std_msgs/Header header\nfloat64 normal_force\n\
         geometry_msgs/Point centre_of_pressure\nfloat64[4] cells\n",
    ),
    ("headland_msgs/Contacts", "std_msgs/Header header\nContact[] contacts\n"),
    (
        "headland_msgs/JointCommand",
        "uint8 POSITION=0\nuint8 VELOCITY=1\nuint8 EFFORT=2\n\
         std_msgs/Header header\nstring[] name\nuint8[] mode\nfloat64[] target\n",
    ),
    ("headland_msgs/Event", "std_msgs/Header header\nstring source\nstring kind\nstring text\n"),
];

/// The fields of a type, by its short name.
fn fields(short_name: &str) -> &'static str {
    let found = TYPES.iter().find(|(name, _)| *name == short_name);
    found.map(|(_, fields)| *fields).expect("every type named in the table is in the table")
}

/// The schema text of `short_name`: its fields, then each type they are made of, once, in
/// the order first met.
pub(crate) fn schema_text(short_name: &str) -> String {
    let mut text = fields(short_name).to_string();
    let mut seen = BTreeSet::from([short_name.to_string()]);
    let mut waiting = made_of(short_name);
    while !waiting.is_empty() {
        let name = waiting.remove(0);
        if seen.insert(name.clone()) {
            text.push_str(&"=".repeat(80));
            text.push_str(&format!("\nMSG: {name}\n{}", fields(&name)));
            waiting.extend(made_of(&name));
        }
    }
    text
}

/// Short names of the message types among the fields of `short_name`.
fn made_of(short_name: &str) -> Vec<String> {
    let package = short_name.split('/').next().unwrap_or_default();
    let types = fields(short_name).lines().filter_map(|line| line.split_whitespace().next());
    let named = types.map(|ty| ty.split('[').next().unwrap_or(ty));
    // Message types alone start with a capital or carry a package.
    let messages = named.filter(|ty| ty.contains('/') || ty.starts_with(char::is_uppercase));
    messages
        .map(|ty| if ty.contains('/') { ty.to_string() } else { format!("{package}/{ty}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_made_of_types_in_the_table() {
        for (name, _) in TYPES {
            assert!(schema_text(name).len() > 5, "{name}");
        }
    }

    #[test]
    fn parts_follow_behind_eighty_signs_each_once() {
        let text = schema_text("geometry_msgs/PoseStamped");
        let parts: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("MSG: ")).collect();
        assert_eq!(
            parts,
            [
                "std_msgs/Header",
                "geometry_msgs/Pose",
                "builtin_interfaces/Time",
                "geometry_msgs/Point",
                "geometry_msgs/Quaternion"
            ]
        );
        assert!(text.lines().filter(|l| l.starts_with('=')).all(|l| l.len() == 80));
    }
}
