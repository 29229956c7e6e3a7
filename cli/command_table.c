/* The trommel program's commands, each defined in cmd_<name>.c, and its own options. */
#include "cli.h"
#include "file_advice.h"

static const cli_command *const commands[] = {
    &cmd_surface, &cmd_convert,   &cmd_index,    &cmd_draw,   &cmd_collide, &cmd_distance,
    &cmd_rays,    &cmd_subdivide, &cmd_exposure, &cmd_mips,   &cmd_info,    &cmd_devices,
    &cmd_compact, &cmd_scan,      &cmd_sort,     &cmd_reduce, NULL,
};

static const cli_moved moved[] = {
    {"mesh|iso|isosurface|contour|marching-cubes|marchingcubes|mc|extract|polygonize|polygonise|"
     "reconstruct|skin|volume|points|threshold",
     "no command; '" CLI_PROGRAM " surface IN -o NAME.ply' makes a mesh of a volume or of points"},
    {"simplify|decimate|decimation|remesh|lod|optimize|optimise",
     "no command; '" CLI_PROGRAM " convert MESH --simplify 10% -o NAME.ply' leaves a tenth of a "
     "mesh's triangles, and --simplify of '" CLI_PROGRAM " surface' does at once"},
    {"smooth|smoothing|taubin|relax|denoise",
     "no command; '" CLI_PROGRAM " convert MESH --smooth 20 -o NAME.ply' smooths a mesh, and "
     "--smooth of '" CLI_PROGRAM " surface' does at once"},
    {"scale|rotate|translate|transform|move|mirror|flip|units",
     "no command; '" CLI_PROGRAM " convert IN --scale 25.4 -o NAME.stl' makes millimetres of "
     "inches, and --rotate and --translate move what is in a file"},
    {"weld|merge|clean|join",
     "no command; '" CLI_PROGRAM " convert MESH --weld always -o NAME.ply' makes vertices at equal "
     "places one"},
    {"repair|fix|heal|close|fill|watertight|solidify",
     "no command; '" CLI_PROGRAM
     " distance MESH --inside solid-angle -o NAME.nrrd' and '" CLI_PROGRAM
     " surface NAME.nrrd --iso 0 --flip -o NAME.ply' close an open mesh"},
    {"offset|thicken|shell|dilate|erode|sdf|voxelize|voxelise|voxelizer|distances|distance-field",
     "no command; '" CLI_PROGRAM " distance MESH -o NAME.nrrd' makes a volume of distances, of "
     "which '" CLI_PROGRAM " surface NAME.nrrd --iso 2 --flip -o NAME.ply' makes a mesh that is 2 "
     "thicker"},
    {"version|ver", "an option: '" CLI_PROGRAM " --version'"},
    {"man|manual|completion|completions",
     "an option: '" CLI_PROGRAM " --man surface | man -l -', '" CLI_PROGRAM " --completion bash'"},
    {"usage|commands|list", "no command; '" CLI_PROGRAM " --help' lists the commands"},
    {"view|show|render|display|plot|open|picture|image|png|screenshot|thumbnail|preview",
     "no command; '" CLI_PROGRAM
     " draw MESH -o NAME.png' makes a picture of a mesh, and '" CLI_PROGRAM
     " surface IN --png NAME.png' of a volume's or points' surface"},
    {"stats|statistics|describe|inspect|identify|file|header|show-info|measure|area|bounds|check|"
     "validate|dump",
     "no command; '" CLI_PROGRAM " info FILE' tells what is in a file"},
    {"labels|label|segment|segmentation|organs|atlas",
     "no command; '" CLI_PROGRAM
     " surface VOLUME --labels all -o NAME.ply' makes meshes of labels"},
    {"crop|region|roi|subset",
     "no command; '" CLI_PROGRAM " surface VOLUME --region 0:64,:,: -o NAME.ply' takes a part of a "
     "volume, and --bounds of points"},
    {"intersect|intersection|intersections|collision|clash|overlap|contact|interference|clearance|"
     "inside|contains|self-intersect",
     "no command; '" CLI_PROGRAM
     " collide A B' finds where two meshes meet, --find distance how far "
     "they are apart, and --find inside what lies inside"},
    {"ray|raycast|ray-cast|cast|trace|raytrace|depth",
     "no command; '" CLI_PROGRAM " rays MESH --rays FILE -o NAME.csv' finds what rays hit"},
    {"tonemap|tone-map|tone|expose|hdr|brightness",
     "no command; '" CLI_PROGRAM " exposure PICTURE -o NAME.png' exposes and tone-maps a picture"},
    {"mip|mipmap|mipmaps|pyramid|downsample|resize",
     "no command; '" CLI_PROGRAM " mips PICTURE -o NAME_%d.png' makes a picture's levels"},
    {"subdiv|loop|refine|catmull-clark",
     "no command; '" CLI_PROGRAM " subdivide MESH -o NAME.ply' makes a smooth surface of a coarse "
     "mesh"},
    {"gpu|gpus|device|backends|engines|platforms|clinfo|vulkaninfo",
     "no command; '" CLI_PROGRAM " devices' lists what this machine offers"},
    {"sum|mean|average|min|max|minimum|maximum|total|count",
     "no command; '" CLI_PROGRAM " reduce ARRAY.npy' prints sum, mean and extremes of an array"},
    {"cumsum|prefix-sum|prefixsum|accumulate|prefix",
     "no command; '" CLI_PROGRAM " scan ARRAY.npy -o NAME.npy' writes running sums of an array"},
    {"filter|select|where|nonzero|pack",
     "no command; '" CLI_PROGRAM " compact ARRAY.npy --nonzero -o NAME.npy' keeps what is not 0"},
    {"argsort|order|rank",
     "no command; '" CLI_PROGRAM " sort ARRAY.npy -o NAME.npy' sorts an array"},
    {"load|save|export|import|copy|cp|translate-format|to|ply|stl|obj|glb|nrrd|transcode",
     "no command; '" CLI_PROGRAM " convert IN -o NAME.ply' writes it in the format of that ending"},
    {"python|pip|jupyter|notebook",
     "no command; docs/python.md says how the Python package is installed"},
    {"bench", "a program of its own, trommel-bench, which is built beside " CLI_PROGRAM
              " and not installed"},
    {0},
};

static const opt program_options[] = {
    {OPT_SECTION, .help = "Options"},
    {OPT_FLAG, "version", 'V', .help = "print the version and end",
     .offset = offsetof(cli_program_args, version)},
    {OPT_FLAG, "man",
     .help = "print the man page of the program, or of the command that follows: " CLI_PROGRAM
             " --man surface | man -l -",
     .offset = offsetof(cli_program_args, man)},
    {OPT_FLAG, "json-fields", .help = "print what the JSON of --json has, as Markdown",
     .offset = offsetof(cli_program_args, json_fields)},
    {OPT_TEXT, "completion", .choices = "bash|zsh|fish",
     .help = "print a completion script: source <(" CLI_PROGRAM " --completion bash)",
     .offset = offsetof(cli_program_args, completion)},
    {OPT_HELP, "help", 'h', .help = "print this and end"},
    {0},
};

static const opt_command program = {
    .operands = "COMMAND ...",
    .summary = "Meshes from volumes and point clouds, collision and subdivision of meshes, "
               "exposure of pictures, "
               "and streams reduced, scanned, sorted and compacted",
    .about =
        "'" CLI_PROGRAM
        " COMMAND -h' shows a command's most used options, --help all. An output appears when "
        "it is complete, under its name; one that is an input, by whatever name, or another "
        "output is refused before any work. \"-\" as an input is standard input; as an output, "
        "\"-.glb\" is standard output in the format of that ending, and the summary goes to "
        "standard error.",
    .options = program_options,
};

const cli_command_table cli_commands = {
    .options = &program,
    .commands = commands,
    .moved = moved,
    .explain_file = advice_of_file,
};
