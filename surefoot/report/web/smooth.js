// Smooth edges in one pass over the finished picture, in the manner of FXAA (Lottes 2009): where brightness jumps, a
// pixel is mixed with its neighbours along the edge. Several samples a pixel would cost a film twice the time to draw.

const SMOOTH_VERTEX = `#version 300 es
  void main() {
    gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
  }`;
const SMOOTH_FRAGMENT = `#version 300 es
  precision highp float;
  uniform sampler2D picture;
  uniform vec2 pixel;
  out vec4 colour;
  float light(vec4 c) { return dot(c.rgb, vec3(0.30, 0.59, 0.11)) + 1.0 - c.a; }  // nothing drawn: the bright page
  vec4 at(vec2 shift) { return texture(picture, (gl_FragCoord.xy + shift) * pixel); }
  vec4 exactly(ivec2 place) { return texelFetch(picture, clamp(place, ivec2(0), ivec2(1.0 / pixel - 0.5)), 0); }
  void main() {
    ivec2 place = ivec2(gl_FragCoord.xy);
    vec4 here = exactly(place);
    float m = light(here);
    float a = light(exactly(place + ivec2(-1, 1))), b = light(exactly(place + ivec2(1, 1)));
    float c = light(exactly(place + ivec2(-1, -1))), d = light(exactly(place + ivec2(1, -1)));
    float low = min(m, min(min(a, b), min(c, d))), high = max(m, max(max(a, b), max(c, d)));
    colour = here;
    if (high - low < max(0.04, 0.1 * high)) return;
    vec2 along = vec2(c + d - a - b, a + c - b - d);
    float slack = max(0.03 * (a + b + c + d), 0.008);
    along = clamp(along / (min(abs(along.x), abs(along.y)) + slack), -6.0, 6.0);
    vec4 near = 0.5 * (at(along / 6.0) + at(-along / 6.0));
    vec4 wide = 0.5 * near + 0.25 * (at(0.5 * along) + at(-0.5 * along));
    float w = light(wide);
    colour = w < low || w > high ? near : wide;
  }`;

class Smoothing {
  // gl: a WebGL 2 context whose default framebuffer has the picture
  constructor(gl) {
    this.gl = gl;
    this.program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, SMOOTH_VERTEX], [gl.FRAGMENT_SHADER, SMOOTH_FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(this.program, shader);
    }
    gl.linkProgram(this.program);
    if (!gl.getProgramParameter(this.program, gl.LINK_STATUS)) throw new Error(`edges: ${gl.getProgramInfoLog(this.program)}`);
    this.pixel = gl.getUniformLocation(this.program, 'pixel');
    this.points = gl.createVertexArray();
    this.picture = gl.createTexture();
  }

  // Smooths a part of the picture: [left, bottom, width, height] in pixels. The state of the context is another one afterwards.
  apply([left, bottom, across, up]) {
    const { gl } = this, width = gl.drawingBufferWidth, height = gl.drawingBufferHeight;
    if (across <= 0 || up <= 0) return;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.picture);
    if (this.size !== `${width} ${height}`) this.makePicture(width, height);
    gl.copyTexSubImage2D(gl.TEXTURE_2D, 0, left, bottom, left, bottom, across, up);
    for (const test of [gl.BLEND, gl.DEPTH_TEST, gl.CULL_FACE, gl.STENCIL_TEST]) gl.disable(test);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(left + 1, bottom + 1, across - 2, up - 2);
    gl.colorMask(true, true, true, true);
    gl.viewport(0, 0, width, height);
    gl.useProgram(this.program);
    gl.uniform2f(this.pixel, 1 / width, 1 / height);
    gl.bindVertexArray(this.points);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.bindVertexArray(null);
  }

  makePicture(width, height) {
    const { gl } = this;
    this.size = `${width} ${height}`;
    gl.copyTexImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 0, 0, width, height, 0);
    for (const side of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, side, gl.LINEAR);
    for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, side, gl.CLAMP_TO_EDGE);
  }
}

// The part of the picture, [left, bottom, width, height] in pixels, with all things that have edges: those but endless planes.
function partWithEdges(scene, camera, width, height) {
  const low = [Infinity, Infinity], high = [-Infinity, -Infinity], centre = new THREE.Vector3(), size = new THREE.Vector3();
  const scale = camera.projectionMatrix.elements;
  scene.traverseVisible(thing => {
    if (!thing.geometry || ['ShaderMaterial', 'ShadowMaterial'].includes(thing.material.type)) return;
    if (!thing.geometry.boundingSphere) thing.geometry.computeBoundingSphere();
    const ball = thing.geometry.boundingSphere;
    centre.copy(ball.center).applyMatrix4(thing.matrixWorld).applyMatrix4(camera.matrixWorldInverse);
    const radius = ball.radius * Math.max(...size.setFromMatrixScale(thing.matrixWorld).toArray()), depth = -centre.z - radius;
    [[0, centre.x, scale[0]], [1, centre.y, scale[5]]].forEach(([k, at, focal]) => {
      const reach = depth > 0 ? [at - radius, at + radius].map(v => focal * v / (v * at > 0 && Math.abs(v) < Math.abs(at) ? depth + 2 * radius : depth)) : [-1, 1];
      low[k] = Math.min(low[k], ...reach);
      high[k] = Math.max(high[k], ...reach);
    });
  });
  if (!Number.isFinite(low[0] + low[1] + high[0] + high[1])) return [0, 0, width, height];
  const edge = (ndc, pixels, margin) => Math.min(pixels, Math.max(0, Math.round(0.5 * (ndc + 1) * pixels) + margin));
  const [left, bottom] = [edge(low[0], width, -8), edge(low[1], height, -8)];
  return [left, bottom, edge(high[0], width, 8) - left, edge(high[1], height, 8) - bottom];
}
