"""The part of the build that pyproject.toml cannot declare: the kernels become machine code."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import ClassVar

from setuptools import Command, Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build import build

ROOT = Path(__file__).parent.resolve()
OBJECTS = Path("cpx") / "compiled" / "objects"


class BuildKernels(Command):
    """Compile the kernels: for this processor, or in a wheel for all of the kind it has."""

    description = __doc__
    user_options: ClassVar = []
    editable_mode = False

    def initialize_options(self):
        self.build_lib = None

    def finalize_options(self):
        self.set_undefined_options("build_py", ("build_lib", "build_lib"))

    def run(self):
        sys.path.insert(0, str(ROOT))
        from cpx.compiled.machine_code import compile_objects, file_of, level, levels

        folder = (ROOT if self.editable_mode else Path(self.build_lib).resolve()) / OBJECTS
        folder.mkdir(parents=True, exist_ok=True)
        names = {file_of(one) for one in levels()}
        for path in folder.glob("*.o"):
            if path.name not in names:
                path.unlink()
        for name in names:  # an editable installation may have made them before
            made = ROOT / OBJECTS / name
            if made.exists() and not (folder / name).exists():
                shutil.copyfile(made, folder / name)
        # An editable installation is used where it is made, a wheel on any processor of the kind.
        wanted = [level()] if self.editable_mode else levels()
        if missing := [one for one in wanted if not (folder / file_of(one)).exists()]:
            compile_objects(folder, missing)

    def get_source_files(self):
        return []

    def get_outputs(self):
        return [str(path) for path in (Path(self.build_lib) / OBJECTS).glob("*.o")]

    def get_output_mapping(self):
        return {}


class Build(build):
    sub_commands: ClassVar = [*build.sub_commands, ("build_kernels", None)]


class Binary(Distribution):
    """A distribution whose files are not the same everywhere."""

    def has_ext_modules(self):
        return True


class Wheel(bdist_wheel):
    """A wheel for one kind of processors and one system, but for any version of Python."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(
    distclass=Binary,
    cmdclass={"build": Build, "build_kernels": BuildKernels, "bdist_wheel": Wheel},
)
