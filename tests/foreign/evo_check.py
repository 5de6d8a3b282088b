"""Reads trajectories with evo, from the recording and from TUM files, and compares.

usage: evo_check.py RECORDING.mcap REFERENCE_TOPIC TOPIC REFERENCE.tum TRAJECTORY.tum

Prints the absolute position error between the two trajectories as evo sees it, once from
the recording and once from the TUM files.
"""

import sys
from pathlib import Path

import numpy as np
from evo.core import metrics, sync
from evo.tools import file_interface
from rosbags.rosbag2 import Reader


def rmse(reference, trajectory):
    reference, trajectory = sync.associate_trajectories(reference, trajectory)
    ape = metrics.APE(metrics.PoseRelation.translation_part)
    ape.process_data((reference, trajectory))
    return ape.get_statistic(metrics.StatisticsType.rmse)


def main():
    recording, reference_topic, topic, reference_tum, tum = sys.argv[1:]
    with Reader(Path(recording)) as reader:
        from_bag = [
            file_interface.read_bag_trajectory(reader, name) for name in (reference_topic, topic)
        ]
    from_tum = [file_interface.read_tum_trajectory_file(name) for name in (reference_tum, tum)]
    for bag, text in zip(from_bag, from_tum):
        # Times are floats in evo; positions and orientations must be equal to the bit.
        assert np.allclose(bag.timestamps, text.timestamps, rtol=0, atol=1e-9)
        assert np.array_equal(bag.positions_xyz, text.positions_xyz)
        assert np.array_equal(bag.orientations_quat_wxyz, text.orientations_quat_wxyz)
        valid, details = bag.check()
        assert valid, details
    print(f"poses {from_bag[0].num_poses}")
    print(f"rmse {rmse(*from_bag)!r} {rmse(*from_tum)!r}")


main()
