# SPDX-License-Identifier: BSD-3-Clause
"""librma for Spack, built from the clone of the project that this file is in.

    spack repo create ~/librma-spack librma
    cd ~/librma-spack/packages                      # Spack 1.0 and later: ~/librma-spack/spack_repo/librma/packages
    mkdir librma && ln -s CLONE/contrib/spack/package.py librma/
    spack repo add ~/librma-spack                   # Spack 1.0 and later: ~/librma-spack/spack_repo/librma
    spack install librma@main ^mpich
"""
import os

from spack.package import *

try:  # From Spack 1.0 on it is no longer in spack.package.
    from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
except ImportError:
    pass


class Librma(AutotoolsPackage):
    """A Partitioned Global Address Space runtime, and OpenSHMEM 1.6, on MPI-3 one-sided communication."""

    git = "file://" + os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.4.0", commit="610767f4a5e67fe4b4e334d13cc9427928e7034a")
    version("0.3.0", commit="cec4a83a433c07bf3056bec7838e7c5a26795818")
    version("0.2.0", commit="4b88f72a8eafde43823929f35f241a1f87d9a61a")

    variant("static", default=False, description="Build static libraries, too (rmacc -static-librma)")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("autoconf@2.69:", type="build")
    depends_on("automake@1.15:", type="build")
    depends_on("libtool", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3:")
    depends_on("hwloc@2:")
    depends_on("elfutils")

    provides("shmem")

    conflicts("platform=darwin", msg="librma needs Linux")
    conflicts("platform=windows", msg="librma needs Linux")

    def autoreconf(self, spec, prefix):
        Executable("./autogen.sh")()

    def configure_args(self):
        mpi = self.spec["mpi"]
        args = [
            f"MPICC={mpi.mpicc}",
            f"MPICXX={mpi.mpicxx}",
            f"MPIEXEC={join_path(mpi.prefix.bin, 'mpiexec')}",
        ]
        return args + self.enable_or_disable("static")

    def setup_run_environment(self, env):
        env.prepend_path("CMAKE_PREFIX_PATH", self.prefix)
