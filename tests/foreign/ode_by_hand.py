"""Drives libode by hand, as its manual says, with nothing but the standard library.

    ode_by_hand.py CASE N_STEPS      CASE is ball, slope, pendulum or stack

Prints one line per moving body: position, rotation (w x y z), velocity and angular velocity,
in digits that read back to the same bits. Headland's engine `ode` must agree to the bit: it
makes the same calls with the same numbers, and adds nothing.
"""

import ctypes
import os
import sys
from ctypes import POINTER, Structure, byref, c_double, c_int, c_ulong, c_void_p

DT = 0.001
GRAVITY = 9.81

ode = ctypes.CDLL(os.environ.get("HEADLAND_ODE") or "libode.so.8")

MU2, BOUNCE, APPROX1 = 0x001, 0x004, 0x7000
MAX_CONTACTS = 20
XYZ = 1 << 2 | 2 << 4


class Surface(Structure):
    _fields_ = [("mode", c_int)] + [
        (name, c_double)
        for name in "mu mu2 rho rho2 rhoN bounce bounce_vel soft_erp soft_cfm "
        "motion1 motion2 motionN slip1 slip2".split()
    ]


class ContactGeom(Structure):
    _fields_ = [
        ("pos", c_double * 4),
        ("normal", c_double * 4),
        ("depth", c_double),
        ("g1", c_void_p),
        ("g2", c_void_p),
        ("side1", c_int),
        ("side2", c_int),
    ]


class Contact(Structure):
    _fields_ = [("surface", Surface), ("geom", ContactGeom), ("fdir1", c_double * 4)]


class Mass(Structure):
    _fields_ = [("mass", c_double), ("c", c_double * 4), ("I", c_double * 12)]


NEAR = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_void_p)


def says(name, result, *arguments):
    function = getattr(ode, name)
    function.restype, function.argtypes = result, list(arguments)
    return function


def calls(names, result, *arguments):
    return [says(name, result, *arguments) for name in names.split()]


D, P = c_double, c_void_p
dWorldCreate = says("dWorldCreate", P)
dBodyCreate = says("dBodyCreate", P, P)
dSpaceCreate = says("dSweepAndPruneSpaceCreate", P, P, c_int)
dGroupCreate = says("dJointGroupCreate", P, c_int)
dGroupEmpty = says("dJointGroupEmpty", None, P)
dGravity = says("dWorldSetGravity", None, P, D, D, D)
dERP, dCFM, dMaxVel, dLayer, dW = calls(
    "dWorldSetERP dWorldSetCFM dWorldSetContactMaxCorrectingVel "
    "dWorldSetContactSurfaceLayer dWorldSetQuickStepW",
    None, P, D,
)
dIterations = says("dWorldSetQuickStepNumIterations", None, P, c_int)
dQuickStep = says("dWorldQuickStep", c_int, P, D)
dFinite = says("dBodySetFiniteRotationMode", None, P, c_int)
dSetMass = says("dBodySetMass", None, P, POINTER(Mass))
dPosition, dForce = calls("dBodySetPosition dBodyAddForce", None, P, D, D, D)
dQuaternion = says("dBodySetQuaternion", None, P, c_double * 4)
dGetPosition, dGetQuaternion, dGetVelocity, dGetOmega = calls(
    "dBodyGetPosition dBodyGetQuaternion dBodyGetLinearVel dBodyGetAngularVel", POINTER(D), P
)
dPlane = says("dCreatePlane", P, P, D, D, D, D)
dBox = says("dCreateBox", P, P, D, D, D)
dSphere = says("dCreateSphere", P, P, D)
dGeomSetBody = says("dGeomSetBody", None, P, P)
dGeomGetBody = says("dGeomGetBody", P, P)
dCollide = says("dCollide", c_int, P, P, c_int, P, c_int)
dSpaceCollide = says("dSpaceCollide", None, P, P, NEAR)
dContactJoint = says("dJointCreateContact", P, P, P, POINTER(Contact))
dHinge = says("dJointCreateHinge", P, P, P)
dAttach = says("dJointAttach", None, P, P, P)
dHingeAnchor, dHingeAxis = calls("dJointSetHingeAnchor dJointSetHingeAxis", None, P, D, D, D)
dSeed = says("dRandSetSeed", None, c_ulong)


class World:
    def __init__(self, mu, bounce=None):
        ode.dInitODE2(0)
        ode.dAllocateODEDataForThread(ctypes.c_uint(0xFFFFFFFF))
        self.world = dWorldCreate()
        dGravity(self.world, 0.0, 0.0, -GRAVITY)
        dERP(self.world, 0.2)
        dCFM(self.world, 1e-10)
        dMaxVel(self.world, 100.0)
        dLayer(self.world, 1e-4)
        dIterations(self.world, 50)
        dW(self.world, 1.3)
        self.space = dSpaceCreate(None, XYZ)
        self.group = dGroupCreate(0)
        self.bodies = []
        self.mu, self.bounce = mu, bounce
        self.contacts = (Contact * MAX_CONTACTS)()
        self.near = NEAR(self.touch)
        dSeed(0)

    def body(self, mass, inertia, position, rotation=(1.0, 0.0, 0.0, 0.0)):
        body = dBodyCreate(self.world)
        dFinite(body, 1)
        it = Mass(mass=mass)
        for i in range(3):
            it.I[5 * i] = inertia[i]
        dSetMass(body, byref(it))
        dPosition(body, *position)
        dQuaternion(body, (c_double * 4)(*rotation))
        self.bodies.append(body)
        return body

    def touch(self, _, first, second):
        one, other = dGeomGetBody(first), dGeomGetBody(second)
        if not one and not other:
            return
        address = ctypes.addressof(self.contacts) + Contact.geom.offset
        n = dCollide(first, second, MAX_CONTACTS, address, ctypes.sizeof(Contact))
        for contact in self.contacts[:n]:
            contact.surface.mode = MU2 | APPROX1 | (BOUNCE if self.bounce else 0)
            contact.surface.mu = contact.surface.mu2 = self.mu
            contact.surface.bounce = self.bounce or 0.0
            contact.surface.bounce_vel = 0.0
            dAttach(dContactJoint(self.world, self.group, byref(contact)), one, other)

    def step(self):
        dSpaceCollide(self.space, None, self.near)
        dQuickStep(self.world, DT)
        dGroupEmpty(self.group)

    def report(self):
        for body in self.bodies:
            parts = (
                (dGetPosition, 3), (dGetQuaternion, 4), (dGetVelocity, 3), (dGetOmega, 3)
            )
            print(*(repr(get(body)[i]) for get, n in parts for i in range(n)))


def box_inertia(mass, x, y, z):
    return [mass / 12.0 * (y * y + z * z), mass / 12.0 * (x * x + z * z),
            mass / 12.0 * (x * x + y * y)]


def ball():
    world = World(mu=1.0, bounce=0.7)
    dPlane(world.space, 0.0, 0.0, 1.0, 0.0)
    body = world.body(1.5, [0.15] * 3, (0.0, 0.0, 3.5))
    dGeomSetBody(dSphere(world.space, 0.5), body)
    return world


def slope():
    """A box on a plane that leans by 20 degrees, given by its normal; friction 0.2."""
    world = World(mu=0.2)
    s, c = float(sys.argv[3]), float(sys.argv[4])  # sine and cosine of half the angle
    normal = (2.0 * c * s, 0.0, 1.0 - 2.0 * s * s)
    dPlane(world.space, *normal, 0.0)
    body = world.body(
        2.0, [0.04, 0.06, 0.08], [0.1 * x for x in normal], (c, 0.0, s, 0.0)
    )
    dGeomSetBody(dBox(world.space, 0.6, 0.4, 0.2), body)
    return world


def pendulum():
    """A bob one metre below a hinge about y, level at the start."""
    world = World(mu=1.0)
    body = world.body(2.0, [0.02] * 3, (1.0, 0.0, 0.0))
    joint = dHinge(world.world, None)
    dAttach(joint, body, None)
    dHingeAnchor(joint, 0.0, 0.0, 0.0)
    dHingeAxis(joint, 0.0, 1.0, 0.0)
    return world


def stack():
    """Boxes of half a metre, four of them."""
    world = World(mu=1.0)
    dPlane(world.space, 0.0, 0.0, 1.0, 0.0)
    for i in range(4):
        body = world.body(1.0, [0.0417] * 3, (0.0, 0.0, 0.25 + 0.5 * i))
        dGeomSetBody(dBox(world.space, 0.5, 0.5, 0.5), body)
    return world


def main():
    world = {"ball": ball, "slope": slope, "pendulum": pendulum, "stack": stack}[sys.argv[1]]()
    for _ in range(int(sys.argv[2])):
        world.step()
    world.report()


main()
