"""Written after Conan 2's documentation; not built by its tools yet."""

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get, rmdir


class Trommel(ConanFile):
    name = "trommel"
    version = "@VERSION@"
    license = "MIT"
    homepage = "@HOMEPAGE@"
    description = "Streams whose length depends on their data, on CPU and GPU"
    topics = ("stream-compaction", "isosurface", "vulkan", "collision", "subdivision")
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "io": [True, False], "vulkan": [True, False]}
    default_options = {"shared": False, "fPIC": True, "io": True, "vulkan": True}

    def config_options(self):
        del self.settings.compiler.libcxx
        del self.settings.compiler.cppstd

    def requirements(self):
        if self.options.io:
            for name in ("zlib/[>=1.2.11 <2]", "libpng/[>=1.6 <2]", "libtiff/[>=4.5 <5]", "expat/[>=2.4 <3]",
                         "bzip2/[>=1.0.8 <2]", "libjpeg-turbo/[>=2.1 <4]"):
                self.requires(name)
        if self.options.vulkan:
            self.requires("vulkan-headers/[>=1.3.239 <2]")

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25 <4]")
        if self.options.vulkan:
            self.tool_requires("shaderc/2023.6")

    def layout(self):
        cmake_layout(self, src_folder="src")

    def source(self):
        get(self, f"{self.homepage}/releases/trommel_{self.version}.orig.tar.gz", sha256="@SHA256@", strip_root=True)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update({
            "TML_SHARED": bool(self.options.shared), "TML_IO": bool(self.options.io),
            "TML_VULKAN": bool(self.options.vulkan), "TML_GL": False, "TML_CLI": False, "TML_TESTS": False,
            "TML_EXAMPLES": False, "TML_EXR": False, "TML_GLTF": False})
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, f"{self.package_folder}/licenses")
        CMake(self).install()
        rmdir(self, f"{self.package_folder}/lib/pkgconfig")

    def package_info(self):
        # The package's own CMake files are the ones to use: they have trommel_add_kernels(), too.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs.append("lib/cmake/Trommel")
