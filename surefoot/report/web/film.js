// The film: one picture after the other, each drawn once, seen from where the maker of the film stands.
// Put behind main.js and smooth.js by report/video_browser.py; pages that people open do not have it.

const MAP_OF_FILM = 1024;  // texels of the shadow; a film is drawn without a graphics card
const buildScene = Page.prototype.buildScene;
let page = null;  // of main.js, known when its scene is built
let smoothing = null;

Stage.samples = false;  // without a graphics card they take more time than all the rest; see smooth.js

Page.prototype.buildScene = function () {
  page = this;
  buildScene.call(this);
};

window.film = {
  // look: { azimuth, elevation [rad], zoom, follow, layers }
  prepare(look) {
    if (!look.layers) for (const layer of Object.values(page.layers.groups)) page.layers.show(layer.name, false);
    page.stage.sun.shadow.mapSize.set(MAP_OF_FILM, MAP_OF_FILM);
    window.surefoot.film();
    page.setFollow(look.follow);
    if (!look.follow) aimAtAll();
    turnCamera(look);
    page.stage.invalidate = () => {};  // from now on pictures are drawn when they are asked for
    page.lanes.draw = page.lanes.tick = page.plots.tick = page.plots.redraw = () => {};  // not in the picture
    smoothing = new Smoothing(page.stage.renderer.getContext());
  },

  picture(t) {
    page.clock.jump(t);
    page.stage.draw();
    const { renderer, scene, camera, canvas } = page.stage;
    smoothing.apply(partWithEdges(scene, camera, canvas.width, canvas.height));
    renderer.resetState();
  },
};

// Frames the whole way of the robot.
function aimAtAll() {
  const ball = robotBall(page.robot), p = page.robot.motion.positions, stride = 3 * page.data.scene.bodies.length;
  if (!stride || !page.data.scene.floats) return;
  const first = new THREE.Vector3(p[0], p[1], p[2]), low = first.clone(), high = first.clone(), point = first.clone();
  for (let at = 0; at + 2 < p.length; at += stride) {
    point.set(p[at], p[at + 1], p[at + 2]);
    low.min(point);
    high.max(point);
  }
  const middle = low.clone().add(high).multiplyScalar(0.5).sub(first);
  page.stage.frame(ball.centre.add(middle), 1.12 * (ball.radius + 0.5 * low.distanceTo(high)));
}

function turnCamera({ azimuth, elevation, zoom }) {
  const { camera, controls } = page.stage, distance = camera.position.distanceTo(controls.target) / zoom;
  const level = Math.cos(elevation);
  const direction = new THREE.Vector3(level * Math.cos(azimuth), level * Math.sin(azimuth), Math.sin(elevation));
  camera.position.copy(controls.target).addScaledVector(direction, distance);
  controls.update();
}
