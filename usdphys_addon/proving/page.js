// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the asset: solids with WebGL 2, where the browser has it, else as triangles sorted by depth; overlays on top.
// Metres, Z up.
"use strict";
(() => {
  const scene = JSON.parse(document.getElementById("scene").textContent);
  const canvas = document.getElementById("canvas"), pen = canvas.getContext("2d");
  const slider = document.getElementById("time"), now = document.getElementById("now");
  const play = document.getElementById("play");
  if (!pen) return;
  const shown = {}, engines = {};
  let frame = 0, playing = false, turn = -0.7, tilt = 0.45, zoom = 1, wanted = false;
  const frames = Math.max(1, ...scene.engines.map((engine) =>
    Math.max(0, ...Object.values(engine.motion).map((poses) => poses.length))));
  slider.max = String(frames - 1);

  const rotated = (q, v) => {
    const [w, x, y, z] = q, [a, b, c] = v;
    const tx = 2 * (y * c - z * b), ty = 2 * (z * a - x * c), tz = 2 * (x * b - y * a);
    return [a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx];
  };
  const placed = (pose, v) => {
    const r = rotated(pose.slice(3), v);
    return [r[0] + pose[0], r[1] + pose[1], r[2] + pose[2]];
  };
  const still = [0, 0, 0, 1, 0, 0, 0];
  const poseOf = (engine, body) => {
    if (!body) return still;
    const poses = engine && engine.motion[body];
    if (poses) return poses[Math.min(frame, poses.length - 1)];
    return scene.bodies[body] ? scene.bodies[body].pose : still;
  };

  const { middle, radius } = scene.view;

  const project = (p) => {
    const x = p[0] - middle[0], y = p[1] - middle[1], z = p[2] - middle[2];
    const c = Math.cos(turn), s = Math.sin(turn), a = Math.cos(tilt), b = Math.sin(tilt);
    const right = c * x + s * y, away = -s * x + c * y;
    const up = a * z + b * away, depth = a * away - b * z;
    const far = 3.2 * radius, scale = zoom * 0.42 * Math.min(canvas.width, canvas.height) / radius;
    const near = far / Math.max(0.05 * far, far + depth);
    return [canvas.width / 2 + scale * near * right, canvas.height / 2 - scale * near * up, depth, far + depth > 0.05 * far];
  };
  const shade = (colour, light) => {
    const n = parseInt(colour.slice(1), 16);
    return `rgb(${[n >> 16, (n >> 8) & 255, n & 255].map((part) => Math.round(part * light)).join(" ")})`;
  };
  const line = (points, colour, width) => {
    const ends = points.map(project);
    if (ends.some((end) => !end[3])) return;
    pen.strokeStyle = colour; pen.lineWidth = width * (window.devicePixelRatio || 1);
    pen.beginPath();
    ends.forEach((end, i) => (i ? pen.lineTo(end[0], end[1]) : pen.moveTo(end[0], end[1])));
    pen.stroke();
  };
  const sum = (a, b, s) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

  // One buffer for all shapes: corners with the normals of the faces about them, smooth where they are nearly flat.
  const solid = document.getElementById("solid");
  const gl = solid.getContext("webgl2", { antialias: true, preserveDrawingBuffer: true });
  const corners = () => {
    const data = [];
    for (const shape of scene.shapes) {
      shape.first = data.length / 6;
      const faces = shape.triangles.map(([a, b, c]) => {
        const n = cross(sum(shape.points[b], shape.points[a], -1), sum(shape.points[c], shape.points[a], -1));
        const size = Math.hypot(...n) || 1;
        return n.map((part) => part / size);
      });
      const about = shape.points.map(() => []);
      shape.triangles.forEach((corner, face) => corner.forEach((point) => about[point].push(face)));
      shape.triangles.forEach((corner, face) => corner.forEach((point) => {
        let normal = [0, 0, 0];
        for (const other of about[point]) {
          const dot = faces[face].reduce((total, part, i) => total + part * faces[other][i], 0);
          if (dot > 0.8) normal = sum(normal, faces[other], 1);
        }
        const size = Math.hypot(...normal) || 1;
        data.push(...shape.points[point], ...normal.map((part) => part / size));
      }));
      shape.count = data.length / 6 - shape.first;
    }
    return new Float32Array(data);
  };
  const program = gl && (() => {
    const made = gl.createProgram();
    const add = (kind, text) => {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(made, shader);
    };
    add(gl.VERTEX_SHADER, `#version 300 es
      layout(location = 0) in vec3 point; layout(location = 1) in vec3 normal;
      uniform vec4 turn; uniform vec3 place, middle; uniform vec4 view; uniform vec3 lens; out vec3 side, ray;
      vec3 rotated(vec3 v) { vec3 t = 2.0 * cross(turn.yzw, v); return v + turn.x * t + cross(turn.yzw, t); }
      vec3 seen(vec3 v) {
        float away = -view.y * v.x + view.x * v.y;
        return vec3(view.x * v.x + view.y * v.y, view.z * v.z + view.w * away, view.z * away - view.w * v.z);
      }
      void main() {
        vec3 p = seen(rotated(point) + place - middle);
        side = seen(rotated(normal));
        float far = lens.z, w = far + p.z, low = 0.05 * far, high = 80.0 * far;
        ray = vec3(p.xy, w);
        gl_Position = vec4(lens.xy * far * p.xy, ((high + low) * w - 2.0 * high * low) / (high - low), w);
      }`);
    add(gl.FRAGMENT_SHADER, `#version 300 es
      precision highp float;
      in vec3 side, ray; uniform vec4 colour; out vec4 shown;
      void main() {
        vec3 n = normalize(side);
        if (dot(n, ray) > 0.0) n = -n;
        float light = 0.68 + 0.17 * n.y + 0.3 * max(0.0, dot(n, normalize(vec3(-0.5, 0.6, -0.8))));
        float shine = pow(max(0.0, dot(reflect(normalize(ray), n), normalize(vec3(-0.5, 0.6, -0.8)))), 24.0);
        shown = vec4((colour.rgb * light + 0.15 * shine) * colour.a, colour.a);
      }`);
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS)) return null;
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, corners(), gl.STATIC_DRAW);
    for (const place of [0, 1]) {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, 3, gl.FLOAT, false, 24, 12 * place);
    }
    const at = Object.fromEntries(["turn", "place", "middle", "view", "lens", "colour"].map(
      (name) => [name, gl.getUniformLocation(made, name)]));
    return { made, at };
  })();

  const ghosted = (list) => {
    const found = [];
    if (shown.colliders !== false)
      list.forEach((engine, ghost) => {
        for (const shape of scene.shapes) {
          if (!shape.body && ghost) continue;
          const pose = poseOf(engine, shape.body);
          // A ghost where the first engine has the body, too, would only blur it.
          if (ghost && pose.every((part, i) => Math.abs(part - poseOf(list[0], shape.body)[i]) < 0.004 * Math.max(1, radius)))
            continue;
          found.push({ shape, pose, ghost, colour: shape.body ? (engine ? engine.colour : "#3b7dd8") : "#8b949e" });
        }
      });
    return found;
  };
  const drawSolids = (things) => {
    gl.viewport(0, 0, solid.width, solid.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.useProgram(program.made);
    const { at } = program, scale = zoom * 0.84 * Math.min(solid.width, solid.height) / radius;
    gl.uniform3fv(at.middle, middle);
    gl.uniform4f(at.view, Math.cos(turn), Math.sin(turn), Math.cos(tilt), Math.sin(tilt));
    gl.uniform3f(at.lens, scale / solid.width, scale / solid.height, 3.2 * radius);
    // Ghosts last, and through each other.
    for (const { shape, pose, ghost, colour } of [...things].sort((one, other) => (one.ghost > 0) - (other.ghost > 0))) {
      const n = parseInt(colour.slice(1), 16);
      gl.depthMask(!ghost);
      gl.uniform3f(at.place, pose[0], pose[1], pose[2]);
      gl.uniform4f(at.turn, pose[3], pose[4], pose[5], pose[6]);
      gl.uniform4f(at.colour, (n >> 16) / 255, ((n >> 8) & 255) / 255, (n & 255) / 255, ghost ? 0.4 : 1);
      gl.drawArrays(gl.TRIANGLES, shape.first, shape.count);
    }
    gl.depthMask(true);
  };
  const paintSolids = (things) => {
    const faces = [];
    for (const { shape, pose, ghost, colour } of things) {
      const world = shape.points.map((point) => placed(pose, point)), ends = world.map(project);
      for (const [a, b, c] of shape.triangles) {
        if (!(ends[a][3] && ends[b][3] && ends[c][3])) continue;
        const n = cross(sum(world[b], world[a], -1), sum(world[c], world[a], -1));
        const light = 0.55 + 0.4 * Math.abs(n[2] * 0.8 + n[0] * 0.3 + n[1] * 0.5) / (Math.hypot(...n) || 1);
        faces.push([ends[a][2] + ends[b][2] + ends[c][2], ends[a], ends[b], ends[c], shade(colour, Math.min(1, light)),
          ghost || !shape.body ? 0.35 : 1]);
      }
    }
    faces.sort((one, other) => other[0] - one[0]);
    for (const [, a, b, c, colour, alpha] of faces) {
      pen.globalAlpha = alpha; pen.fillStyle = pen.strokeStyle = colour; pen.lineWidth = 0.6;
      pen.beginPath(); pen.moveTo(a[0], a[1]); pen.lineTo(b[0], b[1]); pen.lineTo(c[0], c[1]); pen.closePath();
      pen.fill(); if (alpha === 1) pen.stroke();
    }
    pen.globalAlpha = 1;
  };

  const draw = () => {
    wanted = false;
    pen.clearRect(0, 0, canvas.width, canvas.height);
    const visible = scene.engines.filter((engine) => engines[engine.key] !== false);
    const list = visible.length ? visible : [null];
    const things = ghosted(list);
    if (program) drawSolids(things); else paintSolids(things);
    const style = getComputedStyle(document.body), ink = style.color, back = style.backgroundColor, engine = list[0];
    if (shown.joints !== false) for (const joint of scene.joints) drawJoint(joint, engine);
    const pixel = window.devicePixelRatio || 1;
    const ends = Object.entries(scene.bodies).map(([path, body]) =>
      [path.split("/").pop(), project(placed(poseOf(engine, path), body.center))]);
    if (shown.centers !== false) for (const [, end] of ends) {
      pen.fillStyle = "#111"; pen.strokeStyle = "#fff"; pen.lineWidth = 1.5 * pixel;
      pen.beginPath(); pen.arc(end[0], end[1], 4 * pixel, 0, 7); pen.fill(); pen.stroke();
    }
    drawNames(shown.names !== false && ends.length <= 40 ? ends : [], ink, back, pixel);
    for (const mark of document.querySelectorAll("svg .now")) {
      const x = Number(mark.dataset.left) + Number(mark.dataset.inner) * (frames > 1 ? frame / (frames - 1) : 0);
      mark.setAttribute("x1", String(x)); mark.setAttribute("x2", String(x));
    }
    now.value = `${(frame * scene.step).toFixed(2)} s`;
    slider.value = String(frame);
    canvas.dataset.faces = String(things.reduce((total, thing) => total + thing.shape.triangles.length, 0));
    canvas.dataset.renderer = program ? "webgl" : "canvas";
    canvas.dataset.frame = String(frame);
  };
  // Names of bodies, to the right of their centres or to the left; one that would lie on another is left out.
  const drawNames = (ends, ink, back, pixel) => {
    const boxes = [], high = 14 * pixel;
    pen.font = `${12 * pixel}px system-ui, sans-serif`;
    pen.fillStyle = ink; pen.strokeStyle = back; pen.lineWidth = 3 * pixel; pen.lineJoin = "round";
    for (const [name, end] of ends) {
      const wide = pen.measureText(name).width, y = end[1] - 6 * pixel;
      const places = [end[0] + 7 * pixel, end[0] - 7 * pixel - wide].filter((x) => x >= 0 && x + wide <= canvas.width);
      const x = places.find((left) => !boxes.some((box) =>
        left < box[0] + box[2] && box[0] < left + wide && Math.abs(y - box[1]) < high));
      if (x === undefined) continue;
      boxes.push([x, y, wide]);
      pen.strokeText(name, x, y);
      pen.fillText(name, x, y);
    }
    canvas.dataset.names = JSON.stringify(boxes);
  };
  const drawJoint = (joint, engine) => {
    const size = 0.14 * radius, pose = poseOf(engine, joint.body), turned = (v) => rotated(pose.slice(3), v);
    const place = placed(pose, joint.place), end = project(place), pixel = window.devicePixelRatio || 1;
    if (joint.axis) line([sum(place, turned(joint.axis), -size), sum(place, turned(joint.axis), size)], "#e8590c", 3);
    if (joint.range) {
      const base = poseOf(engine, joint.base), about = (v) => rotated(base.slice(3), v);
      const start = placed(base, joint.base_place), axis = about(joint.base_axis), across = about(joint.base_across);
      const third = cross(axis, across), points = [];
      for (let i = 0; i <= 24; i++) {
        const value = joint.range[0] + (joint.range[1] - joint.range[0]) * i / 24;
        points.push(joint.turns
          ? sum(sum(start, across, 1.6 * size * Math.cos(value)), third, 1.6 * size * Math.sin(value))
          : sum(start, axis, value));
      }
      line(joint.turns ? [start, ...points, start] : points, "#2b8a3e", 2);
    }
    pen.fillStyle = "#e8590c";
    pen.beginPath(); pen.arc(end[0], end[1], 3.5 * pixel, 0, 7); pen.fill();
  };
  const redraw = () => { if (!wanted) { wanted = true; requestAnimationFrame(draw); } };

  const fit = () => {
    const box = canvas.getBoundingClientRect(), pixel = window.devicePixelRatio || 1;
    for (const one of [canvas, solid]) {
      one.width = Math.max(1, Math.round(box.width * pixel));
      one.height = Math.max(1, Math.round(box.height * pixel));
    }
    draw();
  };
  const go = (to) => { frame = Math.min(frames - 1, Math.max(0, to)); redraw(); };
  let last = 0;
  const tick = (time) => {
    if (!playing) return;
    if (time - last >= 1000 * scene.step) { last = time; go(frame + 1 < frames ? frame + 1 : 0); }
    requestAnimationFrame(tick);
  };
  const toggle = () => {
    playing = !playing;
    play.textContent = playing ? "Pause" : "Play";
    if (playing) requestAnimationFrame(tick);
  };
  play.addEventListener("click", toggle);
  slider.addEventListener("input", () => go(Number(slider.value)));
  for (const box of document.querySelectorAll("input[data-overlay]"))
    box.addEventListener("change", () => { shown[box.dataset.overlay] = box.checked; redraw(); });
  for (const box of document.querySelectorAll("input[data-engine]"))
    box.addEventListener("change", () => { engines[box.dataset.engine] = box.checked; redraw(); });
  const turnBy = (x, y) => { turn += x; tilt = Math.min(1.5, Math.max(-1.5, tilt + y)); redraw(); };
  const keys = {
    ArrowLeft: () => turnBy(-0.1, 0), ArrowRight: () => turnBy(0.1, 0), ArrowUp: () => turnBy(0, 0.1),
    ArrowDown: () => turnBy(0, -0.1), "+": () => { zoom *= 1.15; redraw(); }, "-": () => { zoom /= 1.15; redraw(); },
    " ": toggle, ",": () => go(frame - 1), ".": () => go(frame + 1),
  };
  canvas.addEventListener("keydown", (event) => {
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  canvas.addEventListener("pointerdown", (event) => canvas.setPointerCapture(event.pointerId));
  canvas.addEventListener("pointermove", (event) => {
    if (canvas.hasPointerCapture(event.pointerId)) turnBy(-event.movementX / 150, event.movementY / 150);
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom *= Math.exp(-event.deltaY / 600); redraw();
  }, { passive: false });
  new ResizeObserver(fit).observe(canvas);
  fit();
})();
