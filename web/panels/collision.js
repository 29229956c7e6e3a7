// The place of a panel that waits for its program in the library.
export default {
    id: "collision",
    title: "Collision",
    create(host) {
        const text = document.createElement("p");
        text.className = "place";
        text.textContent = "Two meshes that you turn and push into each other, and the triangles that touch, found by streams of candidate pairs that split until nothing is left to split. The library has no such program yet.";
        host.append(text);
        return { show() {}, hide() {} };
    },
};
