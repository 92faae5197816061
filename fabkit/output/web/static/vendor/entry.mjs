// What the page's viewer needs of three.js: scripts/vendor-three makes three.js beside this of it.
export {
    AmbientLight,
    Box3,
    BufferGeometry,
    DirectionalLight,
    EdgesGeometry,
    Group,
    HemisphereLight,
    LineBasicMaterial,
    LineSegments,
    Matrix4,
    Mesh,
    PCFShadowMap,
    PerspectiveCamera,
    PlaneGeometry,
    Quaternion,
    REVISION,
    Scene,
    ShadowMaterial,
    Spherical,
    Vector3,
    WebGLRenderer,
} from "three";
export { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
export { GLTFLoader } from "three/examples/jsm/loaders/GLTFLoader.js";
