"""What the scripts that make a release share: Cargo.toml's facts, the platforms, and archives with the same bytes each time."""
import gzip
import hashlib
import io
import json
import pathlib
import subprocess
import sys
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# By Rust's names of the platforms that have an archive, npm's names of their system and processor.
PLATFORMS = {
    "x86_64-unknown-linux-gnu": ("linux", "x64"),
    "aarch64-unknown-linux-gnu": ("linux", "arm64"),
    "x86_64-apple-darwin": ("darwin", "x64"),
    "aarch64-apple-darwin": ("darwin", "arm64"),
}
# Those with an archive alone, a .zip: the one of the compiler that Rust uses there, and the one that other systems can build.
WINDOWS = ("x86_64-pc-windows-msvc", "x86_64-pc-windows-gnu")
# The time of every file in an archive: 1980-01-01, the earliest that all formats can tell.
TIME = 315532800


def facts():
    """The package as Cargo.toml describes it."""
    command = ["cargo", "metadata", "--no-deps", "--offline", "--format-version=1"]
    packages = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)["packages"]
    return next(package for package in packages if package["name"] == "kgctx")


def fail(message):
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {message}")


def write_archive(path, files):
    """Writes (name, bytes, mode) as a .tar.gz in the order of names, with fixed times and owners."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data, mode in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(data), mode, TIME
            archive.addfile(entry, io.BytesIO(data))
    path.write_bytes(gzip.compress(content.getvalue(), mtime=TIME))


def write_zip(path, files):
    """The same as a .zip."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data, mode in sorted(files):
            entry = zipfile.ZipInfo(name)
            entry.create_system, entry.external_attr, entry.compress_type = 3, mode << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


def read_archive(path):
    """The files of an archive by their names inside of its folder: bytes and mode."""
    with tarfile.open(path) as archive:
        entries = [entry for entry in archive if entry.isfile()]
        return {entry.name.split("/", 1)[1]: (archive.extractfile(entry).read(), entry.mode) for entry in entries}


def write_checksum(path):
    """Writes the checksum of a file beside it, as `sha256sum --check` and `shasum --check` read it."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_name(f"{path.name}.sha256").write_text(f"{digest}  {path.name}\n")


def main(tag, repository):
    """Says whether a tag and the repository that has it are those of Cargo.toml."""
    package = facts()
    if tag != f"v{package['version']}":
        fail(f"the tag is {tag}, and Cargo.toml has the version {package['version']}")
    if repository != package["repository"]:
        fail(f"this is {repository}, and Cargo.toml has the repository {package['repository']}")


def notes(version, changelog):
    """The changelog's part about a version, without its heading."""
    _, found, rest = changelog.partition(f"\n## [{version}]")
    if not found:
        fail(f"CHANGELOG.md has no section about {version}")
    return rest.partition("\n## ")[0].partition("\n")[2].strip() + "\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--notes"]:
        print(notes(facts()["version"], (ROOT / "CHANGELOG.md").read_text()), end="")
    else:
        main(*sys.argv[1:])
