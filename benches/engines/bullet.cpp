// Bullet by hand, as its manual says: boxes on one another, stepped and nothing else.
//
// Compiled by bullet.rs beside this file. Settings are those of crates/engines/src/bullet.

#include <memory>
#include <vector>

#include <btBulletDynamicsCommon.h>

struct Stack {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher{&configuration};
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
  btStaticPlaneShape plane{btVector3(0, 0, 1), 0};
  btBoxShape cube{btVector3(0.25, 0.25, 0.25)};
  std::vector<std::unique_ptr<btRigidBody>> bodies;

  void add(btCollisionShape* shape, double mass, btVector3 inertia, double z) {
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape, inertia);
    info.m_startWorldTransform.setOrigin(btVector3(0, 0, z));
    bodies.push_back(std::make_unique<btRigidBody>(info));
    bodies.back()->setFriction(1);
    bodies.back()->setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(bodies.back().get());
  }

  explicit Stack(int n_boxes) {
    configuration.setPlaneConvexMultipointIterations(4, 4);
    configuration.setConvexConvexMultipointIterations(4, 4);
    world.setGravity(btVector3(0, 0, -9.81));
    world.getSolverInfo().m_numIterations = 50;
    world.getSolverInfo().m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
    world.getSolverInfo().m_restitutionVelocityThreshold = 0;
    cube.setMargin(1e-4);
    add(&plane, 0, btVector3(0, 0, 0), 0);
    for (int i = 0; i < n_boxes; i++) {
      add(&cube, 1, btVector3(0.0417, 0.0417, 0.0417), 0.25 + 0.5 * i);
    }
  }
};

extern "C" {

void* bare_new(int n_boxes) { return new Stack(n_boxes); }

void bare_step(void* stack) { static_cast<Stack*>(stack)->world.stepSimulation(1e-3, 0); }

double bare_top(void* stack) {
  return static_cast<Stack*>(stack)->bodies.back()->getWorldTransform().getOrigin().z();
}

}  // extern "C"
