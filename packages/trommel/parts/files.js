/* Files of volumes, points and pictures. */
import { ARRAYS, INTERNAL, Trommel, extend, typeOf } from '../core.js';
import './lent.js';

extend(Trommel, class {
    loadPicture(file, name = 'file', options = {}) {
        const i = this[INTERNAL];
        return i.withBytes('loadPicture', file, (data, size) => i.scope(() => {
            i.call('picture_load', {
                data, size, name: i.stackText(name), memory_limit: options.memoryLimit ?? 2 ** 30,
            });
            try {
                const type = i.text('type'), bytes = ARRAYS[type].BYTES_PER_ELEMENT;
                return {
                    data: i.copyOut(i.reply('data'), type, i.reply('size') / bytes), type,
                    width: i.reply('width'), height: i.reply('height'), channels: i.reply('channels'),
                    srgb: i.reply('srgb') !== 0, format: i.text('format'), comment: i.text('comment'),
                };
            } finally {
                i.m._web_picture_free(i.tml);
            }
        }));
    }

    loadVolume(file, name = 'file', options = {}) {
        const i = this[INTERNAL];
        return i.withBytes('loadVolume', file, (data, size) => i.scope(() => {
            i.call('volume_load', {
                data, size, name: i.stackText(name), ...i.vector('loadVolume', 'dims', options.dims, 3, 'dims'),
                type: i.stackText(options.type), big_endian: options.bigEndian, skip: options.skip,
                ...i.vector('loadVolume', 'spacing', options.spacing, 3, 'spacing'), frame: options.frame,
                memory_limit: options.memoryLimit ?? 2 ** 30,
            });
            try {
                const type = i.text('type'), bytes = ARRAYS[type].BYTES_PER_ELEMENT;
                return {
                    data: i.copyOut(i.reply('data'), type, i.reply('size') / bytes), type, ...i.replyGrid(),
                    slope: i.reply('slope'), intercept: i.reply('intercept'), format: i.text('format'),
                    space: i.text('space'), unit: i.text('unit'), comment: i.text('comment'),
                };
            } finally {
                i.m._web_volume_free(i.tml);
            }
        }));
    }

    suggestIso({ data, type, slope = 1, intercept = 0 }) {
        const i = this[INTERNAL], physical = name => slope * i.reply(name) + intercept;
        return i.withBytes('suggestIso', data, (at, size) => i.scope(() => {
            i.call('suggest_iso', { data: at, size, type: i.stackText(type ?? typeOf(data)) });
            const [low, high] = slope < 0 ? ['max', 'min'] : ['min', 'max'];
            return { iso: physical('iso'), lower: physical(low), upper: physical(high) };
        }));
    }

    loadPoints(file, name = 'file') {
        const i = this[INTERNAL];
        return i.withBytes('loadPoints', file, (data, size) => i.scope(() => {
            i.call('points_load', { data, size, name: i.stackText(name) });
            try {
                const count = i.reply('count');
                const array = (field, n) => (i.reply(field) ? i.copyOut(i.reply(field), 'f32', n) : null);
                return {
                    positions: array('positions', 3 * count) ?? new Float32Array(0), radii: array('radii', count),
                    values: array('values', count), valueName: i.text('value_name'), count,
                    origin: i.replies('origin', 3), format: i.text('format'), dropped: i.reply('dropped'),
                };
            } finally {
                i.m._web_points_free(i.tml);
            }
        }));
    }
});
