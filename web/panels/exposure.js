// The place of a panel that waits for its program in the library.
export default {
    id: "exposure",
    title: "Exposure",
    create(host) {
        const text = document.createElement("p");
        text.className = "place";
        text.textContent =
            "A dropped .hdr picture, exposed live: its exact averages and histogram, the points where it clips, adaptation in time, and tone curves side by side.";
        host.append(text);
        return { show() {}, hide() {} };
    },
};
