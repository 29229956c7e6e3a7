// The place of a panel that waits for its program in the library.
export default {
    id: "subdivision",
    title: "Subdivision",
    create(host) {
        const text = document.createElement("p");
        text.className = "place";
        text.textContent = "A coarse cage that becomes smooth where you look closely: a stream of triangles that split until none needs to. The library has no such program yet.";
        host.append(text);
        return { show() {}, hide() {} };
    },
};
