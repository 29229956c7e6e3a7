# Written after Homebrew's documentation; not built by its tools yet.
class Trommel < Formula
  desc "Meshes and pictures from volumes, points and meshes, on CPU and GPU"
  homepage "@HOMEPAGE@"
  url "@HOMEPAGE@/releases/trommel_@VERSION@.orig.tar.gz"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "shaderc" => :build
  depends_on "vulkan-headers" => :build
  depends_on "jpeg-turbo"
  depends_on "libpng"
  depends_on "libtiff"
  depends_on "meshoptimizer"
  depends_on "openexr"

  uses_from_macos "bzip2"
  uses_from_macos "expat"
  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DTML_TESTS=OFF", "-DTML_EXAMPLES=OFF",
           "-DTML_MPI=OFF", "-DTML_GL=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
    pkgshare.install "examples/hello_compact.c"
  end

  test do
    system ENV.cc, pkgshare/"hello_compact.c", "-std=c17", "-I#{include}", "-L#{lib}", "-ltrommel", "-o", "hello"
    assert_match "3 4 5 2", shell_output("./hello")
    assert_match version.to_s, shell_output("#{bin}/trommel --version")
  end
end
