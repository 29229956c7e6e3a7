"""Pictures: exact averages, exposure and tone curves, mip chains."""
from __future__ import annotations

import ctypes
import warnings
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _abi as c
from ._library import Buffers, InvalidArgument, as_array, context_of, lib, numbers, scalar_type
from .surface import choose

if TYPE_CHECKING:
    from ._types import Array, ArrayLike, Context, DTypeLike

_TONES = {"srgb": c.TML_TONE_SRGB, "reinhard": c.TML_TONE_REINHARD,
          "reinhard-extended": c.TML_TONE_REINHARD_EXTENDED, "hable": c.TML_TONE_HABLE, "aces-fit": c.TML_TONE_ACES_FIT, "aces": c.TML_TONE_ACES_FIT,
          "agx": c.TML_TONE_AGX, "neutral": c.TML_TONE_NEUTRAL}
_LUMINANCES = {"rec709": c.TML_LUMINANCE_REC709, "rec2020": c.TML_LUMINANCE_REC2020,
               "acescg": c.TML_LUMINANCE_ACESCG, "max-rgb": c.TML_LUMINANCE_MAX_RGB,
               "max": c.TML_LUMINANCE_MAX_RGB}
_METERS = {"average": c.TML_METER_AVERAGE, "centre": c.TML_METER_CENTRE, "spot": c.TML_METER_SPOT,
           "matrix": c.TML_METER_MATRIX}
_BY = {"mean": c.TML_EXPOSE_MEAN, "median": c.TML_EXPOSE_MEDIAN, "percentile": c.TML_EXPOSE_PERCENTILE}
_VALUES = {"linear": c.TML_IMAGE_LINEAR, "log2": c.TML_IMAGE_LOG2, "ln": c.TML_IMAGE_LN, "log10": c.TML_IMAGE_LOG10}
_TYPES = (np.uint8, np.uint16, np.float16, np.float32)


def _picture(image, name="image"):
    image = as_array(image, name, None, (2, 3))
    if image.dtype == np.float64:
        image = image.astype(np.float32)
    if image.dtype not in _TYPES or (image.ndim == 3 and not 1 <= image.shape[2] <= 4):
        raise InvalidArgument("INVALID_ARGUMENT", f"{name} is {image.shape} of {image.dtype}, needs height x width "
                              "(x 1 to 4 channels) of uint8, uint16, float16 or float32")
    return image


def _view(image, buffer, srgb, values="linear"):
    srgb = image.dtype.kind == "u" if srgb is None else srgb
    return c.tml_image(buffer=buffer, width=image.shape[1], height=image.shape[0],
                       channels=image.shape[2] if image.ndim == 3 else 1, srgb=srgb and image.dtype.kind == "u" and values == "linear",
                       values=choose(_VALUES, "values", values))


class Measurement:
    """What measure_picture() found: pixels, positive, zero, negative, nan, infinite, min, max, mean, deviation, log2_mean,
    geometric_mean; histogram of log2 luminance, whose bins are bin_width stops wide from histogram_low on."""

    pixels: int
    positive: int
    zero: int
    negative: int
    nan: int
    infinite: int
    min: float
    max: float
    mean: float
    deviation: float
    log2_mean: float
    geometric_mean: float
    histogram: Array
    histogram_low: float
    bin_width: float

    def __init__(self, stats: Any) -> None:
        self._stats = stats
        for name, _ in stats._fields_:
            value = getattr(stats, name)
            setattr(self, name, np.array(value) if isinstance(value, ctypes.Array) else value)

    def __repr__(self) -> str:
        return (f"<trommel.Measurement of {self.pixels} pixels: mean {self.mean:g}, geometric mean "
                f"{self.geometric_mean:g}, {self.min:g} to {self.max:g}>")

    def percentile(self, percent: float) -> float:
        """log2 luminance below which that percentage of the histogram lies."""
        return lib.tml_image_percentile(self._stats, percent)


def _mask(mask, meter, width, height, context):
    """Weights of 0 to 255 to lay over width x height pixels, or None."""
    if mask is not None and meter != "average":
        raise InvalidArgument("INVALID_ARGUMENT", f"mask and meter {meter!r} exclude each other; leave out one")
    if mask is not None:
        mask = np.asarray(mask)
        if mask.dtype.kind not in "biu" or (mask.size and not 0 <= mask.min() <= mask.max() <= 255):
            raise InvalidArgument("INVALID_ARGUMENT", "mask holds what is no weight: needs integers of 0 to 255, or "
                                  "True and False")
        return as_array(mask, "mask", np.uint8, 2)
    if meter == "average":
        return None
    mask = np.empty((min(128, height), min(128, width)), np.uint8)
    context.call_on("meter_weights", choose(_METERS, "meter", meter), width, height, mask.shape[1], mask.shape[0],
                    mask.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8)))
    return mask


def _measure(context, buffers, image, srgb, luminance, meter, stats, region=None, mask=None, floor=0.0,
             values="linear"):
    picture = _view(image, buffers.input(image.reshape(-1)), srgb, values)
    desc = c.tml_image_measure_desc(image=picture, stats=stats)
    desc.luminance.floor = floor
    if isinstance(luminance, str):
        desc.luminance.kind = choose(_LUMINANCES, "luminance", luminance)
    else:
        desc.luminance.kind, desc.luminance.weights = c.TML_LUMINANCE_CUSTOM, numbers(luminance, 3, "luminance")
    width, height = image.shape[1], image.shape[0]
    if region is not None:
        desc.region = tuple(map(int, numbers(region, 4, "region")))
        width, height = desc.region.width or width - desc.region.x, desc.region.height or height - desc.region.y
    mask = _mask(mask, meter, width, height, context)
    if mask is not None:
        desc.mask = buffers.input(mask.reshape(-1))
        desc.mask_width, desc.mask_height = mask.shape[1], mask.shape[0]
    context.call("image_measure", desc)
    return picture


def measure(image: ArrayLike, *, srgb: bool | None = None, luminance: str | Sequence[float] = "rec709",
            meter: str = "average", region: Sequence[int] | None = None, mask: ArrayLike | None = None,
            floor: float = 0.0, values: str = "linear", context: Context | None = None) -> Measurement:
    """Measures a picture of height x width (x channels): every pixel once, whatever the size. In the package it is
    called measure_picture.

    srgb       of integers: coded as sRGB (the default) or linear
    luminance  "rec709", "rec2020", "acescg", "max-rgb" (or "max"), or the weights of red, green and blue
    meter      "average", "centre", "spot", "matrix": patterns of weights
    region     (x, y, width, height): that part alone; a width or height of 0: to the picture's end
    mask       weights of 0 to 255, or True and False, in rows and columns: laid over the region, of which they have
               at most as many
    floor      luminances below count as it in the geometric mean and the histogram; 0: what is not positive has no
               logarithm
    values     "linear"; or "log2", "ln", "log10": the floats are logarithms, as a pass leaves them that meters by these

    >>> import trommel
    >>> facts = trommel.measure_picture([[1.0, 4.0], [0.0, 16.0]])
    >>> facts.mean, facts.geometric_mean, facts.zero
    (5.25, 4.0, 1)
    """
    image, context = _picture(image), context_of(context)
    words, stats = np.zeros(c.TML_IMAGE_STATS_WORDS, np.uint32), c.tml_image_stats()
    with Buffers(context) as buffers:
        buffer = buffers.output(words)
        _measure(context, buffers, image, srgb, luminance, meter, buffer, region, mask, floor, values)
        context.call("image_stats_read", buffer, stats)
    return Measurement(stats)


def tonemap(image: ArrayLike, tone: str = "agx", *, scale: float = 1.0, white: float = 0.0, srgb: bool | None = None,
            values: str = "linear", dtype: DTypeLike = np.uint8, context: Context | None = None) -> Array:
    """The picture times scale through a tone curve: "srgb" (clipped), "reinhard", "reinhard-extended", "hable",
    "aces-fit" (or "aces"), "agx", "neutral". dtype: of the result; integers are coded as sRGB, floats are linear.
    values: what the picture holds, as in measure_picture().

    >>> import trommel
    >>> trommel.tonemap([[0.0, 0.5, 2.0]], "srgb").tolist()
    [[0, 188, 255]]
    """
    image, context = _picture(image), context_of(context)
    with Buffers(context) as buffers:
        return _tonemap(context, buffers, image, _view(image, buffers.input(image.reshape(-1)), srgb, values), None,
                        tone, scale, white, dtype)


def _tonemap(context, buffers, image, picture, state, tone, scale, white, dtype):
    shape = image.shape if image.ndim == 2 or image.shape[2] in (1, 3, 4) else image.shape[:2]
    out = _picture(np.empty(shape, dtype), "dtype's picture")
    desc = c.tml_image_tonemap_desc(tone=choose(_TONES, "tone", tone), scale=scale, white=white, out=_view(
        out, buffers.output(out.reshape(-1)), True))
    setattr(desc, "in", picture)
    if state is not None:
        desc.state = state
    context.call("image_tonemap", desc)
    return out


def expose(image: ArrayLike, tone: str = "agx", *, by: str = "mean", key: float = 0.18, bias: float = 0.0,
           clip: tuple[float, float] | None = None, percentile: float = 50.0, meter: str = "average",
           luminance: str | Sequence[float] = "rec709", region: Sequence[int] | None = None,
           mask: ArrayLike | None = None, floor: float = 0.0, white: float = 0.0, srgb: bool | None = None,
           values: str = "linear", dtype: DTypeLike = np.uint8, context: Context | None = None) -> Array:
    """Measures a picture, exposes it so that its average becomes key, and tone-maps it.

    by     "mean" (geometric), "median", "percentile" (percentile says which)
    bias   stops; brighter is positive
    clip   (low, high): percentages of the histogram that do not count
    The rest as in measure_picture() and tonemap(). Warns where no pixel is positive, so that none counts and the
    exposure is 2**bias.

    >>> import numpy as np, trommel
    >>> trommel.expose(np.full((4, 4, 3), 1000, np.float32), "srgb")[0, 0].tolist()
    [118, 118, 118]
    """
    image, context = _picture(image), context_of(context)
    low, high = clip if clip is not None else (0.0, 0.0)
    with Buffers(context) as buffers:
        stats = buffers.output(np.zeros(c.TML_IMAGE_STATS_WORDS, np.uint32))
        state = buffers.output(np.zeros(c.TML_EXPOSURE_WORDS, np.float32))
        picture = _measure(context, buffers, image, srgb, luminance, meter, stats, region, mask, floor, values)
        context.call("image_expose", c.tml_image_expose_desc(
            stats=stats, by=choose(_BY, "by", by), clip_low=low, clip_high=high, percentile=percentile, key=key,
            bias=bias, reset=True, state=state))
        exposure = np.empty(c.TML_EXPOSURE_WORDS, np.float32)
        context.call("buffer_read", state, exposure.ctypes.data_as(ctypes.c_void_p))
        if exposure[c.TML_EXPOSURE_COUNTED] == 0:
            warnings.warn("no pixel of the picture is positive, so that none counts, and the exposure is 2**bias" + (
                "; if it holds logarithms, say which: values='log2', 'ln' or 'log10'" if values == "linear" else ""),
                RuntimeWarning, stacklevel=2)
        return _tonemap(context, buffers, image, picture, state, tone, 1.0, white, dtype)


def mips(image: ArrayLike, filter: str = "area", *,  # pylint: disable=redefined-builtin
         srgb: bool | None = None, log: bool = False, values: str = "linear",
         context: Context | None = None) -> list[Array]:
    """The mip chain below a picture of any size, down to 1 x 1: a list of pictures of its type. filter: "area"
    (every pixel weighs alike) or "kaiser" (sharper). log: of log2 of Rec. 709 luminance, of 2**-16 at least, in
    float32 of one channel. values: what the picture holds, as in measure_picture(); levels are linear, but with log.

    >>> import trommel
    >>> [level.tolist() for level in trommel.mips([[1.0, 3.0, 5.0, 7.0]])]
    [[[2.0, 6.0]], [[4.0]]]
    """
    image, context = _picture(image), context_of(context)
    height, width = image.shape[:2]
    levels, places = lib.tml_mip_level(width, height, 0, None, None, None), []
    for level in range(1, levels + 1):
        place = ctypes.c_uint32(), ctypes.c_uint32(), ctypes.c_uint64()
        lib.tml_mip_level(width, height, level, *map(ctypes.byref, place))
        places.append(tuple(number.value for number in place))
    shape = image.shape[2:] if not log else ()
    channels = shape[0] if shape else 1
    out = np.empty(places[-1][2] * channels, np.float32 if log else image.dtype)
    if levels > 1:
        with Buffers(context) as buffers:
            desc = c.tml_image_mips_desc(filter=choose({"area": c.TML_MIP_AREA, "kaiser": c.TML_MIP_KAISER},
                                                       "filter", filter), log_luminance=log, out=buffers.output(out))
            setattr(desc, "in", _view(image, buffers.input(image.reshape(-1)), srgb, values))
            context.call("image_mips", desc)
    return [out[first * channels:(first + w * h) * channels].reshape((h, w) + shape)
            for w, h, first in places[:-1]]
