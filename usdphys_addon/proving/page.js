// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the asset on a canvas: triangles sorted by depth, overlays on top. Metres, Z up.
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

  // What is to be seen: all that moves, and what stands unless it is a wide floor.
  let low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  const widen = (shapes) => {
    for (const shape of shapes)
      for (const point of shape.points) {
        const p = placed(poseOf(null, shape.body), point);
        for (let i = 0; i < 3; i++) { low[i] = Math.min(low[i], p[i]); high[i] = Math.max(high[i], p[i]); }
      }
  };
  widen(scene.shapes.filter((shape) => shape.body));
  if (!isFinite(low[0])) widen(scene.shapes);
  if (!isFinite(low[0])) { low = [-1, -1, -1]; high = [1, 1, 1]; }
  const middle = low.map((value, i) => (value + high[i]) / 2);
  const radius = Math.max(0.05, Math.hypot(...high.map((value, i) => value - low[i])) / 2);

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

  const draw = () => {
    wanted = false;
    pen.clearRect(0, 0, canvas.width, canvas.height);
    const visible = scene.engines.filter((engine) => engines[engine.key] !== false);
    const list = visible.length ? visible : [null];
    const faces = [];
    if (shown.colliders !== false)
      list.forEach((engine, ghost) => {
        for (const shape of scene.shapes) {
          if (!shape.body && ghost) continue;
          const pose = poseOf(engine, shape.body);
          // A ghost where the first engine has the body, too, would only blur it.
          if (ghost && pose.every((part, i) => Math.abs(part - poseOf(list[0], shape.body)[i]) < 0.004 * Math.max(1, radius)))
            continue;
          const world = shape.points.map((point) => placed(pose, point));
          const ends = world.map(project);
          const colour = shape.body ? (engine ? engine.colour : "#3b7dd8") : "#8b949e";
          for (const [a, b, c] of shape.triangles) {
            if (!(ends[a][3] && ends[b][3] && ends[c][3])) continue;
            const n = cross(sum(world[b], world[a], -1), sum(world[c], world[a], -1));
            const light = 0.55 + 0.4 * Math.abs(n[2] * 0.8 + n[0] * 0.3 + n[1] * 0.5) / (Math.hypot(...n) || 1);
            faces.push([ends[a][2] + ends[b][2] + ends[c][2], ends[a], ends[b], ends[c], shade(colour, Math.min(1, light)),
              ghost || !shape.body ? 0.35 : 1]);
          }
        }
      });
    faces.sort((one, other) => other[0] - one[0]);
    for (const [, a, b, c, colour, alpha] of faces) {
      pen.globalAlpha = alpha; pen.fillStyle = pen.strokeStyle = colour; pen.lineWidth = 0.6;
      pen.beginPath(); pen.moveTo(a[0], a[1]); pen.lineTo(b[0], b[1]); pen.lineTo(c[0], c[1]); pen.closePath();
      pen.fill(); if (alpha === 1) pen.stroke();
    }
    pen.globalAlpha = 1;
    const ink = getComputedStyle(document.body).color, engine = list[0];
    if (shown.joints !== false) for (const joint of scene.joints) drawJoint(joint, engine);
    const pixel = window.devicePixelRatio || 1;
    for (const [path, body] of Object.entries(scene.bodies)) {
      const end = project(placed(poseOf(engine, path), body.center));
      if (shown.centers !== false) {
        pen.fillStyle = "#111"; pen.strokeStyle = "#fff"; pen.lineWidth = 1.5 * pixel;
        pen.beginPath(); pen.arc(end[0], end[1], 4 * pixel, 0, 7); pen.fill(); pen.stroke();
      }
      if (shown.names !== false && Object.keys(scene.bodies).length <= 40) {
        pen.fillStyle = ink; pen.font = `${12 * pixel}px system-ui, sans-serif`;
        pen.fillText(path.split("/").pop(), end[0] + 7 * pixel, end[1] - 6 * pixel);
      }
    }
    for (const mark of document.querySelectorAll("svg .now")) {
      const x = Number(mark.dataset.left) + Number(mark.dataset.inner) * (frames > 1 ? frame / (frames - 1) : 0);
      mark.setAttribute("x1", String(x)); mark.setAttribute("x2", String(x));
    }
    now.value = `${(frame * scene.step).toFixed(2)} s`;
    slider.value = String(frame);
    canvas.dataset.faces = String(faces.length);
    canvas.dataset.frame = String(frame);
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
    canvas.width = Math.max(1, Math.round(box.width * pixel));
    canvas.height = Math.max(1, Math.round(box.height * pixel));
    redraw();
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
