import { place } from "./place.js";

export default place(
    "subdivision",
    "Subdivision",
    "A coarse cage that becomes smooth where you look closely: a stream of triangles that split until none needs to.",
);
