// Pinocchio's side of `benches/motion`: reads a robot and states, then answers requests.
//
//   in   gravity x y z
//        nodes n, then one line each: parent (-1 none), kind (free, turn), place x y z and
//        quaternion x y z w of its joint in its parent, mass, centre, inertia by columns, armature
//        states n, then one line each: positions, velocities, efforts, accelerations
//   ask  "values <algorithm>": its results of every state, on one line
//        "time <algorithm> <n>": nanoseconds of this thread over n rounds of all states
//
// The links' frames have z along their axes, so that each joint is Pinocchio's quickest kind.
#include <cstdio>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/center-of-mass.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody.hpp>

namespace pin = pinocchio;
using Eigen::VectorXd;

struct State {
    VectorXd q, v, tau, a;
};

static double number() {
    double x;
    if (!(std::cin >> x)) std::exit(2);
    return x;
}

static std::string word() {
    std::string s;
    std::cin >> s;
    return s;
}

static Eigen::Vector3d vector3() {
    const double x = number(), y = number(), z = number();
    return Eigen::Vector3d(x, y, z);
}

static void fill(VectorXd &to, Eigen::Index n) {
    to.resize(n);
    for (Eigen::Index i = 0; i < n; i++) to[i] = number();
}

struct Node {
    int parent;
    std::string kind;
    pin::SE3 placement;
    pin::Inertia inertia;
    double armature;
};

static Node read_node() {
    Node node;
    node.parent = static_cast<int>(number());
    node.kind = word();
    const Eigen::Vector3d at = vector3();
    const double x = number(), y = number(), z = number(), w = number();
    node.placement = pin::SE3(Eigen::Quaterniond(w, x, y, z).matrix(), at);
    const double mass = number();
    const Eigen::Vector3d centre = vector3();
    Eigen::Matrix3d inertia;
    for (int k = 0; k < 9; k++) inertia(k % 3, k / 3) = number();
    node.inertia = pin::Inertia(mass, centre, inertia);
    node.armature = number();
    return node;
}

static pin::Model build(const std::vector<Node> &nodes, const Eigen::Vector3d &gravity) {
    pin::Model model;
    model.gravity.linear() = gravity;
    std::vector<pin::JointIndex> joints;
    std::vector<double> armatures;
    for (size_t i = 0; i < nodes.size(); i++) {
        const pin::JointIndex parent = nodes[i].parent < 0 ? 0 : joints[static_cast<size_t>(nodes[i].parent)];
        pin::JointIndex made;
        const std::string name = "j" + std::to_string(i);
        if (nodes[i].kind == "free") {
            made = model.addJoint(parent, pin::JointModelFreeFlyer(), nodes[i].placement, name);
            armatures.insert(armatures.end(), 6, 0.0);
        } else {
            made = model.addJoint(parent, pin::JointModelRZ(), nodes[i].placement, name);
            armatures.push_back(nodes[i].armature);
        }
        model.appendBodyToJoint(made, nodes[i].inertia, pin::SE3::Identity());
        joints.push_back(made);
    }
    model.armature = Eigen::Map<VectorXd>(armatures.data(), static_cast<Eigen::Index>(armatures.size()));
    return model;
}

struct Peer {
    pin::Model model;
    pin::Data data;
    std::vector<State> states;

    void call(char algorithm, const State &s) {
        switch (algorithm) {
        case 'f': pin::forwardKinematics(model, data, s.q); break;
        case 'c': pin::centerOfMass(model, data, s.q, false); break;
        case 'm': pin::crba(model, data, s.q); break;
        case 'r': pin::rnea(model, data, s.q, s.v, s.a); break;
        case 'a': pin::aba(model, data, s.q, s.v, s.tau); break;
        default: std::exit(2);
        }
    }

    void print(char algorithm) {
        switch (algorithm) {
        case 'f': {
            const Eigen::Vector3d at = data.oMi.back().translation();
            std::printf("%.17g %.17g %.17g ", at.x(), at.y(), at.z());
            break;
        }
        case 'c': std::printf("%.17g %.17g %.17g ", data.com[0].x(), data.com[0].y(), data.com[0].z()); break;
        case 'm':
            for (int i = 0; i < model.nv; i++)
                for (int k = i; k < model.nv; k++) std::printf("%.17g ", data.M(i, k));
            break;
        case 'r':
            for (int i = 0; i < model.nv; i++) std::printf("%.17g ", data.tau[i]);
            break;
        case 'a':
            for (int i = 0; i < model.nv; i++) std::printf("%.17g ", data.ddq[i]);
            break;
        }
    }
};

static double thread_nanos() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

int main() {
    word();
    const Eigen::Vector3d gravity = vector3();
    word();
    std::vector<Node> nodes(static_cast<size_t>(number()));
    for (Node &node : nodes) node = read_node();
    const pin::Model model = build(nodes, gravity);
    Peer peer{model, pin::Data(model), {}};
    word();
    peer.states.resize(static_cast<size_t>(number()));
    for (State &state : peer.states) {
        fill(state.q, model.nq);
        fill(state.v, model.nv);
        fill(state.tau, model.nv);
        fill(state.a, model.nv);
    }
    std::string request, algorithm;
    while (std::cin >> request >> algorithm) {
        if (request == "time") {
            const long n = static_cast<long>(number());
            const double start = thread_nanos();
            for (long i = 0; i < n; i++)
                for (const State &state : peer.states) peer.call(algorithm[0], state);
            std::printf("%.17g\n", thread_nanos() - start);
        } else {
            for (const State &state : peer.states) {
                peer.call(algorithm[0], state);
                peer.print(algorithm[0]);
            }
            std::printf("\n");
        }
        std::fflush(stdout);
    }
}
