// The service worker: what the page was built of is kept, so that all of it works without a network. With one, each
// answer is the server's, and renews what is kept.
const KEPT = "trommel";

addEventListener("install", (event) => event.waitUntil((async () => {
    const files = await (await fetch("files.json", { cache: "no-store" })).json();
    await (await caches.open(KEPT)).addAll(files);
    await skipWaiting();
})()));
addEventListener("activate", (event) => event.waitUntil(clients.claim()));

addEventListener("fetch", (event) => {
    const { request } = event;
    if (request.method !== "GET" || new URL(request.url).origin !== location.origin)
        return;
    event.respondWith((async () => {
        const kept = await caches.open(KEPT);
        try {
            const answer = await fetch(request);
            if (answer.ok && (await kept.match(request, { ignoreSearch: true })))
                await kept.put(request, answer.clone());
            return answer;
        } catch (error) {
            const answer = await kept.match(request, { ignoreSearch: true });
            if (!answer)
                throw error;
            return answer;
        }
    })());
});
