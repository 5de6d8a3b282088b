// The worlds of tests/bullet.rs, written down once more by hand and driven through Bullet's own
// interface. Prints where the thing is after every tenth step, with all digits.
//
//   bullet_by_hand ball|box|pendulum|stack DT N_STEPS X Y Z QX QY QZ QW
//
// The seven numbers are where the thing starts; the box's slope is turned as the box is.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <btBulletDynamicsCommon.h>

int main(int n_arguments, char** arguments) {
  if (n_arguments != 11) return 2;
  const char* what = arguments[1];
  double dt = atof(arguments[2]);
  int n_steps = atoi(arguments[3]);
  double start[7];
  for (int i = 0; i < 7; i++) start[i] = atof(arguments[4 + i]);
  btTransform at(btQuaternion(start[3], start[4], start[5], start[6]),
                 btVector3(start[0], start[1], start[2]));

  btDefaultCollisionConfiguration configuration;
  configuration.setPlaneConvexMultipointIterations(4, 4);
  configuration.setConvexConvexMultipointIterations(4, 4);
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broadphase;
  btSequentialImpulseConstraintSolver solver;
  btDiscreteDynamicsWorld world(&dispatcher, &broadphase, &solver, &configuration);
  world.setGravity(btVector3(0, 0, -9.81));
  world.getSolverInfo().m_numIterations = 50;
  world.getSolverInfo().m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
  world.getSolverInfo().m_restitutionVelocityThreshold = 0;

  btStaticPlaneShape plane(btVector3(0, 0, 1), 0);
  btRigidBody::btRigidBodyConstructionInfo still(0, nullptr, &plane);
  if (!strcmp(what, "box")) still.m_startWorldTransform.setBasis(at.getBasis());
  btRigidBody ground(still);
  btEmptyShape nothing;
  btRigidBody nail(btRigidBody::btRigidBodyConstructionInfo(0, nullptr, &nothing));
  btSphereShape sphere(0.5);
  btBoxShape block(btVector3(0.3, 0.2, 0.1)), cube(btVector3(0.25, 0.25, 0.25));
  block.setMargin(1e-4);
  cube.setMargin(1e-4);
  auto add = [&](btCollisionShape* shape, double mass, btVector3 inertia, btTransform pose) {
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape, inertia);
    info.m_startWorldTransform = pose;
    auto* body = new btRigidBody(info);
    body->setActivationState(DISABLE_DEACTIVATION);
    world.addRigidBody(body);
    return body;
  };

  btRigidBody* thing = nullptr;
  if (!strcmp(what, "ball")) {
    ground.setRestitution(1);
    ground.setFriction(1);
    world.addRigidBody(&ground);
    thing = add(&sphere, 1.5, btVector3(0.15, 0.15, 0.15), at);
    thing->setRestitution(0.7);
    thing->setFriction(1);
  } else if (!strcmp(what, "box")) {
    ground.setFriction(1);
    world.addRigidBody(&ground);
    thing = add(&block, 2, btVector3(0.2, 0.4, 0.52) * (2 / 12.), at);
    thing->setFriction(0.2);
  } else if (!strcmp(what, "pendulum")) {
    thing = add(&nothing, 2, btVector3(0.02, 0.02, 0.02), at);
    world.addConstraint(new btHingeConstraint(nail, *thing, btVector3(0, 0, 0), btVector3(0, 0, 1),
                                              btVector3(0, 1, 0), btVector3(0, 1, 0)));
  } else if (!strcmp(what, "stack")) {
    ground.setFriction(1);
    world.addRigidBody(&ground);
    for (int i = 0; i < 20; i++) {
      btTransform pose(btQuaternion::getIdentity(), btVector3(0, 0, 0.25 + 0.5 * i));
      thing = add(&cube, 1, btVector3(1, 1, 1) * (0.25 / 6), pose);
      thing->setFriction(1);
    }
  } else {
    return 2;
  }

  auto begin = std::chrono::steady_clock::now();
  for (int i = 1; i <= n_steps; i++) {
    world.stepSimulation(dt, 0);
    if (i % 10) continue;
    btVector3 p = thing->getWorldTransform().getOrigin(), v = thing->getLinearVelocity();
    btQuaternion q = thing->getWorldTransform().getRotation();
    printf("%.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", p.x(), p.y(), p.z(),
           q.x(), q.y(), q.z(), q.w(), v.x(), v.y(), v.z());
  }
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  fprintf(stderr, "%.2f us per step\n", took.count() / n_steps * 1e6);
  return 0;
}
