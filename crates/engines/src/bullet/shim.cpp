// A flat C face for Bullet's rigid bodies, compiled by headland where libbullet-dev is.
//
// Comes in: shapes, bodies, joints and axes once; forces and axis targets at every step.
// Goes out: poses, velocities and contact points, in arrays of doubles. Which numbers mean
// what was asked is not decided here but in realise.rs: this file only passes them on.
//
// Every door catches what is thrown and says it by `hb_error`. Nothing is printed.

#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <btBulletDynamicsCommon.h>
#include <BulletCollision/CollisionDispatch/btEmptyCollisionAlgorithm.h>
#include <BulletCollision/CollisionDispatch/btInternalEdgeUtility.h>
#include <BulletCollision/CollisionShapes/btHeightfieldTerrainShape.h>
#include <BulletCollision/CollisionShapes/btTriangleInfoMap.h>

// ------------------------------------------------------------------ what both sides know
// The same structs, field by field, are in shim.rs.

// Says of two shapes whether they may touch, and what holds between their surfaces.
typedef int (*hb_pair_fn)(const void* context, int shape_a, int shape_b, double* friction,
                          double* restitution);

struct hb_settings {
  double gravity[3];
  double restitution_threshold;
  double margin;      // of shapes that have one; below zero leaves Bullet's
  int n_iterations;   // zero leaves Bullet's
  int solver_mode;    // bits added to Bullet's own
  int multipoint;     // points asked for per perturbed contact; zero leaves Bullet's
  int is_raw;         // product rule, sleeping, edges inside meshes: all Bullet's own
  hb_pair_fn pair;
  const void* pair_context;
};

struct hb_body_def {
  double pose[7];     // of the centre of mass, along the principal axes: x y z, qx qy qz qw
  double twist[6];    // linear, angular
  double inertia[3];  // principal
  double gravity[3];
  double mass;
  double damping[2];      // Bullet's, between 0 and 1
  double friction;        // per body, heeded in raw only
  double restitution;
  int motion;         // 0 static, 1 kinematic, 2 dynamic
};

struct hb_axis_def {
  double direction[3];  // in the frame of the side that carries it
  double point[3];      // of the joint, in the child
  double lower, upper;
  double friction;
  int parent, child;    // below zero: the world
  int slides;
  int in_child;         // the direction turns with the child
};

struct hb_contact {
  double position[3];
  double normal[3];   // from the second shape's body to the first's
  double force[3];    // on the first
  double depth;
  int shape_a, shape_b;
};

namespace {

enum { STATIC = 0, KINEMATIC = 1, DYNAMIC = 2 };
enum { BOX = 0, SPHERE = 1, CYLINDER = 2, CAPSULE = 3, CONE = 4, ELLIPSOID = 5, PLANE = 6 };
enum { HINGE = 0, SLIDER = 1, BALL = 2, UNIVERSAL = 3, PISTON = 4 };

btVector3 vec(const double* v) { return btVector3(v[0], v[1], v[2]); }

btTransform transform(const double* p) {
  return btTransform(btQuaternion(p[3], p[4], p[5], p[6]), btVector3(p[0], p[1], p[2]));
}

void put(double* out, const btVector3& v) {
  out[0] = v.x();
  out[1] = v.y();
  out[2] = v.z();
}

// A ball stretched along three axes, by its exact support: s(d) = R·R·d / |R·d|.
class Ellipsoid : public btConvexInternalShape {
 public:
  // The margin is taken off inside, so that the outer surface is where it was asked.
  Ellipsoid(const btVector3& radii, btScalar margin) {
    m_shapeType = CUSTOM_CONVEX_SHAPE_TYPE;
    setMargin(margin);
    m_implicitShapeDimensions = radii - btVector3(margin, margin, margin);
  }
  btVector3 localGetSupportingVertexWithoutMargin(const btVector3& d) const override {
    const btVector3& r = m_implicitShapeDimensions;
    btVector3 scaled = r * d;
    btScalar length = scaled.length();
    if (length < SIMD_EPSILON) return btVector3(0, 0, r.z());
    return r * scaled / length;
  }
  void batchedUnitVectorGetSupportingVertexWithoutMargin(const btVector3* d, btVector3* out,
                                                         int n) const override {
    for (int i = 0; i < n; i++) out[i] = localGetSupportingVertexWithoutMargin(d[i]);
  }
  void calculateLocalInertia(btScalar, btVector3& inertia) const override {
    inertia.setValue(0, 0, 0);  // inertia is given, never taken from a shape
  }
  const char* getName() const override { return "Ellipsoid"; }
};

// Limits, dry friction and what is too stiff for the step to be a force, of one axis.
//
// It adds no rows to Bullet's own, but takes its turn in each of the solver's passes. A row
// of Bullet's with a compliance converges only where the compliance is small (its pass
// divides by 1/m, not by 1/m + compliance); this one divides by the sum.
class Axis : public btTypedConstraint {
 public:
  Axis(btRigidBody& parent, btRigidBody& child, const hb_axis_def& def)
      : btTypedConstraint(D6_CONSTRAINT_TYPE, parent, child), def_(def) {}

  // Where it is, and the damper that acts on it during the step: damping·(target − speed).
  void aim(double position, double target, double damping) {
    position_ = position;
    target_ = target;
    damping_ = damping;
  }

  void buildJacobian() override {
    const btTransform& a = m_rbA.getCenterOfMassTransform();
    const btTransform& b = m_rbB.getCenterOfMassTransform();
    btVector3 axis = (def_.in_child ? b : a).getBasis() * vec(def_.direction);
    btVector3 point = b * vec(def_.point);
    if (def_.slides) {
      linear_ = axis;
      turn_a_ = (point - a.getOrigin()).cross(axis);
      turn_b_ = (point - b.getOrigin()).cross(axis);
    } else {
      linear_.setZero();
      turn_a_ = turn_b_ = axis;
    }
    inverse_a_ = m_rbA.getInvInertiaTensorWorld() * turn_a_;
    inverse_b_ = m_rbB.getInvInertiaTensorWorld() * turn_b_;
    give_ = linear_.length2() * (m_rbA.getInvMass() + m_rbB.getInvMass()) +
            turn_a_.dot(inverse_a_) + turn_b_.dot(inverse_b_);
    soft_ = brake_ = low_ = high_ = 0;
  }

  void getInfo1(btConstraintInfo1* info) override { info->m_numConstraintRows = info->nub = 0; }
  void getInfo2(btConstraintInfo2*) override {}

  void solveConstraintObsolete(btSolverBody& a, btSolverBody& b, btScalar dt) override {
    if (give_ <= SIMD_EPSILON) return;
    if (damping_ > 0) {
      // v + λ/(d·dt) = target.
      btScalar compliance = 1 / (damping_ * dt);
      btScalar more = (target_ - speed(a, b) - soft_ * compliance) / (give_ + compliance);
      soft_ += more;
      push(a, b, more);
    }
    if (def_.friction > 0) {
      bounded(a, b, 0, brake_, -def_.friction * dt, def_.friction * dt);
    }
    // As fast towards a limit as arrives at it within the step; back from behind it by a
    // share of the error, as Bullet's own joints.
    if (def_.lower > -SIMD_INFINITY) {
      bounded(a, b, wanted(def_.lower - position_, dt), low_, 0, SIMD_INFINITY);
    }
    if (def_.upper < SIMD_INFINITY) {
      bounded(a, b, -wanted(position_ - def_.upper, dt), high_, -SIMD_INFINITY, 0);
    }
  }

  void setParam(int, btScalar, int) override {}
  btScalar getParam(int, int) const override { return 0; }

 private:
  static btScalar wanted(btScalar error, btScalar dt) {
    return error / dt * (error > 0 ? btScalar(0.2) : btScalar(1));
  }

  btScalar speed(const btSolverBody& a, const btSolverBody& b) const {
    auto of = [this](const btSolverBody& body, const btVector3& turn) {
      if (!body.m_originalBody) return btScalar(0);
      return linear_.dot(body.m_linearVelocity + body.m_externalForceImpulse +
                         body.m_deltaLinearVelocity) +
             turn.dot(body.m_angularVelocity + body.m_externalTorqueImpulse +
                      body.m_deltaAngularVelocity);
    };
    return of(b, turn_b_) - of(a, turn_a_);
  }

  void push(btSolverBody& a, btSolverBody& b, btScalar impulse) const {
    a.internalApplyImpulse(linear_ * m_rbA.getInvMass(), inverse_a_, -impulse);
    b.internalApplyImpulse(linear_ * m_rbB.getInvMass(), inverse_b_, impulse);
  }

  void bounded(btSolverBody& a, btSolverBody& b, btScalar target, btScalar& sum, btScalar least,
               btScalar most) const {
    btScalar before = sum;
    sum = btMax(least, btMin(most, sum + (target - speed(a, b)) / give_));
    push(a, b, sum - before);
  }

  hb_axis_def def_;
  btScalar position_ = 0, target_ = 0, damping_ = 0;
  btVector3 linear_, turn_a_, turn_b_, inverse_a_, inverse_b_;
  btScalar give_ = 0, soft_ = 0, brake_ = 0, low_ = 0, high_ = 0;
};

struct World;

// Bodies that have at least one pair of shapes that may touch.
struct BodyFilter : btOverlapFilterCallback {
  World* world;
  bool needBroadphaseCollision(btBroadphaseProxy* a, btBroadphaseProxy* b) const override;
};

// Gives shapes that never touch nothing to do, also inside compounds.
struct Dispatcher : btCollisionDispatcher {
  World* world;
  Dispatcher(btCollisionConfiguration* configuration, World* world)
      : btCollisionDispatcher(configuration), world(world) {}
  btCollisionAlgorithm* findAlgorithm(const btCollisionObjectWrapper* a,
                                      const btCollisionObjectWrapper* b,
                                      btPersistentManifold* shared,
                                      ebtDispatcherQueryType kind) override;
};

// A shape of ours, before its body is made.
struct Part {
  btCollisionShape* shape;
  btTransform body_from_part;
  int shape_idx;
};

struct Body {
  std::unique_ptr<btRigidBody> body;
  std::vector<int> shape_idxs;
  btVector3 linear, angular;  // of a kinematic one
  int motion;
  bool is_in_world;
};

struct World {
  hb_settings settings;
  std::string error;
  std::unique_ptr<btDefaultCollisionConfiguration> configuration;
  std::unique_ptr<Dispatcher> dispatcher;
  std::unique_ptr<btDbvtBroadphase> broadphase;
  std::unique_ptr<btSequentialImpulseConstraintSolver> solver;
  std::unique_ptr<btDiscreteDynamicsWorld> dynamics;
  BodyFilter filter;
  std::vector<Part> pending;
  std::vector<std::unique_ptr<btCollisionShape>> shapes;
  std::vector<std::unique_ptr<btTriangleMesh>> meshes;
  std::vector<std::unique_ptr<btTriangleInfoMap>> edges;
  std::vector<std::vector<double>> heights;
  std::unique_ptr<btEmptyShape> nothing;
  std::unique_ptr<btRigidBody> ground;
  std::vector<Body> bodies;
  std::vector<std::unique_ptr<btTypedConstraint>> joints;
  std::vector<std::unique_ptr<Axis>> axes;
  std::vector<hb_contact> contacts;

  bool may_touch(int a, int b) const {
    double friction, restitution;
    return settings.pair(settings.pair_context, a, b, &friction, &restitution) != 0;
  }

  btRigidBody& side(int body_idx) {
    return body_idx < 0 ? *ground : *bodies[size_t(body_idx)].body;
  }

  ~World() {
    if (!dynamics) return;
    for (auto& axis : axes) dynamics->removeConstraint(axis.get());
    for (auto& joint : joints) dynamics->removeConstraint(joint.get());
    for (auto& body : bodies) {
      if (body.is_in_world) dynamics->removeRigidBody(body.body.get());
    }
  }
};

// The shape of ours that a wrapper is, or is a part of.
int shape_of(const btCollisionObjectWrapper* wrapper) {
  for (; wrapper; wrapper = wrapper->m_parent) {
    int idx = wrapper->getCollisionShape()->getUserIndex();
    if (idx >= 0) return idx;
  }
  return -1;
}

bool BodyFilter::needBroadphaseCollision(btBroadphaseProxy* a, btBroadphaseProxy* b) const {
  if (!((a->m_collisionFilterGroup & b->m_collisionFilterMask) &&
        (b->m_collisionFilterGroup & a->m_collisionFilterMask))) {
    return false;
  }
  const auto* first = static_cast<const btCollisionObject*>(a->m_clientObject);
  const auto* second = static_cast<const btCollisionObject*>(b->m_clientObject);
  for (int i : world->bodies[size_t(first->getUserIndex())].shape_idxs) {
    for (int j : world->bodies[size_t(second->getUserIndex())].shape_idxs) {
      if (world->may_touch(i, j)) return true;
    }
  }
  return false;
}

btCollisionAlgorithm* Dispatcher::findAlgorithm(const btCollisionObjectWrapper* a,
                                                const btCollisionObjectWrapper* b,
                                                btPersistentManifold* shared,
                                                ebtDispatcherQueryType kind) {
  int i = a->getCollisionShape()->getUserIndex(), j = b->getCollisionShape()->getUserIndex();
  if (i >= 0 && j >= 0 && !world->may_touch(i, j)) {
    btCollisionAlgorithmConstructionInfo info(this, 1);
    return new (allocateCollisionAlgorithm(sizeof(btEmptyAlgorithm))) btEmptyAlgorithm(info);
  }
  return btCollisionDispatcher::findAlgorithm(a, b, shared, kind);
}

// Writes the pair's numbers over what Bullet's product rule made of it, and remembers which
// shapes they are.
bool contact_added(btManifoldPoint& point, const btCollisionObjectWrapper* a, int, int,
                   const btCollisionObjectWrapper* b, int part_b, int index_b) {
  auto* world = static_cast<World*>(a->getCollisionObject()->getUserPointer());
  if (!world) return false;  // of a world that is not ours
  int i = shape_of(a), j = shape_of(b);
  auto both = (uint64_t(uint32_t(i + 1)) << 32) | uint64_t(uint32_t(j + 1));
  point.m_userPersistentData = reinterpret_cast<void*>(both);
  if (world->settings.is_raw || i < 0 || j < 0) return false;
  double friction = 0, restitution = 0;
  world->settings.pair(world->settings.pair_context, i, j, &friction, &restitution);
  point.m_combinedFriction = friction;
  point.m_combinedRestitution = restitution;
  btAdjustInternalEdgeContacts(point, b, a, part_b, index_b);
  return true;
}

template <typename Work>
int guarded(World* world, Work work) {
  try {
    return work();
  } catch (const std::exception& thrown) {
    world->error = thrown.what();
  } catch (...) {
    world->error = "Bullet threw something without words";
  }
  return -1;
}

// Keeps a shape for the next body.
int pend(World* world, btCollisionShape* shape, int shape_idx, const btTransform& pose) {
  shape->setUserIndex(shape_idx);
  world->shapes.emplace_back(shape);
  world->pending.push_back(Part{shape, pose, shape_idx});
  return 0;
}

btScalar margin_for(const World* world, btScalar smallest) {
  return btMin(btScalar(world->settings.margin), smallest * btScalar(0.01));
}

// A cone whose surface, margin and all, is the one asked for: it is shrunk towards the centre
// of the circle that touches all sides of its section, and so moves up a little.
btCollisionShape* cone(World* world, double radius, double length, btTransform& pose) {
  if (world->settings.margin < 0) return new btConeShapeZ(radius, length);
  btScalar slant = btSqrt(radius * radius + length * length);
  btScalar inner = radius * length / (radius + slant);
  btScalar margin = margin_for(world, inner);
  btScalar share = 1 - margin / inner;
  auto* out = new btConeShapeZ(radius * share, length * share);
  out->setMargin(margin);
  pose = pose * btTransform(btQuaternion::getIdentity(),
                            btVector3(0, 0, (share - 1) * length / 2 + margin));
  return out;
}

btCollisionShape* primitive(World* world, int kind, const double* n, btTransform& pose) {
  bool own = world->settings.margin >= 0;
  switch (kind) {
    case BOX: {
      auto* out = new btBoxShape(vec(n) * 0.5);
      if (own) out->setMargin(margin_for(world, btMin(n[0], btMin(n[1], n[2])) / 2));
      return out;
    }
    case SPHERE:
      return new btSphereShape(n[0]);
    case CYLINDER: {
      auto* out = new btCylinderShapeZ(btVector3(n[0], n[0], n[1] / 2));
      if (own) out->setMargin(margin_for(world, btMin(n[0], n[1] / 2)));
      return out;
    }
    case CAPSULE:
      return new btCapsuleShapeZ(n[0], n[1]);
    case CONE:
      return cone(world, n[0], n[1], pose);
    case ELLIPSOID: {
      btScalar smallest = btMin(n[0], btMin(n[1], n[2]));
      return new Ellipsoid(vec(n), own ? margin_for(world, smallest)
                                       : btMin(btScalar(0.04), smallest * btScalar(0.1)));
    }
    case PLANE:
      return new btStaticPlaneShape(vec(n), 0);
  }
  throw std::runtime_error("no such shape");
}

bool is_identity(const btTransform& pose) {
  return pose.getOrigin().isZero() && pose.getBasis() == btMatrix3x3::getIdentity();
}

// What the pending parts are together: nothing, one bare shape, or a compound.
btCollisionShape* whole(World* world) {
  auto& parts = world->pending;
  if (parts.empty()) return world->nothing.get();
  if (parts.size() == 1 && is_identity(parts[0].body_from_part)) return parts[0].shape;
  auto* compound = new btCompoundShape(true, int(parts.size()));
  world->shapes.emplace_back(compound);
  if (world->settings.margin >= 0) compound->setMargin(0);
  for (auto& part : parts) compound->addChildShape(part.body_from_part, part.shape);
  return compound;
}

void set_up(btRigidBody& body, const World* world, const hb_body_def& def) {
  body.setDamping(def.damping[0], def.damping[1]);
  if (world->settings.is_raw) {
    body.setFriction(def.friction);
    body.setRestitution(def.restitution);
  } else {
    body.setActivationState(DISABLE_DEACTIVATION);
  }
  int flags = body.getCollisionFlags() | btCollisionObject::CF_CUSTOM_MATERIAL_CALLBACK;
  if (def.motion == STATIC) flags |= btCollisionObject::CF_STATIC_OBJECT;
  if (def.motion == KINEMATIC) {
    flags = (flags & ~btCollisionObject::CF_STATIC_OBJECT) | btCollisionObject::CF_KINEMATIC_OBJECT;
    body.setActivationState(DISABLE_DEACTIVATION);
  }
  body.setCollisionFlags(flags);
}

btTypedConstraint* joint(World* world, int kind, int parent, int child, const double* in_parent,
                         const double* in_child) {
  btRigidBody &a = world->side(parent), &b = world->side(child);
  btTransform fa = transform(in_parent), fb = transform(in_child);
  switch (kind) {
    case HINGE:
      return new btHingeConstraint(a, b, fa, fb);
    case SLIDER:
    case PISTON: {
      auto* out = new btSliderConstraint(a, b, fa, fb, true);
      out->setLowerLinLimit(1);  // lower above upper: free
      out->setUpperLinLimit(-1);
      out->setLowerAngLimit(kind == PISTON ? 1 : 0);
      out->setUpperAngLimit(kind == PISTON ? -1 : 0);
      return out;
    }
    case BALL:
      return new btPoint2PointConstraint(a, b, fa.getOrigin(), fb.getOrigin());
    case UNIVERSAL: {
      // R = Rz(q1)·Ry(0)·Rx(q2): the axis in between is held, away from its singularity.
      auto* out = new btGeneric6DofConstraint(a, b, fa, fb, true);
      out->setAngularLowerLimit(btVector3(1, 0, 1));
      out->setAngularUpperLimit(btVector3(-1, 0, -1));
      return out;
    }
  }
  throw std::runtime_error("no such joint");
}

// A kinematic body is where it is at the start of the step, as everything else; Bullet reads
// its velocity off the pose it had one step before.
void prepare_kinematic(Body& body, double dt) {
  btTransform now = body.body->getWorldTransform(), before;
  btTransformUtil::integrateTransform(now, -body.linear, -body.angular, dt, before);
  body.body->setInterpolationWorldTransform(before);
}

void move_kinematic(Body& body, double dt) {
  btTransform next;
  btTransformUtil::integrateTransform(body.body->getWorldTransform(), body.linear, body.angular,
                                      dt, next);
  body.body->setWorldTransform(next);
}

void apply(World* world, const double* forces) {
  for (size_t i = 0; i < world->bodies.size(); i++) {
    Body& body = world->bodies[i];
    if (body.motion != DYNAMIC || !body.is_in_world) continue;
    btVector3 force = vec(forces + 6 * i), torque = vec(forces + 6 * i + 3);
    if (force.isZero() && torque.isZero()) continue;
    body.body->activate();
    body.body->applyCentralForce(force);
    body.body->applyTorque(torque);
  }
}

void read_bodies(const World* world, double* out) {
  for (const Body& body : world->bodies) {
    if (body.motion != STATIC) {
      const btTransform& pose = body.body->getWorldTransform();
      btQuaternion turn = pose.getRotation();
      put(out, pose.getOrigin());
      out[3] = turn.x();
      out[4] = turn.y();
      out[5] = turn.z();
      out[6] = turn.w();
      put(out + 7, body.body->getLinearVelocity());
      put(out + 10, body.body->getAngularVelocity());
    }
    out += 13;
  }
}

void read_contacts(World* world, double dt) {
  world->contacts.clear();
  int n = world->dispatcher->getNumManifolds();
  for (int i = 0; i < n; i++) {
    const btPersistentManifold* manifold = world->dispatcher->getManifoldByIndexInternal(i);
    for (int j = 0; j < manifold->getNumContacts(); j++) {
      const btManifoldPoint& point = manifold->getContactPoint(j);
      auto both = reinterpret_cast<uint64_t>(point.m_userPersistentData);
      if (!both || (point.getDistance() > 0 && point.getAppliedImpulse() == 0)) continue;
      hb_contact contact;
      put(contact.position, (point.getPositionWorldOnA() + point.getPositionWorldOnB()) * 0.5);
      put(contact.normal, point.m_normalWorldOnB);
      put(contact.force, (point.m_normalWorldOnB * point.m_appliedImpulse +
                          point.m_lateralFrictionDir1 * point.m_appliedImpulseLateral1 +
                          point.m_lateralFrictionDir2 * point.m_appliedImpulseLateral2) /
                             dt);
      contact.depth = -point.getDistance();
      contact.shape_a = int(uint32_t(both >> 32)) - 1;
      contact.shape_b = int(uint32_t(both)) - 1;
      world->contacts.push_back(contact);
    }
  }
}

}  // namespace

extern "C" {

int hb_version() { return btGetVersion(); }

const char* hb_error(const World* world) { return world->error.c_str(); }

World* hb_world_new(const hb_settings* settings) {
  try {
    gContactAddedCallback = contact_added;
    auto world = std::make_unique<World>();
    world->settings = *settings;
    world->configuration = std::make_unique<btDefaultCollisionConfiguration>();
    if (settings->multipoint > 0) {
      int n = settings->multipoint;
      world->configuration->setPlaneConvexMultipointIterations(n, n);
      world->configuration->setConvexConvexMultipointIterations(n, n);
    }
    world->dispatcher = std::make_unique<Dispatcher>(world->configuration.get(), world.get());
    world->broadphase = std::make_unique<btDbvtBroadphase>();
    world->solver = std::make_unique<btSequentialImpulseConstraintSolver>();
    world->solver->setRandSeed(0);
    world->dynamics = std::make_unique<btDiscreteDynamicsWorld>(
        world->dispatcher.get(), world->broadphase.get(), world->solver.get(),
        world->configuration.get());
    world->filter.world = world.get();
    world->broadphase->getOverlappingPairCache()->setOverlapFilterCallback(&world->filter);
    world->dynamics->setGravity(vec(settings->gravity));
    btContactSolverInfo& info = world->dynamics->getSolverInfo();
    if (settings->n_iterations > 0) info.m_numIterations = settings->n_iterations;
    info.m_solverMode |= settings->solver_mode;
    if (settings->restitution_threshold >= 0) {
      info.m_restitutionVelocityThreshold = settings->restitution_threshold;
    }
    world->nothing = std::make_unique<btEmptyShape>();
    btRigidBody::btRigidBodyConstructionInfo still(0, nullptr, world->nothing.get());
    world->ground = std::make_unique<btRigidBody>(still);
    return world.release();
  } catch (...) {
    return nullptr;
  }
}

void hb_world_delete(World* world) { delete world; }

int hb_primitive(World* world, int shape_idx, int kind, const double* numbers,
                 const double* pose) {
  return guarded(world, [&] {
    btTransform at = transform(pose);
    btCollisionShape* shape = primitive(world, kind, numbers, at);
    return pend(world, shape, shape_idx, at);
  });
}

int hb_hull(World* world, int shape_idx, const double* points, int n_points,
            const double* pose) {
  return guarded(world, [&] {
    auto* shape = new btConvexHullShape();
    for (int i = 0; i < n_points; i++) shape->addPoint(vec(points + 3 * i), false);
    shape->recalcLocalAabb();
    btVector3 least, most;
    shape->getAabb(btTransform::getIdentity(), least, most);
    if (world->settings.margin >= 0) {
      btVector3 size = (most - least) * 0.5;
      shape->setMargin(margin_for(world, size[size.maxAxis()]));
      shape->recalcLocalAabb();
    }
    return pend(world, shape, shape_idx, transform(pose));
  });
}

int hb_mesh(World* world, int shape_idx, const double* vertices, const uint32_t* triangles,
            int n_triangles, const double* pose) {
  return guarded(world, [&] {
    auto mesh = std::make_unique<btTriangleMesh>(true, false);
    mesh->preallocateIndices(3 * n_triangles);
    for (int i = 0; i < n_triangles; i++) {
      const uint32_t* t = triangles + 3 * i;
      mesh->addTriangle(vec(vertices + 3 * size_t(t[0])), vec(vertices + 3 * size_t(t[1])),
                        vec(vertices + 3 * size_t(t[2])), false);
    }
    auto* shape = new btBvhTriangleMeshShape(mesh.get(), true);
    world->meshes.push_back(std::move(mesh));
    if (!world->settings.is_raw) {
      world->edges.push_back(std::make_unique<btTriangleInfoMap>());
      btGenerateInternalEdgeInfo(shape, world->edges.back().get());
    }
    return pend(world, shape, shape_idx, transform(pose));
  });
}

int hb_heights(World* world, int shape_idx, const double* heights, int n_columns, int n_rows,
               const double* size, const double* pose) {
  return guarded(world, [&] {
    world->heights.emplace_back(heights, heights + size_t(n_columns) * size_t(n_rows));
    const std::vector<double>& kept = world->heights.back();
    double least = kept[0], most = kept[0];
    for (double height : kept) {
      least = btMin(least, height);
      most = btMax(most, height);
    }
    // A box around it that is not flat, also where the ground is.
    double room = 0.1;
    auto* shape = new btHeightfieldTerrainShape(n_columns, n_rows, kept.data(), least - room,
                                                most + room, 2, false);
    shape->setLocalScaling(btVector3(size[0] / (n_columns - 1), size[1] / (n_rows - 1), 1));
    // Bullet puts the middle between its bounds at its origin.
    btTransform lift(btQuaternion::getIdentity(), btVector3(0, 0, (least + most) * 0.5));
    return pend(world, shape, shape_idx, transform(pose) * lift);
  });
}

// Makes a body of the shapes that wait for one; its index.
int hb_body(World* world, const hb_body_def* def) {
  return guarded(world, [&] {
    // What stands still may lie where its one shape does: then it needs no compound, and
    // Bullet's help at the edges inside a mesh, which asks for the bare mesh, works.
    btTransform pose = transform(def->pose);
    if (def->motion == STATIC && world->pending.size() == 1) {
      pose = pose * world->pending[0].body_from_part;
      world->pending[0].body_from_part.setIdentity();
    }
    Body made;
    for (const Part& part : world->pending) made.shape_idxs.push_back(part.shape_idx);
    btCollisionShape* shape = whole(world);
    btVector3 inertia = def->motion == DYNAMIC ? vec(def->inertia) : btVector3(0, 0, 0);
    btScalar mass = def->motion == DYNAMIC ? def->mass : 0;
    btRigidBody::btRigidBodyConstructionInfo info(mass, nullptr, shape, inertia);
    info.m_startWorldTransform = pose;
    made.body = std::make_unique<btRigidBody>(info);
    made.motion = def->motion;
    made.linear = vec(def->twist);
    made.angular = vec(def->twist + 3);
    made.is_in_world = true;
    set_up(*made.body, world, *def);
    btRigidBody* body = made.body.get();
    body->setUserIndex(int(world->bodies.size()));
    body->setUserPointer(world);
    world->bodies.push_back(std::move(made));
    world->dynamics->addRigidBody(body);
    if (def->motion == DYNAMIC) {
      body->setGravity(vec(def->gravity));
      body->setLinearVelocity(vec(def->twist));
      body->setAngularVelocity(vec(def->twist + 3));
    }
    world->pending.clear();
    return body->getUserIndex();
  });
}

int hb_joint(World* world, int kind, int parent, int child, const double* in_parent,
             const double* in_child) {
  return guarded(world, [&] {
    world->joints.emplace_back(joint(world, kind, parent, child, in_parent, in_child));
    world->dynamics->addConstraint(world->joints.back().get(), false);
    return 0;
  });
}

int hb_axis(World* world, const hb_axis_def* def) {
  return guarded(world, [&] {
    btRigidBody &a = world->side(def->parent), &b = world->side(def->child);
    world->axes.push_back(std::make_unique<Axis>(a, b, *def));
    world->dynamics->addConstraint(world->axes.back().get(), false);
    return int(world->axes.size()) - 1;
  });
}

// Takes a body out of the motion, and what hangs on it loose.
int hb_remove(World* world, int body_idx) {
  return guarded(world, [&] {
    Body& body = world->bodies[size_t(body_idx)];
    if (!body.is_in_world) return 0;
    body.is_in_world = false;
    auto loose = [&](btTypedConstraint* constraint) {
      if (&constraint->getRigidBodyA() == body.body.get() ||
          &constraint->getRigidBodyB() == body.body.get()) {
        world->dynamics->removeConstraint(constraint);
      }
    };
    for (auto& joint : world->joints) loose(joint.get());
    for (auto& axis : world->axes) loose(axis.get());
    world->dynamics->removeRigidBody(body.body.get());
    return 0;
  });
}

// One step. `forces` has six numbers per body, `aims` three per axis (position, target and
// damping), `out` thirteen per body: pose and twist of its centre of mass.
int hb_step(World* world, double dt, const double* forces, const double* aims, double* out) {
  return guarded(world, [&] {
    for (size_t i = 0; i < world->axes.size(); i++) {
      const double* aim = aims + 3 * i;
      world->axes[i]->aim(aim[0], aim[1], aim[2]);
    }
    for (Body& body : world->bodies) {
      if (body.motion == KINEMATIC && body.is_in_world) prepare_kinematic(body, dt);
    }
    apply(world, forces);
    world->dynamics->stepSimulation(dt, 0);
    for (Body& body : world->bodies) {
      if (body.motion == KINEMATIC && body.is_in_world) move_kinematic(body, dt);
    }
    read_bodies(world, out);
    read_contacts(world, dt);
    return 0;
  });
}

int hb_contacts(const World* world, const hb_contact** out) {
  *out = world->contacts.data();
  return int(world->contacts.size());
}

}  // extern "C"
