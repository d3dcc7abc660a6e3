// SPDX-License-Identifier: GPL-3.0-or-later
// Plays glTF files in Havok by Babylon.js and the loader of the KHR extensions' authors; see compare_havok.py, which
// bundles this file with the sources of that loader.
//
//     node havok.js WASM FILE OUTPUT STEPS RATE ASIDE
//
// OUTPUT: JSON with the poses of all bodies by number of node: x, y, z and a quaternion x, y, z, w. ASIDE: how far the
// moving bodies start from their places, m.
import { readFileSync, writeFileSync } from "fs";
import { dirname, join } from "path";
import { NullEngine } from "@babylonjs/core/Engines/nullEngine";
import { Scene } from "@babylonjs/core/scene";
import { Vector3 } from "@babylonjs/core/Maths/math.vector";
import { HavokPlugin } from "@babylonjs/core/Physics/v2/Plugins/havokPlugin";
import { SceneLoader } from "@babylonjs/core/Loading/sceneLoader";
import "@babylonjs/core/Physics/joinedPhysicsEngineComponent";
import "@babylonjs/core/Helpers/sceneHelpers";
import "@babylonjs/core/Materials/standardMaterial";
import "@babylonjs/loaders/glTF/2.0";
import { registerGLTFExtension } from "@babylonjs/loaders/glTF/2.0/glTFLoaderExtensionRegistry";
import { KHR_ImplicitShapes_Plugin, KHR_PhysicsRigidBodies_Plugin } from "khr-loader";
import HavokPhysics from "havok-module";

const DYNAMIC = 2;
(globalThis as any).XMLHttpRequest = class {};

// The document with its buffers inside, without what is only seen. Nodes are called by their numbers.
function read(file: string): string {
    let json: any;
    if (file.endsWith(".glb")) {
        const bytes = readFileSync(file), length = bytes.readUInt32LE(12);
        json = JSON.parse(bytes.subarray(20, 20 + length).toString());
        if (json.buffers?.[0] && !json.buffers[0].uri) {
            const binary = bytes.subarray(28 + length).toString("base64");
            json.buffers[0].uri = `data:application/octet-stream;base64,${binary}`;
        }
    } else {
        json = JSON.parse(readFileSync(file).toString());
    }
    for (const buffer of json.buffers ?? []) {
        if (!buffer.uri.startsWith("data:")) {
            const bytes = readFileSync(join(dirname(file), decodeURIComponent(buffer.uri)));
            buffer.uri = `data:application/octet-stream;base64,${bytes.toString("base64")}`;
        }
    }
    for (const seen of ["images", "textures", "samplers", "materials", "animations"]) delete json[seen];
    for (const mesh of json.meshes ?? []) for (const part of mesh.primitives) delete part.material;
    json.extensionsRequired = [];
    json.nodes.forEach((node: any, number: number) => {
        node.name = `N${number}`;
        // Meshes of colliders were nodes until 2026.
        const physics = node.extensions?.KHR_physics_rigid_bodies;
        for (const part of [physics?.collider, physics?.trigger]) {
            if (part?.geometry?.node !== undefined) {
                part.geometry.mesh = json.nodes[part.geometry.node].mesh;
                delete part.geometry.node;
            }
        }
    });
    return JSON.stringify(json);
}

async function main(): Promise<void> {
    const [wasm, file, output, steps, rate, aside] = process.argv.slice(2);
    const havok = await HavokPhysics({ wasmBinary: readFileSync(wasm) });
    const scene = new Scene(new NullEngine());
    scene.useRightHandedSystem = true;
    const plugin = new HavokPlugin(false, havok);
    scene.enablePhysics(new Vector3(0, -9.81, 0), plugin);
    // The engine that this makes sets the time step of its plugin to 1/60 s.
    scene.getPhysicsEngine()!.setTimeStep(1 / +rate);
    registerGLTFExtension("KHR_implicit_shapes", true, (loader: any) => new KHR_ImplicitShapes_Plugin(loader));
    registerGLTFExtension("KHR_physics_rigid_bodies", true, (loader: any) => new KHR_PhysicsRigidBodies_Plugin(loader));
    const text = read(file);
    await SceneLoader.ImportMeshAsync("", "", `data:${text}`, scene, undefined, ".gltf");
    const nodes: any[] = [...scene.transformNodes, ...scene.meshes]
        .filter((node: any) => node.physicsBody && /^N\d+$/.test(node.name));
    // The loader multiplies the spin of a body by the scale of its node; the specification has it in rad/s.
    const described = JSON.parse(text).nodes
        .map((node: any) => node.extensions?.KHR_physics_rigid_bodies?.motion?.angularVelocity);
    for (const node of nodes) {
        const spin = described[+node.name.slice(1)];
        if (!spin) continue;
        const turned = Vector3.FromArray(spin).applyRotationQuaternion(node.absoluteRotationQuaternion);
        node.physicsBody.setAngularVelocity(turned);
    }
    const moving = nodes.filter((node) => node.physicsBody.getMotionType() === DYNAMIC);
    moving.forEach((node, number) => {
        node.position.x += +aside * Math.sin(7.1 * number);
        node.position.z += +aside * Math.cos(3.3 * number);
        node.computeWorldMatrix(true);
        havok.HP_Body_SetPosition(node.physicsBody._pluginData.hpBodyId, node.getAbsolutePosition().asArray());
    });
    const poses: Record<string, number[][]> = {};
    for (const node of nodes) poses[node.name.slice(1)] = [];
    for (let step = 0; step <= +steps; step++) {
        for (const node of nodes) {
            node.computeWorldMatrix(true);
            const place = node.getAbsolutePosition(), turn = node.absoluteRotationQuaternion;
            poses[node.name.slice(1)].push([place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w]);
        }
        if (step < +steps) (scene.getPhysicsEngine() as any)._step(1 / +rate);
    }
    writeFileSync(output, JSON.stringify({ poses, moving: moving.map((node) => +node.name.slice(1)) }));
    process.exit(0);
}

main().catch((error) => { console.error(error); process.exit(1); });
