// A worker that is asked and answers: messages {id, call, args}, answers {id, result} or {id, error}. On the
// worker's side: answerCalls({name(args) { ... }}).

export class Remote {
    // It starts when it is first asked. url: of a module.
    constructor(url) {
        this.url = url;
        this.worker = null;
        this.lastId = 0;
        this.waiting = new Map();
    }

    #start() {
        this.worker = new Worker(this.url, { type: "module" });
        this.worker.onmessage = ({ data: { id, result, error } }) => {
            const { resolve, reject } = this.waiting.get(id);
            this.waiting.delete(id);
            if (error === undefined)
                resolve(result);
            else
                reject(new Error(error));
        };
        this.worker.onerror = (event) => {
            event.preventDefault();
            for (const { reject } of this.waiting.values())
                reject(new Error(event.message || "a worker of the page did not start"));
            this.waiting.clear();
            this.worker = null; // the next call starts another
        };
    }

    ask(call, args, moved = []) {
        if (!this.worker)
            this.#start();
        return new Promise((resolve, reject) => {
            this.waiting.set(++this.lastId, { resolve, reject });
            this.worker.postMessage({ id: this.lastId, call, args }, moved);
        });
    }
}

const buffersOf = (value) => Object.values(value ?? {}).filter(ArrayBuffer.isView).map((view) => view.buffer);

export function answerCalls(calls) {
    onmessage = async ({ data: { id, call, args } }) => {
        try {
            const result = await calls[call](args);
            // Moved, not copied; what threads share cannot be.
            const moved = [...new Set(buffersOf(result))].filter((buffer) => buffer instanceof ArrayBuffer);
            postMessage({ id, result }, moved);
        } catch (error) {
            postMessage({ id, error: error.message });
        }
    };
}
