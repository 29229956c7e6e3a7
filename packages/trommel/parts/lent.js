/* Arrays that are lent for one call, for several parts. */
import { ARRAYS, INTERNAL, Inside, bytesOf, componentsOf, extend, invalid, scalarOf } from '../core.js';

extend(Inside, class {
    /* Calls name with buffers of arrays for as long, by the request's fields: inputs are [array, type, what the caller calls
     * it] or nothing, outputs types of count elements; returns what these then hold. */
    callWith(call, name, fields, inputs, outputs = {}, count = 0) {
        const lent = {}, place = /tree_(create|update)/.test(name) ? 'host' : undefined; /* others read none there */
        const lend = (field, label, options) => {
            lent[field] = this.create({ ...options, place, label });
        };
        try {
            for (const field in inputs) {
                if (!inputs[field])
                    continue;
                const [data, type, label = field] = inputs[field];
                const Array = ARRAYS[scalarOf(type)], components = componentsOf(type);
                if (!(data instanceof Array) || data.length % components)
                    throw invalid(`${call}: ${label} is no ${Array.name} of ${components} numbers each`);
                lend(field, label, { type, count: data.length / components, data });
            }
            for (const field in outputs)
                lend(field, field, { type: outputs[field], count });
            this.call(name, {
                ...fields, ...Object.fromEntries(Object.entries(lent).map(([field, buffer]) => [field, buffer[INTERNAL].handle])),
            });
            return Object.fromEntries(Object.keys(outputs).map(field => [field, lent[field].read()]));
        } finally {
            for (const buffer of Object.values(lent))
                this.destroy(buffer);
        }
    }

    /* Calls use with the address of a copy of the bytes, which lasts as long as the call, and their number. */
    withBytes(call, data, use) {
        this.check();
        const bytes = bytesOf(call, data), at = this.allocate(call, bytes.length);
        this.m.HEAPU8.set(bytes, at);
        try {
            return use(at, bytes.length);
        } finally {
            this.m._free(at);
        }
    }
});
