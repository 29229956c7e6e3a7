/* Pictures: measured, exposed, tone-mapped. */
import { INTERNAL, Inside, Trommel, choice, extend, invalid, typeOf } from '../core.js';

const EXPOSE_BY = ['mean', 'median', 'percentile', 'manual'];
const TONES = ['srgb', 'reinhard', 'reinhard-extended', 'hable', 'aces-fit', 'agx', 'neutral'];
const LUMINANCES = ['rec709', 'rec2020', 'acescg', 'max-rgb', 'custom'];
const METERS = ['average', 'centre', 'spot', 'matrix'];
const MIP_FILTERS = ['area', 'kaiser'];
const MIP_OUTPUTS = ['chain', 'last'];
const VALUES = ['linear', 'log2', 'ln', 'log10'];
const MEASURES = { log: 1, mean: 2, histogram: 4 };
const HISTOGRAM_BINS = 256;

function luminanceFields(call, { luminance, weights = [], floor }) {
    return {
        luminance: choice(call, 'luminance', LUMINANCES, luminance), floor,
        weight0: weights[0], weight1: weights[1], weight2: weights[2],
    };
}

extend(Inside, class {
    imageFields(call, image) {
        return {
            in0: image.texture ? undefined : this.handle(call, 'the picture', image.buffer),
            width: image.width, height: image.height,
            channels: image.channels ?? (image.texture ? 3 : undefined), srgb: image.srgb,
            picture_values: choice(call, 'values', VALUES, image.values),
            ...this.colours(call, image.texture, image.format),
        };
    }
});

const IMAGE = 'luminance weights floor';
extend(Trommel, class {
    imageSizes() {
        const i = this[INTERNAL];
        i.check();
        i.call('image_sizes', {});
        return { stats: i.reply('count'), state: i.reply('size') };
    }

    imageMeasure(o) {
        const i = this[INTERNAL];
        i.check();
        i.call('image_measure', {
            ...i.imageFields('imageMeasure', o.image), ...luminanceFields('imageMeasure', o),
            region0: o.region?.x, region1: o.region?.y, region2: o.region?.width, region3: o.region?.height,
            what: (o.what ?? []).reduce((bits, one) => bits | MEASURES[one], 0),
            histogram_low: o.histogramLow, bin_log2: o.binLog2,
            mask: i.handle('imageMeasure', 'mask', o.mask), mask_width: o.maskWidth, mask_height: o.maskHeight,
            stats: i.handle('imageMeasure', 'stats', o.stats),
        });
    }

    meterWeights(meter, { width, height, maskWidth, maskHeight }) {
        const i = this[INTERNAL];
        i.check();
        const size = maskWidth * maskHeight, data = i.allocate('meterWeights', size);
        try {
            i.call('meter_weights', {
                meter: choice('meterWeights', 'meter', METERS, meter), width, height,
                mask_width: maskWidth, mask_height: maskHeight, data,
            });
            return i.copyOut(data, 'u8', size);
        } finally {
            i.m._free(data);
        }
    }

    mipLevels(width, height) {
        const i = this[INTERNAL], levels = [];
        i.check();
        do {
            i.call('mip_level', { width, height, level: levels.length });
            levels.push({ width: i.reply('width'), height: i.reply('height'), first: i.reply('first') });
        } while (levels.length < i.reply('count'));
        return levels;
    }

    imageMips(o) {
        const i = this[INTERNAL];
        i.check();
        i.call('image_mips', {
            ...i.imageFields('imageMips', o.in), ...luminanceFields('imageMips', o),
            filter: choice('imageMips', 'filter', MIP_FILTERS, o.filter), levels: o.levels,
            last: choice('imageMips', 'output', MIP_OUTPUTS, o.output), log_luminance: o.logLuminance,
            out: i.handle('imageMips', 'out', o.out),
        });
    }

    imageStats(stats) {
        const i = this[INTERNAL];
        i.check();
        i.call('image_stats', { stats: i.handle('imageStats', 'stats', stats) });
        const histogram = i.copyOut(i.reply('histogram'), 'f64', HISTOGRAM_BINS);
        return {
            pixels: i.reply('pixels'), positive: i.reply('positive'), zero: i.reply('zero'),
            negative: i.reply('negative'), nan: i.reply('nan'), infinite: i.reply('infinite'),
            weight: i.reply('weight'), min: i.reply('min'), max: i.reply('max'), mean: i.reply('mean'),
            deviation: i.reply('deviation'), log2Mean: i.reply('log2_mean'),
            geometricMean: i.reply('geometric_mean'), histogramLow: i.reply('histogram_low'),
            binWidth: i.reply('bin_width'), histogram,
        };
    }

    imagePercentile(percent) {
        const i = this[INTERNAL];
        i.check();
        i.call('image_percentile', { percentile: percent });
        return i.reply('percentile');
    }

    imageExpose(o) {
        const i = this[INTERNAL];
        i.check();
        i.call('image_expose', {
            stats: i.handle('imageExpose', 'stats', o.stats), state: i.handle('imageExpose', 'state', o.state),
            by: choice('imageExpose', 'by', EXPOSE_BY, o.by), clip_low: o.clip?.[0], clip_high: o.clip?.[1],
            percentile: o.percentile, ev100: o.ev100, key: o.key, bias: o.bias, ev_min: o.evMin, ev_max: o.evMax,
            speed_up: o.speedUp, speed_down: o.speedDown, seconds: o.seconds, reset: o.reset,
        });
    }

    imageTonemap(o) {
        const i = this[INTERNAL];
        i.check();
        if (o.out.width !== o.in.width || o.out.height !== o.in.height)
            throw invalid(`imageTonemap: out is ${o.out.width} x ${o.out.height}, needs in's size, ` +
                `${o.in.width} x ${o.in.height}`);
        const out = i.imageFields('imageTonemap', o.out);
        i.call('image_tonemap', {
            ...i.imageFields('imageTonemap', o.in), to: out.in0, to_channels: out.channels, to_srgb: out.srgb,
            state: i.handle('imageTonemap', 'state', o.state), scale: o.scale,
            tone: choice('imageTonemap', 'tone', TONES, o.tone), white: o.white,
        });
    }

    expose(picture, { tone, white, ...o } = {}) {
        const { width, height, data, type = typeOf(data), channels = 3, srgb, values } = picture, made = [];
        const make = options => {
            made.push(this.buffer(options));
            return made.at(-1);
        };
        return this.batch(() => {
            try {
                const sizes = this.imageSizes(), shown = make({ type: 'u8x4', count: width * height });
                const image = { buffer: make({ type, count: width * height * channels, data }), width, height, channels, srgb, values };
                const stats = make({ type: 'u32', count: sizes.stats }), state = make({ type: 'f32', count: sizes.state });
                this.imageMeasure({ image, stats });
                this.imageExpose({ ...o, stats, state, reset: true });
                if (!state.read()[6]) // TML_EXPOSURE_COUNTED
                    console.warn('expose: no pixel is positive, so that none counts, and the exposure is 2^bias; ' +
                        "a picture of logarithms needs values: 'log2', 'ln' or 'log10'");
                this.imageTonemap({ in: image, out: { buffer: shown, width, height, channels: 4, srgb: true }, state, tone, white });
                return new Uint8ClampedArray(shown.read().buffer);
            } finally {
                for (const buffer of made)
                    buffer.destroy();
            }
        });
    }
}, {
    imageMeasure: `image ${IMAGE} region what histogramLow binLog2 mask maskWidth maskHeight stats`,
    imageMips: `in ${IMAGE} filter levels output logLuminance out`,
    imageExpose: 'stats state by clip percentile ev100 key bias evMin evMax speedUp speedDown seconds reset',
    imageTonemap: 'in out state scale tone white',
});
