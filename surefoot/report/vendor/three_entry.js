// What the report page uses of three.js; the input of scripts/refresh_three.sh.
export {
  Box3, BufferAttribute, BufferGeometry, CanvasTexture, Color, ConeGeometry, CylinderGeometry,
  DirectionalLight, DoubleSide, Float32BufferAttribute, Group, HemisphereLight, Line, LineBasicMaterial,
  LineSegments, Matrix4, Mesh, MeshBasicMaterial, MeshPhongMaterial, PCFShadowMap,
  PerspectiveCamera, PlaneGeometry, Quaternion, RingGeometry, Scene, ShaderMaterial, ShadowMaterial,
  SphereGeometry, Vector3, WebGLRenderer,
} from "three";
export { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
