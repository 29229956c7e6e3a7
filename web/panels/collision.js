import { place } from "./place.js";

export default place(
    "collision",
    "Collision",
    "Two meshes that you turn and push into each other, and the triangles that touch, found by streams of candidate pairs that split until nothing is left to split.",
);
