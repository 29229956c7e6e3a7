"""The C library's types and functions. Made by generate.py from its headers."""
from ctypes import *  # noqa: F403

TML_VERSION = 1024
(TML_OK, TML_ERROR_INVALID_ARGUMENT, TML_ERROR_INVALID_HANDLE, TML_ERROR_OUT_OF_MEMORY,
 TML_ERROR_OUT_OF_DEVICE_MEMORY, TML_ERROR_CAPACITY, TML_ERROR_SCRATCH_TOO_SMALL, TML_ERROR_UNSUPPORTED,
 TML_ERROR_CANCELLED, TML_ERROR_NO_DEVICE, TML_ERROR_DEVICE_LOST, TML_ERROR_STALLED, TML_ERROR_FILE_ACCESS,
 TML_ERROR_FILE_FORMAT, TML_ERROR_INTERNAL) = range(0, 15)
(TML_TYPE_NONE, TML_U8, TML_I8, TML_U16, TML_I16, TML_U32, TML_I32, TML_U64, TML_I64, TML_F16, TML_F32, TML_F64,
 TML_SCALAR_END) = range(0, 13)
(TML_ENGINE_AUTO, TML_ENGINE_CPU, TML_ENGINE_VULKAN, TML_ENGINE_GL) = range(0, 4)
(TML_LOG_ERROR, TML_LOG_WARNING, TML_LOG_INFO, TML_LOG_DEBUG) = range(0, 4)
TML_MAX_THREADS = 1024
TML_MAX_READS = 16
TML_MAX_PARAMS = 6
TML_MAX_INPUTS = 4
TML_MAX_OUTS = 4
(TML_PARAM_INDEX, TML_PARAM_RANK, TML_PARAM_PARAMS, TML_PARAM_WORDS) = range(1048576, 1048580)
TML_MAX_FOLDS = 8
TML_MAX_PAYLOADS = 8
(TML_METHOD_AUTO, TML_METHOD_LOOK_BACK, TML_METHOD_REDUCE_THEN_SCAN, TML_METHOD_HISTOPYRAMID) = range(0, 4)
(TML_FOLD_SUM, TML_FOLD_MIN, TML_FOLD_MAX, TML_FOLD_ARGMIN, TML_FOLD_ARGMAX, TML_FOLD_MEAN) = range(0, 6)
(TML_TREE_REFIT, TML_TREE_REBUILD) = range(0, 2)
(TML_TREE_CAST_NEAREST, TML_TREE_CAST_ANY, TML_TREE_CAST_COUNT, TML_TREE_CAST_ALL) = range(0, 4)
(TML_TREE_OUTSIDE, TML_TREE_INSIDE, TML_TREE_ON) = range(0, 3)
(TML_TREE_RULE_EVEN_ODD, TML_TREE_RULE_WINDING, TML_TREE_RULE_SOLID_ANGLE) = range(0, 3)
(TML_TREE_FACE, TML_TREE_EDGE_0, TML_TREE_EDGE_1, TML_TREE_EDGE_2, TML_TREE_CORNER_0, TML_TREE_CORNER_1,
 TML_TREE_CORNER_2) = range(0, 7)
TML_TREE_NEAREST_MAX = 256
(TML_COLLIDE_CLASS_NONE, TML_COLLIDE_CLASS_CROSSING, TML_COLLIDE_CLASS_TOUCHING, TML_COLLIDE_CLASS_COPLANAR,
 TML_COLLIDE_CLASS_DEGENERATE, TML_COLLIDE_CLASS_COUNT) = range(0, 6)
(TML_COLLIDE_WANT_ALL, TML_COLLIDE_WANT_COUNT, TML_COLLIDE_WANT_FIRST) = range(0, 3)
(TML_COLLIDE_METHOD_AUTO, TML_COLLIDE_METHOD_DEPTH_FIRST, TML_COLLIDE_METHOD_BREADTH_FIRST) = range(0, 3)
TML_COLLIDE_MAX_STEPS = 24
(TML_FIELD_KERNEL_SUM, TML_FIELD_DISTANCE) = range(0, 2)
(TML_FIELD_WENDLAND_C2, TML_FIELD_POLY6, TML_FIELD_METABALL, TML_FIELD_CUBIC_SPLINE) = range(0, 4)
TML_FIELD_MAX_ATTRIBUTES = 8
(TML_IMAGE_LINEAR, TML_IMAGE_LOG2, TML_IMAGE_LN, TML_IMAGE_LOG10) = range(0, 4)
(TML_LUMINANCE_REC709, TML_LUMINANCE_REC2020, TML_LUMINANCE_ACESCG, TML_LUMINANCE_MAX_RGB,
 TML_LUMINANCE_CUSTOM) = range(0, 5)
(TML_METER_AVERAGE, TML_METER_CENTRE, TML_METER_SPOT, TML_METER_MATRIX) = range(0, 4)
TML_HISTOGRAM_BINS = 256
(TML_MEASURE_LOG, TML_MEASURE_MEAN) = range(1, 3)
TML_MEASURE_HISTOGRAM = 4
TML_STATS_PIXELS = 0
TML_STATS_POSITIVE = 2
TML_STATS_ZERO = 4
TML_STATS_NEGATIVE = 6
TML_STATS_NAN = 8
TML_STATS_INFINITE = 10
TML_STATS_WEIGHT = 12
TML_STATS_LOG_WEIGHT = 14
TML_STATS_LOG_WHOLE = 16
TML_STATS_LOG_FRACTION = 18
(TML_STATS_MIN, TML_STATS_MAX, TML_STATS_MEAN) = range(20, 23)
TML_STATS_DEVIATION = 24
(TML_STATS_HISTOGRAM_LOW, TML_STATS_BIN_LOG2, TML_STATS_FLOOR, TML_STATS_WHAT, TML_STATS_HISTOGRAM) = range(26, 31)
TML_IMAGE_STATS_WORDS = 542
(TML_EXPOSE_MEAN, TML_EXPOSE_MEDIAN, TML_EXPOSE_PERCENTILE, TML_EXPOSE_MANUAL) = range(0, 4)
(TML_EXPOSURE_SCALE, TML_EXPOSURE_AVERAGE, TML_EXPOSURE_TARGET, TML_EXPOSURE_EV100, TML_EXPOSURE_LOW,
 TML_EXPOSURE_HIGH, TML_EXPOSURE_COUNTED) = range(0, 7)
TML_EXPOSURE_WORDS = 8
(TML_TONE_SRGB, TML_TONE_REINHARD, TML_TONE_REINHARD_EXTENDED, TML_TONE_HABLE, TML_TONE_ACES_FIT, TML_TONE_AGX,
 TML_TONE_NEUTRAL) = range(0, 7)
(TML_MIP_AREA, TML_MIP_KAISER) = range(0, 2)
(TML_MIP_CHAIN, TML_MIP_LAST) = range(0, 2)
(TML_UP_NONE, TML_UP_Z, TML_UP_Y, TML_UP_X, TML_UP_MINUS_Z, TML_UP_MINUS_Y, TML_UP_MINUS_X) = range(0, 7)
TML_MESH_MAX_ATTRIBUTES = 8
(TML_SMOOTH_TAUBIN, TML_SMOOTH_LAPLACIAN) = range(0, 2)
(TML_NORMALS_NONE, TML_NORMALS_FORWARD, TML_NORMALS_CENTRAL, TML_NORMALS_SOBEL) = range(0, 4)
(TML_TOPOLOGY_SEPARATED, TML_TOPOLOGY_TRILINEAR) = range(0, 2)
(TML_SURFACE_VOLUME, TML_SURFACE_MASK, TML_SURFACE_ATTRIBUTE) = range(0, 3)
(TML_LABELS_SHARED, TML_LABELS_SEPARATE, TML_LABELS_MANIFOLD) = range(0, 3)
(TML_OPERATION_MAP, TML_OPERATION_REDUCE, TML_OPERATION_HISTOGRAM, TML_OPERATION_SCAN, TML_OPERATION_COMPACT,
 TML_OPERATION_SORT, TML_OPERATION_TOP_K, TML_OPERATION_GATHER, TML_OPERATION_SCATTER, TML_OPERATION_SEARCH,
 TML_OPERATION_EXPAND, TML_OPERATION_UNIQUE) = range(0, 12)
TML_SUBDIVIDE_MAX_ATTRIBUTES = 8
TML_SUBDIVIDE_MAX_CHANNELS = 4
TML_SUBDIVIDE_MAX_LEVELS = 12
(TML_WEIGHTS_LOOP, TML_WEIGHTS_WARREN) = range(0, 2)
(TML_BOUNDARY_EDGE_ONLY, TML_BOUNDARY_EDGE_AND_CORNER, TML_BOUNDARY_PINNED) = range(0, 3)
(TML_SEAMS_CORNERS, TML_SEAMS_SMOOTH, TML_SEAMS_PINNED, TML_SEAMS_LINEAR) = range(0, 4)
(TML_SPLIT_LENGTH, TML_SPLIT_PIXELS, TML_SPLIT_ANGLE, TML_SPLIT_DISTANCE, TML_SPLIT_KERNEL) = range(0, 5)
TML_SUBDIVIDE_CAMERA_FLOATS = 20
(TML_SUBDIVIDE_SHORT_VERTICES, TML_SUBDIVIDE_SHORT_TRIANGLES) = range(1, 3)
TML_SUBDIVIDE_SHORT_LEVELS = 4
(TML_FILE_NONE, TML_FILE_VOLUME, TML_FILE_POINTS, TML_FILE_MESH, TML_FILE_PICTURE, TML_FILE_INDEX) = range(0, 6)
(TML_WELD_AUTO, TML_WELD_NEVER, TML_WELD_ALWAYS) = range(0, 3)
(TML_SIDE_NONE, TML_SIDE_SOURCE, TML_SIDE_INDEX, TML_SIDE_SURFACE, TML_SIDE_MESH) = range(0, 5)
(TML_MAKE_AUTO, TML_MAKE_SLABS, TML_MAKE_WHOLE) = range(0, 3)
(TML_VALUES_PHYSICAL, TML_VALUES_LABELS) = range(0, 2)
TML_LABELS_LISTED = 6
TML_LABELS_COUNTED = 65536
TML_BRICK_X = 64
TML_BRICK_Y = 4
TML_BRICK_Z = 4
(TML_POINTS_LOOK_PARTICLES, TML_POINTS_LOOK_ORIENTED, TML_POINTS_LOOK_FLAT) = range(0, 3)
(TML_POINTS_KERNEL_SUM, TML_POINTS_DISTANCE, TML_POINTS_DENSITY, TML_POINTS_ANISOTROPIC) = range(0, 4)
TML_FIELD_SHAPES_REACH = 1.5
TML_POINTS_RESOLUTION = 128


class tml_allocator(Structure):
    _fields_ = [('alloc', CFUNCTYPE(c_void_p, c_void_p, c_size_t, c_size_t)),
                ('free', CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)), ('user', c_void_p)]


class tml_parallel(Structure):
    _fields_ = [('run', CFUNCTYPE(None, c_void_p, c_uint32, CFUNCTYPE(None, c_void_p, c_uint32), c_void_p)),
                ('concurrency', c_uint32), ('user', c_void_p)]


class tml_open_desc(Structure):
    _fields_ = [('engine', c_int), ('device', c_char_p), ('threads', c_uint32), ('scratch_size', c_size_t),
                ('allocator', tml_allocator), ('parallel', tml_parallel),
                ('log', CFUNCTYPE(None, c_void_p, c_int, c_char_p)), ('log_user', c_void_p),
                ('progress', CFUNCTYPE(c_bool, c_void_p, c_char_p, c_double)), ('progress_user', c_void_p),
                ('vulkan', c_void_p), ('gl', c_void_p)]


class tml_device_info(Structure):
    _fields_ = [('engine', c_int), ('name', c_char * 128), ('features', c_char * 128), ('memory', c_uint64),
                ('threads', c_uint32), ('is_software', c_bool), ('concurrency', c_uint32), ('scratch_size', c_size_t)]


class tml_buffer(Structure):
    _fields_ = [('slot', c_uint32), ('generation', c_uint32)]


class tml_buffer_desc(Structure):
    _fields_ = [('type', c_uint32), ('count', c_uint64), ('data', c_void_p), ('host', c_void_p), ('vulkan', c_void_p),
                ('gl', c_void_p), ('label', c_char_p)]


class tml_grid(Structure):
    _fields_ = [('dims', c_uint64 * 3), ('spacing', c_double * 3), ('origin', c_double * 3),
                ('direction', c_double * 9)]


class tml_params(Structure):
    _fields_ = [('f', c_float * 4), ('u', c_uint32 * 4), ('m', c_float * 16)]


class tml_kernel_block(Structure):
    _fields_ = [('in', c_void_p * 6), ('index', POINTER(c_uint64)), ('rank', POINTER(c_uint32)),
                ('params', POINTER(tml_params)), ('out', c_void_p), ('first', c_uint64), ('count', c_size_t),
                ('simd', c_uint32), ('outs', c_void_p * 4)]


class tml_kernel(Structure):
    _fields_ = [('name', c_char_p), ('glsl', c_char_p), ('result', c_uint32), ('param_count', c_uint32),
                ('params', c_uint32 * 6), ('run', CFUNCTYPE(None, POINTER(tml_kernel_block))), ('library', c_char_p),
                ('out_count', c_uint32), ('outs', c_uint32 * 4)]


class tml_length(Structure):
    _fields_ = [('count', c_uint64), ('device', tml_buffer), ('device_index', c_uint64), ('exact', c_bool)]


class tml_segments(Structure):
    _fields_ = [('offsets', tml_buffer), ('starts', tml_buffer), ('count', tml_length)]


class tml_map_desc(Structure):
    _fields_ = [('kernel', POINTER(tml_kernel)), ('params', tml_params), ('in', tml_buffer * 4),
                ('out', tml_buffer * 4), ('length', tml_length)]


class tml_reduce_result(Structure):
    _fields_ = [('fold', c_int), ('out', tml_buffer)]


class tml_reduce_desc(Structure):
    _fields_ = [('in', tml_buffer), ('folds', tml_reduce_result * 8), ('length', tml_length),
                ('segments', tml_segments), ('scratch', tml_buffer)]


class tml_histogram_desc(Structure):
    _fields_ = [('in', tml_buffer * 4), ('kernel', POINTER(tml_kernel)), ('params', tml_params),
                ('edges', tml_buffer), ('lower', c_float), ('upper', c_float), ('weights', tml_buffer),
                ('out', tml_buffer), ('bins', c_uint32), ('length', tml_length), ('scratch', tml_buffer)]


class tml_scan_desc(Structure):
    _fields_ = [('in', tml_buffer), ('out', tml_buffer), ('inclusive', c_bool), ('fold', c_int),
                ('start', tml_buffer), ('total', tml_buffer), ('length', tml_length), ('segments', tml_segments),
                ('method', c_int), ('scratch', tml_buffer)]


class tml_keep(Structure):
    _fields_ = [('kernel', POINTER(tml_kernel)), ('params', tml_params), ('in', tml_buffer * 4),
                ('flags', tml_buffer), ('mask', tml_buffer)]


class tml_payload(Structure):
    _fields_ = [('in', tml_buffer), ('out', tml_buffer)]


class tml_compact_desc(Structure):
    _fields_ = [('keep', tml_keep), ('payloads', tml_payload * 8), ('partition', c_bool), ('indices', tml_buffer),
                ('count', tml_buffer), ('out_first', tml_buffer), ('length', tml_length), ('method', c_int),
                ('scratch', tml_buffer)]


class tml_sort_desc(Structure):
    _fields_ = [('keys', tml_buffer), ('descending', c_bool), ('first_bit', c_uint32), ('bit_count', c_uint32),
                ('sorted', tml_buffer), ('payloads', tml_payload * 8), ('indices', tml_buffer),
                ('length', tml_length), ('segments', tml_segments), ('method', c_int), ('scratch', tml_buffer)]


class tml_top_k_desc(Structure):
    _fields_ = [('keys', tml_buffer), ('k', tml_length), ('smallest', c_bool), ('in_source_order', c_bool),
                ('values', tml_buffer), ('indices', tml_buffer), ('payloads', tml_payload * 8), ('count', tml_buffer),
                ('length', tml_length), ('scratch', tml_buffer)]


class tml_search_desc(Structure):
    _fields_ = [('sorted', tml_buffer), ('queries', tml_buffer), ('descending', c_bool), ('upper', c_bool),
                ('out', tml_buffer), ('length', tml_length), ('sorted_length', tml_length), ('scratch', tml_buffer)]


class tml_unique_desc(Structure):
    _fields_ = [('in', tml_buffer), ('values', tml_buffer), ('starts', tml_buffer), ('lengths', tml_buffer),
                ('count', tml_buffer), ('length', tml_length), ('scratch', tml_buffer)]


class tml_tree_desc(Structure):
    _fields_ = [('vertices', tml_buffer), ('indices', tml_buffer), ('skip_broken', c_bool), ('on_device', c_bool)]


class tml_tree_info(Structure):
    _fields_ = [('vertex_count', c_uint64), ('triangle_count', c_uint64), ('broken_count', c_uint64),
                ('lower', c_float * 3), ('upper', c_float * 3), ('depth', c_uint32), ('memory', c_size_t)]


class tml_tree_cast_desc(Structure):
    _fields_ = [('tree', c_void_p), ('origins', tml_buffer), ('directions', tml_buffer), ('length', tml_length),
                ('want', c_int), ('t_max', c_float), ('limits', tml_buffer), ('poses', tml_buffer),
                ('pose_of', tml_buffer), ('t', tml_buffer), ('triangles', tml_buffer), ('barycentrics', tml_buffer),
                ('hits', tml_buffer), ('counts', tml_buffer), ('rays', tml_buffer), ('total', tml_buffer),
                ('unsure', tml_buffer), ('unsure_count', tml_buffer)]


class tml_tree_nearest_desc(Structure):
    _fields_ = [('tree', c_void_p), ('points', tml_buffer), ('length', tml_length), ('k', c_uint32), ('rule', c_int),
                ('is_signed', c_bool), ('distances', tml_buffer), ('positions', tml_buffer),
                ('triangles', tml_buffer), ('features', tml_buffer), ('sides', tml_buffer)]


class tml_collide_pair(Structure):
    _fields_ = [('a', c_uint32), ('b', c_uint32), ('pose', c_uint32), ('kind', c_uint32)]


class tml_collide_desc(Structure):
    _fields_ = [('a', c_void_p), ('b', c_void_p), ('poses', POINTER(c_float)), ('pose_count', c_uint32),
                ('want', c_int), ('classes', c_uint32), ('segments', c_bool), ('pairs', POINTER(tml_collide_pair)),
                ('segments_out', POINTER(c_float)), ('capacity', c_uint64), ('method', c_int),
                ('memory_limit', c_size_t)]


class tml_collide_result(Structure):
    _fields_ = [('pairs', POINTER(tml_collide_pair)), ('first', POINTER(c_uint64)), ('segments', POINTER(c_float)),
                ('count', c_uint64), ('class_counts', c_uint64 * 5), ('pose_count', c_uint32),
                ('node_pairs', c_uint64), ('step_pairs', c_uint64 * 24), ('step_count', c_uint32),
                ('tested', c_uint64), ('unsure', c_uint64), ('parts', c_uint32), ('owned', c_uint32)]


class tml_collide_distance_result(Structure):
    _fields_ = [('distance', c_double), ('point_a', c_float * 3), ('point_b', c_float * 3), ('a', c_uint32),
                ('b', c_uint32)]


class tml_collide_distance_desc(Structure):
    _fields_ = [('a', c_void_p), ('b', c_void_p), ('limit', c_double), ('tolerance', c_double),
                ('poses', POINTER(c_float)), ('pose_count', c_uint32), ('method', c_int), ('memory_limit', c_size_t),
                ('pose_buffer', tml_buffer), ('length', tml_length), ('distances', tml_buffer),
                ('points_a', tml_buffer), ('points_b', tml_buffer), ('triangles', tml_buffer), ('needed', tml_buffer),
                ('capacity', c_uint64)]


class tml_field_desc(Structure):
    _fields_ = [('points', tml_buffer), ('length', tml_length), ('radius', c_double), ('radii', tml_buffer),
                ('kind', c_int), ('kernel', c_int), ('margin', c_double), ('grid', tml_grid), ('lower', c_double * 3),
                ('upper', c_double * 3), ('resolution', c_uint32), ('densities', tml_buffer),
                ('shapes', tml_buffer * 2)]


class tml_field_prepare_desc(Structure):
    _fields_ = [('field', tml_field_desc), ('cell', c_double), ('densities', c_bool), ('shapes', c_bool),
                ('smoothing', c_double), ('ratio', c_double), ('lone', c_double), ('fewest', c_uint32)]


class tml_field_prepared(Structure):
    _fields_ = [('field', tml_field_desc), ('balls', tml_field_desc), ('iso', c_double), ('owned', tml_buffer * 5)]


class tml_field_mean_desc(Structure):
    _fields_ = [('field', POINTER(tml_field_desc)), ('positions', tml_buffer), ('position_origin', c_double * 3),
                ('length', tml_length), ('values', tml_buffer * 8), ('means', tml_buffer * 8),
                ('weights', tml_buffer), ('exact_reach', c_bool)]


class tml_image(Structure):
    _fields_ = [('buffer', tml_buffer), ('width', c_uint32), ('height', c_uint32), ('channels', c_uint32),
                ('srgb', c_bool), ('values', c_int), ('first', c_uint64), ('row_stride', c_uint64),
                ('vulkan', c_void_p), ('gl', c_void_p)]


class tml_image_luminance(Structure):
    _fields_ = [('kind', c_int), ('weights', c_float * 3), ('floor', c_float)]


class _tml_image_measure_desc_region(Structure):
    _fields_ = [('x', c_uint32), ('y', c_uint32), ('width', c_uint32), ('height', c_uint32)]


class tml_image_measure_desc(Structure):
    _fields_ = [('image', tml_image), ('stats', tml_buffer), ('what', c_int), ('luminance', tml_image_luminance),
                ('region', _tml_image_measure_desc_region), ('mask', tml_buffer), ('mask_width', c_uint32),
                ('mask_height', c_uint32), ('histogram_low', c_int32), ('bin_log2', c_uint32),
                ('scratch', tml_buffer)]


class tml_image_stats(Structure):
    _fields_ = [('pixels', c_uint64), ('positive', c_uint64), ('zero', c_uint64), ('negative', c_uint64),
                ('nan', c_uint64), ('infinite', c_uint64), ('weight', c_uint64), ('log_weight', c_uint64),
                ('min', c_double), ('max', c_double), ('mean', c_double), ('deviation', c_double),
                ('log2_mean', c_double), ('geometric_mean', c_double), ('histogram_low', c_double),
                ('bin_width', c_double), ('histogram', c_uint64 * 256)]


class tml_image_expose_desc(Structure):
    _fields_ = [('stats', tml_buffer), ('state', tml_buffer), ('by', c_int), ('clip_low', c_float),
                ('clip_high', c_float), ('percentile', c_float), ('ev100', c_float), ('key', c_float),
                ('bias', c_float), ('ev_min', c_float), ('ev_max', c_float), ('speed_up', c_float),
                ('speed_down', c_float), ('seconds', c_float), ('reset', c_bool)]


class tml_image_tonemap_desc(Structure):
    _fields_ = [('in', tml_image), ('out', tml_image), ('state', tml_buffer), ('scale', c_float), ('tone', c_int),
                ('white', c_float)]


class tml_image_mips_desc(Structure):
    _fields_ = [('in', tml_image), ('out', tml_buffer), ('output', c_int), ('levels', c_uint32), ('filter', c_int),
                ('log_luminance', c_bool), ('luminance', tml_image_luminance), ('scratch', tml_buffer)]


class tml_mesh_attribute(Structure):
    _fields_ = [('name', c_char_p), ('components', c_uint32), ('data', POINTER(c_float))]


class tml_mesh_part(Structure):
    _fields_ = [('value', c_double), ('vertex_first', c_uint64), ('vertex_count', c_uint64),
                ('triangle_first', c_uint64), ('triangle_count', c_uint64), ('label', c_uint64)]


class tml_mesh(Structure):
    _fields_ = [('positions', POINTER(c_float)), ('normals', POINTER(c_float)), ('values', POINTER(c_float)),
                ('indices', c_void_p), ('vertex_count', c_uint64), ('triangle_count', c_uint64),
                ('indices64', c_bool), ('quads', c_bool), ('attributes', POINTER(tml_mesh_attribute)),
                ('attribute_count', c_uint32), ('uvs', POINTER(c_float)), ('uv_indices', POINTER(c_uint32)),
                ('uv_count', c_uint64), ('face_labels', c_void_p), ('face_label_type', c_uint32),
                ('parts', POINTER(tml_mesh_part)), ('part_count', c_uint32), ('origin', c_double * 3),
                ('value_name', c_char_p), ('comment', c_char_p), ('up', c_int),
                ('release_pages', CFUNCTYPE(None, c_void_p)), ('user', c_void_p)]


class tml_mesh_buffers(Structure):
    _fields_ = [('positions', tml_buffer), ('normals', tml_buffer), ('values', tml_buffer), ('indices', tml_buffer)]


class tml_mesh_stats(Structure):
    _fields_ = [('components', c_uint64), ('boundary_edges', c_uint64), ('nonmanifold_edges', c_uint64),
                ('misoriented_edges', c_uint64), ('degenerate_triangles', c_uint64), ('euler', c_int64),
                ('area', c_double), ('volume', c_double), ('lower', c_double * 3), ('upper', c_double * 3)]


class tml_mesh_smooth_desc(Structure):
    _fields_ = [('mesh', tml_mesh_buffers), ('iterations', c_uint32), ('method', c_int), ('lambda', c_double),
                ('mu', c_double), ('weights', tml_buffer), ('free_boundary', c_bool), ('out', tml_buffer),
                ('normals', tml_buffer)]


class tml_region(Structure):
    _fields_ = [('first', c_uint64 * 3), ('count', c_uint64 * 3)]


class tml_vertex_layout(Structure):
    _fields_ = [('stride', c_uint32), ('position_offset', c_uint32), ('normal_offset', c_uint32),
                ('value_offset', c_uint32), ('octahedral_normals', c_bool), ('indices16', c_bool)]


class tml_surface_desc(Structure):
    _fields_ = [('volume', tml_buffer), ('grid', tml_grid), ('field', POINTER(tml_field_desc)),
                ('region', tml_region), ('mask', tml_buffer), ('attribute', tml_buffer), ('index', tml_buffer),
                ('iso', c_double), ('iso_buffer', tml_buffer), ('iso_index', c_uint64),
                ('isovalues', POINTER(c_double)), ('isovalue_count', c_uint32), ('labels', POINTER(c_uint64)),
                ('label_count', c_uint32), ('all_labels', c_bool), ('topology', c_int), ('normals', c_int),
                ('soup', c_bool), ('caps', c_bool), ('flip', c_bool), ('indices64', c_bool),
                ('layout', tml_vertex_layout), ('cells', c_bool), ('position_origin', c_double * 3),
                ('drop_degenerate', c_bool), ('largest_component', c_bool), ('collapse', c_double),
                ('mesh', tml_mesh_buffers), ('triangle_cells', tml_buffer), ('counts', tml_buffer),
                ('draw', tml_buffer)]


class tml_surface_stage(Structure):
    _fields_ = [('name', c_char_p), ('seconds', c_double)]


class tml_surface_seam(Structure):
    _fields_ = [('sets', POINTER(c_uint64)), ('below_count', c_uint64), ('above_count', c_uint64)]


class tml_surface_result(Structure):
    _fields_ = [('mesh', tml_mesh_buffers), ('triangle_cells', tml_buffer), ('face_labels', tml_buffer),
                ('owned', c_uint32), ('vertex_count', c_uint64), ('triangle_count', c_uint64),
                ('parts', POINTER(tml_mesh_part)), ('part_count', c_uint32), ('active_cells', c_uint64),
                ('components', c_uint64), ('seams', POINTER(tml_surface_seam)), ('scratch_size', c_size_t),
                ('stages', tml_surface_stage * 8), ('stage_count', c_uint32)]


class tml_surface_piece(Structure):
    _fields_ = [('index', c_uint32), ('part', tml_mesh_part), ('layer_first', c_uint64), ('layer_count', c_uint64),
                ('mesh', tml_mesh)]


class tml_surface_slabs_desc(Structure):
    _fields_ = [('surface', POINTER(tml_surface_desc)), ('boundaries', c_void_p), ('type', c_uint32),
                ('has_mask', c_bool), ('attribute_type', c_uint32), ('field_values', tml_buffer * 8),
                ('read', CFUNCTYPE(c_int, c_void_p, c_int, c_uint64, c_uint64, c_void_p)),
                ('map', CFUNCTYPE(c_int, c_void_p, c_int, c_uint64, c_uint64, POINTER(c_void_p))),
                ('write', CFUNCTYPE(c_int, c_void_p, POINTER(tml_surface_piece))), ('user', c_void_p),
                ('memory', c_uint64), ('slab_layers', c_uint64), ('layer_first', c_uint64), ('layer_count', c_uint64),
                ('before', POINTER(tml_mesh_part)), ('components', c_bool)]


class tml_surface_labels_desc(Structure):
    _fields_ = [('volume', tml_buffer), ('grid', tml_grid), ('region', tml_region), ('background', c_uint64),
                ('labels', POINTER(c_uint64)), ('label_count', c_uint64), ('between', POINTER(c_uint64)),
                ('inner_only', c_bool), ('caps', c_bool), ('sharing', c_int), ('smooth', c_uint32),
                ('relaxation', c_double), ('bound', c_double), ('quads', c_bool), ('indices64', c_bool),
                ('position_origin', c_double * 3), ('mesh', tml_mesh_buffers), ('face_labels', tml_buffer)]


class tml_subdivide_channel(Structure):
    _fields_ = [('values', tml_buffer), ('indices', tml_buffer), ('seams', c_int)]


class tml_subdivider_desc(Structure):
    _fields_ = [('mesh', tml_mesh_buffers), ('attributes', tml_buffer * 8), ('channels', tml_subdivide_channel * 4),
                ('crease_edges', tml_buffer), ('crease_sharpness', tml_buffer), ('corners', tml_buffer),
                ('corner_sharpness', tml_buffer), ('boundary', c_int), ('weights', c_int), ('fix', c_bool)]


class tml_subdivide_buffers(Structure):
    _fields_ = [('mesh', tml_mesh_buffers), ('attributes', tml_buffer * 8), ('channel_values', tml_buffer * 4),
                ('channel_indices', tml_buffer * 4), ('origins', tml_buffer)]


class tml_subdivide_result(Structure):
    _fields_ = [('buffers', tml_subdivide_buffers), ('vertex_count', c_uint64), ('triangle_count', c_uint64),
                ('channel_counts', c_uint64 * 4), ('depth', c_uint32), ('is_within_budget', c_bool),
                ('is_within_depth', c_bool), ('error', c_double), ('owned', c_uint32)]


class tml_subdivide_uniform_desc(Structure):
    _fields_ = [('levels', c_uint32), ('limit', c_bool), ('normals', c_bool), ('buffers', tml_subdivide_buffers)]


class tml_subdivide_camera(Structure):
    _fields_ = [('matrix', c_float * 16), ('width', c_uint32), ('height', c_uint32), ('nearest', c_float),
                ('measure_outside', c_bool)]


class tml_subdivide_adaptive_desc(Structure):
    _fields_ = [('criterion', c_int), ('threshold', c_float), ('kernel', POINTER(tml_kernel)), ('params', tml_params),
                ('camera', tml_subdivide_camera), ('camera_buffer', tml_buffer), ('max_depth', c_uint32),
                ('budget', c_uint64), ('slivers', c_bool), ('normals', c_bool), ('origins', c_bool),
                ('buffers', tml_subdivide_buffers), ('counts', tml_buffer), ('draw', tml_buffer),
                ('level_triangles', c_uint64)]


class tml_load_desc(Structure):
    _fields_ = [('memory_limit', c_uint64), ('strict', c_bool), ('frame', c_uint32), ('spacing', c_double * 3),
                ('dims', c_uint64 * 3), ('type', c_uint32), ('big_endian', c_bool), ('skip', c_uint64),
                ('names', POINTER(c_char_p)), ('name_count', c_uint32), ('weld', c_int),
                ('origin', POINTER(c_double)), ('recenter', c_bool)]


class tml_team(Structure):
    _fields_ = [('rank', c_uint32), ('count', c_uint32),
                ('scan', CFUNCTYPE(c_int, c_void_p, c_void_p, c_uint64, POINTER(c_uint64), POINTER(c_uint64), POINTER(c_uint64))),
                ('gather', CFUNCTYPE(c_int, c_void_p, c_void_p, c_uint64, POINTER(c_uint64), POINTER(c_uint64))),
                ('shift', CFUNCTYPE(c_int, c_void_p, c_void_p, c_bool, c_void_p, c_uint64, c_void_p, c_uint64)),
                ('collect', CFUNCTYPE(c_int, c_void_p, c_void_p, c_uint32, c_void_p, c_uint64)),
                ('open', CFUNCTYPE(c_int, c_void_p, c_void_p, c_char_p)),
                ('write', CFUNCTYPE(c_int, c_void_p, c_void_p, c_uint64, c_void_p, c_uint64)),
                ('close', CFUNCTYPE(c_int, c_void_p, c_void_p)), ('user', c_void_p)]


class tml_mesh_file(Structure):
    _fields_ = [('mesh', tml_mesh), ('faces', POINTER(c_uint32)), ('face_count', c_uint64),
                ('polygon_count', c_uint64), ('concave_count', c_uint64), ('crossed_count', c_uint64),
                ('welded_count', c_uint64), ('skipped_count', c_uint64), ('crease_vertices', POINTER(c_uint32)),
                ('crease_sharpness', POINTER(c_float)), ('corner_vertices', POINTER(c_uint32)),
                ('corner_sharpness', POINTER(c_float)), ('crease_count', c_uint64), ('corner_count', c_uint64),
                ('format', c_char * 16), ('value_name', c_char * 32), ('comment', c_char * 128)]


class tml_mesh_stream_desc(Structure):
    _fields_ = [('mesh', tml_mesh), ('soup', c_bool), ('edit', CFUNCTYPE(c_int, c_void_p, POINTER(tml_mesh))),
                ('user', c_void_p), ('team', POINTER(tml_team))]


class tml_surface_save_desc(Structure):
    _fields_ = [('slabs', tml_surface_slabs_desc), ('file', tml_mesh_stream_desc), ('making', c_int),
                ('values', c_void_p), ('keep_empty', c_bool), ('volume', c_void_p), ('mask', c_void_p),
                ('attribute', c_void_p), ('index', c_void_p), ('copy_samples', c_bool), ('count_first', c_bool),
                ('smooth', c_uint32), ('field', POINTER(tml_field_desc))]


class tml_surface_saved(Structure):
    _fields_ = [('surface', tml_surface_result), ('field_values', tml_buffer * 8), ('isovalue', c_double),
                ('is_empty', c_bool), ('is_mapped', c_bool), ('failed', c_int), ('seconds', c_double),
                ('stages', tml_surface_stage * 6), ('stage_count', c_uint32)]


class tml_volume(Structure):
    _fields_ = [('data', c_void_p), ('size', c_size_t), ('type', c_uint32), ('grid', tml_grid), ('slope', c_double),
                ('intercept', c_double), ('unit', c_char * 16), ('compressed', c_bool), ('frame_count', c_uint64),
                ('format', c_char * 16), ('space', c_char * 32), ('comment', c_char * 96)]


class tml_value_histogram(Structure):
    _fields_ = [('lower', c_double), ('upper', c_double), ('mean', c_double), ('first', c_double), ('step', c_double),
                ('bin_count', c_uint32), ('bins', POINTER(c_uint64)), ('nans', c_uint64), ('infinities', c_uint64),
                ('otsu', c_double)]


class tml_points(Structure):
    _fields_ = [('positions', POINTER(c_float)), ('radii', POINTER(c_float)), ('values', POINTER(c_float)),
                ('count', c_uint64), ('origin', c_double * 3), ('format', c_char * 16), ('value_name', c_char * 32),
                ('dropped', c_uint64), ('attributes', POINTER(tml_mesh_attribute)), ('attribute_count', c_uint32)]


class tml_picture(Structure):
    _fields_ = [('data', c_void_p), ('size', c_size_t), ('type', c_uint32), ('width', c_uint32), ('height', c_uint32),
                ('channels', c_uint32), ('srgb', c_bool), ('x', c_int32), ('y', c_int32), ('full_width', c_uint32),
                ('full_height', c_uint32), ('format', c_char * 16), ('comment', c_char * 96)]


# Name: result and arguments.
FUNCTIONS = {
    'tml_box_position_origin': (None, [c_double * 3, c_double * 3, c_double * 3]),
    'tml_buffer_create': (c_int, [c_void_p, POINTER(tml_buffer_desc), POINTER(tml_buffer)]),
    'tml_buffer_describe': (c_bool, [c_void_p, tml_buffer, POINTER(c_uint32), POINTER(c_uint64)]),
    'tml_buffer_destroy': (None, [c_void_p, tml_buffer]),
    'tml_buffer_map': (c_int, [c_void_p, tml_buffer, POINTER(c_void_p)]),
    'tml_buffer_read': (c_int, [c_void_p, tml_buffer, c_void_p]),
    'tml_buffer_unmap': (None, [c_void_p, tml_buffer]),
    'tml_cache': (c_int, [c_void_p, c_void_p, POINTER(c_size_t)]),
    'tml_cancel': (None, [c_void_p]),
    'tml_cancel_clear': (None, [c_void_p]),
    'tml_close': (None, [c_void_p]),
    'tml_collide': (c_int, [c_void_p, POINTER(tml_collide_desc), POINTER(tml_collide_result)]),
    'tml_collide_distance': (c_int, [c_void_p, POINTER(tml_collide_distance_desc), POINTER(tml_collide_distance_result)]),
    'tml_collide_free': (None, [c_void_p, POINTER(tml_collide_result)]),
    'tml_compact': (c_int, [c_void_p, POINTER(tml_compact_desc)]),
    'tml_context_describe': (None, [c_void_p, POINTER(tml_device_info)]),
    'tml_devices': (c_uint32, [POINTER(tml_device_info), c_uint32]),
    'tml_error': (c_int, [c_void_p, c_int, c_char_p]),
    'tml_field': (c_int, [c_void_p, POINTER(tml_field_desc), tml_buffer]),
    'tml_field_mean': (c_int, [c_void_p, POINTER(tml_field_mean_desc)]),
    'tml_field_prepare': (c_int, [c_void_p, POINTER(tml_field_prepare_desc), POINTER(tml_field_prepared)]),
    'tml_field_prepared_free': (None, [c_void_p, POINTER(tml_field_prepared)]),
    'tml_free': (None, [c_void_p, c_void_p, c_size_t]),
    'tml_grid_position_origin': (None, [POINTER(tml_grid), c_double * 3]),
    'tml_histogram': (c_int, [c_void_p, POINTER(tml_histogram_desc)]),
    'tml_image_expose': (c_int, [c_void_p, POINTER(tml_image_expose_desc)]),
    'tml_image_measure': (c_int, [c_void_p, POINTER(tml_image_measure_desc)]),
    'tml_image_mips': (c_int, [c_void_p, POINTER(tml_image_mips_desc)]),
    'tml_image_percentile': (c_double, [POINTER(tml_image_stats), c_double]),
    'tml_image_stats_read': (c_int, [c_void_p, tml_buffer, POINTER(tml_image_stats)]),
    'tml_image_tonemap': (c_int, [c_void_p, POINTER(tml_image_tonemap_desc)]),
    'tml_last_error': (c_char_p, [c_void_p]),
    'tml_log': (None, [c_void_p, c_int, c_char_p]),
    'tml_map': (c_int, [c_void_p, POINTER(tml_map_desc)]),
    'tml_mesh_clean': (c_int, [c_void_p, POINTER(tml_mesh), c_bool, c_bool, POINTER(c_uint64)]),
    'tml_mesh_examine': (c_int, [c_void_p, POINTER(tml_mesh_buffers), c_bool, POINTER(tml_mesh_stats)]),
    'tml_mesh_file_free': (None, [c_void_p, POINTER(tml_mesh_file)]),
    'tml_mesh_load': (c_int, [c_void_p, c_char_p, POINTER(tml_load_desc), POINTER(tml_mesh_file)]),
    'tml_mesh_mend': (c_int, [c_void_p, POINTER(tml_mesh)]),
    'tml_mesh_save': (c_int, [c_void_p, c_char_p, POINTER(tml_mesh)]),
    'tml_mesh_smooth': (c_int, [c_void_p, POINTER(tml_mesh_smooth_desc)]),
    'tml_meter_weights': (c_int, [c_int, c_uint32, c_uint32, c_uint32, c_uint32, POINTER(c_uint8)]),
    'tml_mip_level': (c_uint32, [c_uint32, c_uint32, c_uint32, POINTER(c_uint32), POINTER(c_uint32), POINTER(c_uint64)]),
    'tml_open': (c_int, [POINTER(tml_open_desc), POINTER(c_void_p)]),
    'tml_picture_free': (None, [c_void_p, POINTER(tml_picture)]),
    'tml_picture_load': (c_int, [c_void_p, c_char_p, POINTER(tml_load_desc), POINTER(tml_picture)]),
    'tml_picture_save': (c_int, [c_void_p, c_char_p, POINTER(tml_picture)]),
    'tml_points_free': (None, [c_void_p, POINTER(tml_points)]),
    'tml_points_load': (c_int, [c_void_p, c_char_p, POINTER(tml_load_desc), POINTER(tml_points)]),
    'tml_points_save': (c_int, [c_void_p, c_char_p, POINTER(tml_points)]),
    'tml_progress': (c_bool, [c_void_p, c_char_p, c_double]),
    'tml_reduce': (c_int, [c_void_p, POINTER(tml_reduce_desc)]),
    'tml_scan': (c_int, [c_void_p, POINTER(tml_scan_desc)]),
    'tml_search': (c_int, [c_void_p, POINTER(tml_search_desc)]),
    'tml_sort': (c_int, [c_void_p, POINTER(tml_sort_desc)]),
    'tml_subdivide_adaptive': (c_int, [c_void_p, POINTER(tml_subdivide_adaptive_desc), POINTER(tml_subdivide_result)]),
    'tml_subdivide_uniform_enqueue': (c_int, [c_void_p, POINTER(tml_subdivide_uniform_desc), POINTER(tml_subdivide_result)]),
    'tml_subdivider_create': (c_int, [c_void_p, POINTER(tml_subdivider_desc), POINTER(c_void_p)]),
    'tml_subdivider_destroy': (None, [c_void_p, c_void_p]),
    'tml_surface': (c_int, [c_void_p, POINTER(tml_surface_desc), POINTER(tml_surface_result)]),
    'tml_surface_free': (None, [c_void_p, POINTER(tml_surface_result)]),
    'tml_surface_labels': (c_int, [c_void_p, POINTER(tml_surface_labels_desc), POINTER(tml_surface_result)]),
    'tml_surface_save': (c_int, [c_void_p, c_char_p, POINTER(tml_surface_save_desc), POINTER(tml_surface_saved)]),
    'tml_surface_saved_free': (None, [c_void_p, POINTER(tml_surface_saved)]),
    'tml_top_k': (c_int, [c_void_p, POINTER(tml_top_k_desc)]),
    'tml_tree_cast': (c_int, [c_void_p, POINTER(tml_tree_cast_desc)]),
    'tml_tree_create': (c_int, [c_void_p, POINTER(tml_tree_desc), POINTER(c_void_p)]),
    'tml_tree_describe': (None, [c_void_p, POINTER(tml_tree_info)]),
    'tml_tree_destroy': (None, [c_void_p, c_void_p]),
    'tml_tree_load': (c_int, [c_void_p, c_void_p, c_size_t, POINTER(c_void_p)]),
    'tml_tree_nearest': (c_int, [c_void_p, POINTER(tml_tree_nearest_desc)]),
    'tml_tree_save': (c_int, [c_void_p, c_void_p, c_void_p, POINTER(c_size_t)]),
    'tml_tree_update': (c_int, [c_void_p, c_void_p, tml_buffer, c_int]),
    'tml_type_size': (c_size_t, [c_uint32]),
    'tml_unique': (c_int, [c_void_p, POINTER(tml_unique_desc)]),
    'tml_value_histogram_free': (None, [c_void_p, POINTER(tml_value_histogram)]),
    'tml_value_histogram_make': (c_int, [c_void_p, c_void_p, c_uint32, c_uint64, POINTER(tml_value_histogram)]),
    'tml_volume_convert': (c_int, [c_void_p, POINTER(tml_volume), c_int, POINTER(tml_volume)]),
    'tml_volume_free': (None, [c_void_p, POINTER(tml_volume)]),
    'tml_volume_load': (c_int, [c_void_p, c_char_p, POINTER(tml_load_desc), POINTER(tml_volume)]),
    'tml_volume_save': (c_int, [c_void_p, c_char_p, POINTER(tml_volume)]),
}
