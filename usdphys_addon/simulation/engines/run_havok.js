// SPDX-License-Identifier: GPL-3.0-or-later
// A program for Node.js: simulates scenes in Havok, from the package @babylonjs/havok.
//
//     node run_havok.js --live MODULES
//
// MODULES: a folder node_modules that has the package. Answers requests, see pipe.py; the scene is that of live/matter.py.
"use strict";

const { readFileSync, readSync, writeSync } = require("fs");
const { join } = require("path");

const AXES = ["LINEAR_X", "LINEAR_Y", "LINEAR_Z", "ANGULAR_X", "ANGULAR_Y", "ANGULAR_Z", "LINEAR_DISTANCE"];
const DISTANCE = 6;
const COMBINE = { min: "MINIMUM", max: "MAXIMUM", average: "ARITHMETIC_MEAN", multiply: "MULTIPLY" };
const BYTES = { f8: 8, i4: 4 };
const FARTHEST = 3.4e38;
// Havok puts to sleep what is slow in so many steps. Measured at 60 steps a second, slow is below so many m/s and rad/s.
const SLEEPY_STEPS = 19, SLEEPY_SPEED = 0.1, SLEEPY_SPIN = 0.33;

function checked(answer, what) {
    const result = Array.isArray(answer) ? answer[0] : answer;
    if (result !== undefined && (result.value ?? result) !== 0) throw new Error(`Havok refuses ${what}`);
    return Array.isArray(answer) ? answer[1] : undefined;
}

const place = (pose) => Array.from(pose.slice(0, 3));
const turn = (pose) => [pose[4], pose[5], pose[6], pose[3]];

// A vector turned by a quaternion x, y, z, w.
function turned([x, y, z, w], [a, b, c]) {
    const [p, q, r] = [y * c - z * b + w * a, z * a - x * c + w * b, x * b - y * a + w * c];
    return [a + 2 * (y * r - z * q), b + 2 * (z * p - x * r), c + 2 * (x * q - y * p)];
}

class Scene {
    constructor(hp) {
        this.hp = hp;
    }

    build(header, arrays) {
        Object.assign(this, { header, arrays, kinematic: new Set(arrays.kinematic) });
        this.parts = Math.max(1, header.substeps);
        this.make();
        const joints = header.scene.joints.filter((joint) => Object.keys(joint.axes).length);
        return [{ bodies: header.bodies, takes: ["drives", "gravity"], joints: joints.map((joint) => joint.path) },
            { states: this.states() }];
    }

    reset() {
        this.close();
        this.make();
        return [{}, { states: this.states() }];
    }

    close() {
        this.hp.HP_World_Release(this.world);
        for (const body of this.bodies) this.hp.HP_Body_Release(body);
        for (const [constraint] of this.joints.values()) this.hp.HP_Constraint_Release(constraint);
    }

    make() {
        const { hp, header, arrays } = this, { scene } = header;
        this.world = checked(hp.HP_World_Create(), "a world");
        hp.HP_World_SetGravity(this.world, header.gravity);
        hp.HP_World_SetIdealStepTime(this.world, header.seconds / this.parts);
        this.bodies = [];
        this.joints = new Map();
        this.slow = new Float64Array(scene.bodies.length);
        this.awake = new Set();
        scene.bodies.forEach((told, row) => {
            const state = arrays.states.subarray(13 * row, 13 * row + 13);
            const body = this.body(told.shapes, this.kinematic.has(row) ? "KINEMATIC" : "DYNAMIC", state, told.weight);
            hp.HP_Body_SetLinearDamping(body, told.damping[0]);
            hp.HP_Body_SetAngularDamping(body, told.damping[1]);
            hp.HP_Body_SetGravityFactor(body, told.gravity);
            if (!this.kinematic.has(row)) {
                if (!told.sleeps || this.patience() > 0) this.keepAwake(row, true);
                hp.HP_Body_SetLinearVelocity(body, Array.from(state.subarray(7, 10)));
                hp.HP_Body_SetAngularVelocity(body, Array.from(state.subarray(10, 13)));
            }
        });
        for (const told of scene.statics) this.body(told.shapes, "STATIC", told.pose);
        this.ground = this.body([], "STATIC", [0, 0, 0, 1, 0, 0, 0]);
        for (const joint of scene.joints) this.joints.set(joint.path, [this.joint(joint), joint]);
        scene.apart.forEach((pair, number) => this.joints.set(number, [this.free(pair), null]));
    }

    body(shapes, motion, pose, weight) {
        const { hp } = this;
        const body = checked(hp.HP_Body_Create(), "a body");
        hp.HP_Body_SetMotionType(body, hp.MotionType[motion]);
        if (shapes.length) {
            const container = checked(hp.HP_Shape_CreateContainer(), "a container");
            for (const told of shapes) {
                const shape = this.shape(told);
                const { friction, restitution, combine, masks } = told;
                const modes = combine.map((mode) => hp.MaterialCombine[COMBINE[mode]]);
                checked(hp.HP_Shape_SetMaterial(shape, [...friction, restitution, ...modes]), "a material");
                hp.HP_Shape_SetFilterInfo(shape, masks.map((mask) => mask | 0));
                checked(hp.HP_Shape_AddChild(container, shape, [place(told.pose), turn(told.pose), [1, 1, 1]]), "a part");
            }
            checked(hp.HP_Body_SetShape(body, container), "a shape");
        }
        if (weight) {
            // Before it is in its world: else gravity does not turn it about a joint that is close to its centre.
            const [mass, center, moments, [w, x, y, z]] = weight;
            const each = moments.map((moment) => moment / (mass || 1));
            checked(hp.HP_Body_SetMassProperties(body, [center, mass, each, [x, y, z, w]]), "a mass");
        }
        checked(hp.HP_Body_SetQTransform(body, [place(pose), turn(pose)]), "a place");
        checked(hp.HP_World_AddBody(this.world, body, false), "a body in its world");
        this.bodies.push(body);
        return body;
    }

    shape({ kind, numbers, points }) {
        const { hp } = this;
        const [radius, half] = numbers;
        if (kind === "box") {
            const edges = numbers.map((each) => 2 * each);
            return checked(hp.HP_Shape_CreateBox([0, 0, 0], [0, 0, 0, 1], edges), "a box");
        }
        if (kind === "sphere") return checked(hp.HP_Shape_CreateSphere([0, 0, 0], radius), "a sphere");
        const ends = [[0, 0, -half], [0, 0, half]];
        if (kind === "capsule") return checked(hp.HP_Shape_CreateCapsule(...ends, radius), "a capsule");
        if (kind === "cylinder") return checked(hp.HP_Shape_CreateCylinder(...ends, radius), "a cylinder");
        const corners = this.arrays[`points_${points}`], triangles = this.arrays[`triangles_${points}`];
        const at = this.copied(Float32Array, corners);
        let made;
        if (kind === "hull") {
            made = hp.HP_Shape_CreateConvexHull(at, corners.length / 3);
        } else {
            const faces = this.copied(Int32Array, triangles);
            made = hp.HP_Shape_CreateMesh(at, corners.length / 3, faces, triangles.length / 3);
            hp._free(faces);
        }
        hp._free(at);
        return checked(made, `a ${kind}`);
    }

    copied(kind, numbers) {
        const at = this.hp._malloc(4 * numbers.length);
        new kind(this.hp.HEAPU8.buffer, at, numbers.length).set(numbers);
        return at;
    }

    between(rows, poses) {
        const { hp } = this;
        const constraint = checked(hp.HP_Constraint_Create(), "a joint");
        const [first, second] = rows.map((row) => (row < 0 ? this.ground : this.bodies[row]));
        hp.HP_Constraint_SetParentBody(constraint, first);
        hp.HP_Constraint_SetChildBody(constraint, second);
        const [parent, child] = poses.map((pose) => [
            place(pose), turned(turn(pose), [1, 0, 0]), turned(turn(pose), [0, 1, 0]),
        ]);
        hp.HP_Constraint_SetAnchorInParent(constraint, ...parent);
        hp.HP_Constraint_SetAnchorInChild(constraint, ...child);
        return constraint;
    }

    // A joint that holds nothing, and keeps its bodies from colliding.
    free(rows) {
        const { hp } = this;
        const constraint = this.between(rows, [[0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0]]);
        hp.HP_Constraint_SetCollisionsEnabled(constraint, 0);
        hp.HP_Constraint_SetEnabled(constraint, 1);
        return constraint;
    }

    joint(told) {
        const { hp } = this, constraint = this.between(told.bodies, told.poses);
        const limits = told.dofs.map((limit) => [...limit]);
        if (told.cone) told.cone.forEach((angle, number) => {
            if (angle !== null && Number.isFinite(angle)) limits[4 + number] = [-angle, angle];
        });
        limits.forEach((limit, axis) => this.limit(constraint, axis, limit));
        if (told.distance) this.limit(constraint, DISTANCE, told.distance);
        hp.HP_Constraint_SetCollisionsEnabled(constraint, told.collides ? 1 : 0);
        for (const [, axis, ...drive] of told.drives) this.drive(constraint, axis, ...drive);
        hp.HP_Constraint_SetEnabled(constraint, told.is_enabled ? 1 : 0);
        return constraint;
    }

    limit(constraint, axis, [low, high]) {
        const { hp } = this;
        if (low !== null && high !== null && low > high) {
            hp.HP_Constraint_SetAxisMode(constraint, hp.ConstraintAxis[AXES[axis]], hp.ConstraintAxisLimitMode.LOCKED);
        } else if (low !== null || high !== null) {
            const own = hp.ConstraintAxis[AXES[axis]];
            hp.HP_Constraint_SetAxisMode(constraint, own, hp.ConstraintAxisLimitMode.LIMITED);
            hp.HP_Constraint_SetAxisMinLimit(constraint, own, low ?? -FARTHEST);
            hp.HP_Constraint_SetAxisMaxLimit(constraint, own, high ?? FARTHEST);
        }
    }

    drive(constraint, axis, stiffness, damping, target, speed, most, isAcceleration) {
        const { hp } = this, own = hp.ConstraintAxis[AXES[axis]], types = hp.ConstraintMotorType;
        hp.HP_Constraint_SetAxisMotorType(constraint, own, isAcceleration ? types.SPRING_ACCELERATION : types.SPRING_FORCE);
        hp.HP_Constraint_SetAxisMotorStiffness(constraint, own, stiffness);
        hp.HP_Constraint_SetAxisMotorDamping(constraint, own, damping);
        hp.HP_Constraint_SetAxisMotorPositionTarget(constraint, own, target);
        hp.HP_Constraint_SetAxisMotorVelocityTarget(constraint, own, speed);
        hp.HP_Constraint_SetAxisMotorMaxForce(constraint, own, most ?? FARTHEST);
    }

    step(header, arrays) {
        const { hp } = this, seconds = this.header.seconds / this.parts;
        if (header.gravity) {
            hp.HP_World_SetGravity(this.world, header.gravity);
            this.wake();
        }
        for (const [path, dof, ...drive] of header.drives ?? []) {
            const [constraint, told] = this.joints.get(path);
            const was = told.drives.find((each) => each[0] === dof);
            this.drive(constraint, told.axes[dof], ...drive, was ? was[7] : false);
            this.wake();
        }
        const led = Array.from(arrays.led ?? []), pushed = Array.from(arrays.pushed ?? []);
        const starts = led.map((row) => this.pose(row));
        for (let part = 1; part <= this.parts; part++) {
            led.forEach((row, number) => this.lead(row, starts[number], arrays.poses.subarray(7 * number), part));
            pushed.forEach((row, number) => {
                const wrench = Array.from(arrays.wrenches.subarray(9 * number, 9 * number + 9));
                const impulse = wrench.map((each) => each * seconds);
                this.activate(row);
                hp.HP_Body_ApplyImpulse(this.bodies[row], wrench.slice(6), impulse.slice(0, 3));
                hp.HP_Body_ApplyAngularImpulse(this.bodies[row], impulse.slice(3, 6));
            });
            checked(hp.HP_World_Step(this.world, seconds), "a step");
        }
        if (this.patience() > 0) this.letSleep();
        // What nobody leads any more stands still.
        for (const row of led) {
            hp.HP_Body_SetLinearVelocity(this.bodies[row], [0, 0, 0]);
            hp.HP_Body_SetAngularVelocity(this.bodies[row], [0, 0, 0]);
        }
        return [{}, { states: this.states() }];
    }

    pose(row) {
        const [at, [x, y, z, w]] = checked(this.hp.HP_Body_GetQTransform(this.bodies[row]), "a pose");
        return [...at, w, x, y, z];
    }

    lead(row, start, goal, part) {
        const share = part / this.parts, sign = [3, 4, 5, 6].reduce((sum, k) => sum + start[k] * goal[k], 0) < 0 ? -1 : 1;
        const pose = start.map((each, k) => each + share * ((k < 3 ? goal[k] : sign * goal[k]) - each));
        const size = Math.hypot(...pose.slice(3));
        const unit = [...pose.slice(0, 3), ...pose.slice(3).map((each) => each / size)];
        this.activate(row);
        checked(this.hp.HP_Body_SetTargetQTransform(this.bodies[row], [place(unit), turn(unit)]), "a target");
    }

    // Seconds that a body has to be slow before Havok may count its steps: with more than 60 steps a second, it would
    // stop a wheel that turns once in six seconds.
    patience() {
        return SLEEPY_STEPS * (1 / 60 - this.header.seconds / this.parts);
    }

    letSleep() {
        const { hp } = this, patience = this.patience();
        this.header.scene.bodies.forEach((told, row) => {
            if (this.kinematic.has(row) || !told.sleeps) return;
            const speed = Math.hypot(...hp.HP_Body_GetLinearVelocity(this.bodies[row])[1]);
            const spin = Math.hypot(...hp.HP_Body_GetAngularVelocity(this.bodies[row])[1]);
            this.slow[row] = speed < SLEEPY_SPEED && spin < SLEEPY_SPIN ? this.slow[row] + this.header.seconds : 0;
            this.keepAwake(row, this.slow[row] < patience);
        });
    }

    keepAwake(row, isAwake) {
        if (this.awake.has(row) === isAwake) return;
        const { ALWAYS_ACTIVE, SIMULATION_CONTROLLED } = this.hp.ActivationControl;
        this.hp.HP_Body_SetActivationControl(this.bodies[row], isAwake ? ALWAYS_ACTIVE : SIMULATION_CONTROLLED);
        if (isAwake) this.awake.add(row);
        else this.awake.delete(row);
    }

    activate(row) {
        this.slow[row] = 0;
        this.hp.HP_Body_SetActivationState(this.bodies[row], this.hp.ActivationState.ACTIVE);
    }

    wake() {
        this.header.bodies.forEach((_, row) => {
            if (!this.kinematic.has(row)) this.activate(row);
        });
    }

    states() {
        const { hp } = this, count = this.header.bodies.length, states = new Float32Array(13 * count);
        for (let row = 0; row < count; row++) {
            states.set(this.pose(row), 13 * row);
            states.set(hp.HP_Body_GetLinearVelocity(this.bodies[row])[1], 13 * row + 7);
            states.set(hp.HP_Body_GetAngularVelocity(this.bodies[row])[1], 13 * row + 10);
        }
        states.shape = [count, 13];
        return states;
    }
}

function packed(header, arrays) {
    const listed = [], parts = [];
    for (const [name, array] of Object.entries(arrays)) {
        listed.push([name, "f4", array.shape]);
        parts.push(Buffer.from(array.buffer, array.byteOffset, array.byteLength));
    }
    const text = Buffer.from(JSON.stringify({ ...header, arrays: listed })), body = Buffer.concat(parts);
    const sizes = Buffer.alloc(8);
    sizes.writeUInt32LE(text.length, 0);
    sizes.writeUInt32LE(body.length, 4);
    return Buffer.concat([sizes, text, body]);
}

function unpacked(text, body) {
    const header = JSON.parse(text.toString()), arrays = {};
    let start = 0;
    for (const [name, kind, shape] of header.arrays) {
        const count = shape.reduce((product, each) => product * each, 1), end = start + count * BYTES[kind];
        const bytes = new Uint8Array(body.subarray(start, end)).buffer;
        arrays[name] = kind === "f8" ? new Float64Array(bytes) : new Int32Array(bytes);
        start = end;
    }
    return [header, arrays];
}

// So many bytes of the standard input; null at its end.
function received(count) {
    const bytes = Buffer.alloc(count);
    for (let start = 0; start < count; ) {
        try {
            const got = readSync(0, bytes, start, count - start, null);
            if (got === 0) return null;
            start += got;
        } catch (error) {
            if (error.code === "EOF") return null;
            if (error.code !== "EAGAIN") throw error;
        }
    }
    return bytes;
}

function send(message) {
    for (let start = 0; start < message.length; ) {
        try {
            start += writeSync(1, message, start);
        } catch (error) {
            if (error.code !== "EAGAIN") throw error;
        }
    }
}

async function main() {
    const [kind, modules] = process.argv.slice(2);
    if (kind !== "--live") throw new Error("this program answers requests only");
    console.log = console.error;
    const folder = join(modules, "@babylonjs", "havok", "lib", "umd");
    const HavokPhysics = require(join(folder, "HavokPhysics_umd.js"));
    const hp = await HavokPhysics({ wasmBinary: readFileSync(join(folder, "HavokPhysics.wasm")) });
    let scene = null;
    // Without waiting in a loop of events, which costs milliseconds.
    for (let sizes = received(8); sizes !== null; sizes = received(8)) {
        const text = received(sizes.readUInt32LE(0)), body = received(sizes.readUInt32LE(4));
        if (text === null || body === null) return;
        const began = performance.now();
        let answer;
        try {
            const [header, arrays] = unpacked(text, body);
            if (header.do === "build") {
                scene?.close();
                scene = new Scene(hp);
            }
            const [told, states] = scene[header.do](header, arrays);
            answer = packed({ ...told, spent: performance.now() - began }, states);
        } catch (error) {
            console.error(error);
            answer = packed({ error: `Error: ${error.message}` }, {});
        }
        send(answer);
    }
}

main().catch((error) => {
    console.error(`Traceback\nError: ${error.message}`);
    process.exit(1);
});
