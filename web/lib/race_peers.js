// The other libraries of the race (race_worker.js), as scripts/web bundles them from npm.
export { MarchingCubes } from "three/examples/jsm/objects/MarchingCubes.js";
export { marchingCubes, surfaceNets } from "isosurface";
