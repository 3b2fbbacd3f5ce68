// The film: one picture after the other, each drawn once, seen from where the maker of the film stands.
// Put behind main.js by report/video_browser.py; pages that people open do not have it.

const MAP_OF_FILM = 1024;  // texels of the shadow; a film is drawn without a graphics card

window.surefoot.shoot = {
  // look: { azimuth, elevation [rad], zoom, follow, layers }
  prepare(look) {
    if (!look.layers) for (const layer of Object.values(page.layers.groups)) page.layers.show(layer.name, false);
    page.stage.sun.shadow.mapSize.set(MAP_OF_FILM, MAP_OF_FILM);
    window.surefoot.film();
    page.setFollow(look.follow);
    if (!look.follow) aimAtAll();
    turnCamera(look);
    page.stage.invalidate = () => {};  // from now on pictures are drawn when they are asked for
    page.lanes.draw = () => {};
  },

  picture(t) {
    page.clock.jump(t);
    page.stage.draw();
  },
};

// Frames the whole way of the robot.
function aimAtAll() {
  const ball = robotBall(page.robot), p = page.robot.motion.positions, stride = 3 * page.data.scene.bodies.length;
  if (!stride || !page.data.scene.floats) return;
  const first = new THREE.Vector3(p[0], p[1], p[2]), way = new THREE.Box3(), point = new THREE.Vector3();
  for (let at = 0; at + 2 < p.length; at += stride) way.expandByPoint(point.set(p[at], p[at + 1], p[at + 2]));
  const middle = way.getCenter(new THREE.Vector3()).sub(first);
  page.stage.frame(ball.centre.add(middle), 1.12 * (ball.radius + 0.5 * way.getSize(point).length()));
}

function turnCamera({ azimuth, elevation, zoom }) {
  const { camera, controls } = page.stage, distance = camera.position.distanceTo(controls.target) / zoom;
  const level = Math.cos(elevation);
  const direction = new THREE.Vector3(level * Math.cos(azimuth), level * Math.sin(azimuth), Math.sin(elevation));
  camera.position.copy(controls.target).addScaledVector(direction, distance);
  controls.update();
}
