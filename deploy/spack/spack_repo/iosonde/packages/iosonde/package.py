"""iosonde for Spack 1.0 and later: the wheel with extension, agent and page, built where Spack builds.

Install: spack repo add deploy/spack/spack_repo/iosonde
         spack env activate .; spack develop --path $PWD iosonde@main; spack add iosonde@main; spack install
Load:    spack load iosonde
"""

from spack.package import *
from spack_repo.builtin.build_systems.python import PythonPackage


class Iosonde(PythonPackage):
    """The weather station for shared storage: is it slow, how slow, since when, and why."""

    # No address is written here: `spack develop` takes a clone that is there.
    license("Apache-2.0")

    version("main")

    variant("mpi", default=False, description="ranks across machines")

    depends_on("c", type="build")
    depends_on("rust@1.89:", type="build")
    depends_on("node-js@20.19:", type="build")
    depends_on("npm", type="build")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-maturin@1.16:1", type="build")

    with default_args(type="run"):
        depends_on("py-duckdb@2.0:")
        depends_on("py-fastapi@0.165:")
        depends_on("py-h5py@3.14:")
        depends_on("py-matplotlib@3.11:")
        depends_on("py-numpy@2.4:")
        depends_on("py-rich@15:")
        depends_on("py-scikit-learn@1.7:")
        depends_on("py-scipy@1.17:")
        depends_on("py-threadpoolctl@3.6:")
        depends_on("py-uvicorn@0.54:")
        depends_on("py-mpi4py@4.1:", when="+mpi")

    @run_before("install")
    def page_and_agent(self):
        """The wheel takes both along."""
        npm, cargo, rustc = which("npm"), which("cargo"), which("rustc")
        with working_dir("web"):
            npm("ci")
            npm("run", "build")
        triple = rustc("--print", "host-tuple", output=str).strip()
        cargo.add_default_env("RUSTFLAGS", "-C target-feature=+crt-static")
        cargo("build", "--release", "--locked", "-p", "iosonde-agent", "--target", triple)
        mkdirp("build/wheel/scripts")
        install(f"target/{triple}/release/iosonde-agent", "build/wheel/scripts")
