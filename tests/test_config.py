"""Every key, every place it may come from, and what each mistake is answered with."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from datetime import datetime
from pathlib import Path

import pytest

from huimem.config import (
    Config,
    asking_zone,
    find_vault,
    known_keys,
    load,
    state_folder,
    value_of,
    zone_of,
)
from huimem.errors import ConfigError, VaultError

CONFIGS = Path(__file__).parents[1] / "configs"


@pytest.fixture
def home(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """An environment whose user config holds the given text."""

    def make(text: str = "", **variables: str) -> dict[str, str]:
        path = tmp_path / "user.toml"
        path.write_text(text, encoding="utf-8")
        return {"HUIMEM_CONFIG": str(path), **variables}

    return make


@pytest.fixture
def vault(tmp_path: Path) -> Callable[[str], Path]:
    """A vault whose huimem.toml holds the given text."""

    def make(text: str = "") -> Path:
        folder = tmp_path / "vault"
        folder.mkdir(exist_ok=True)
        (folder / "huimem.toml").write_text(text, encoding="utf-8")
        return folder

    return make


def flattened(table: dict[str, object], above: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in table.items():
        found |= flattened(value, f"{above}{name}.") if isinstance(value, dict) else {above + name: value}
    return found


def test_default_toml_is_what_the_code_says() -> None:
    text = (CONFIGS / "default.toml").read_text(encoding="utf-8")
    set_there = flattened(tomllib.loads(text))
    unset_there = set(re.findall(r"^# (\w+) = ", text, re.MULTILINE))
    for key in known_keys():
        default = value_of(Config(), key)
        if default is None:
            assert key in unset_there, f"{key} has no default: it stands there as a comment"
        else:
            assert set_there.pop(key) == (list(default) if isinstance(default, tuple) else default), key
    assert not set_there, "no key stands there that the code does not know"


def test_every_key_of_default_toml_is_explained() -> None:
    lines = (CONFIGS / "default.toml").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        if re.match(r"(# )?\w+ = ", line):
            assert "#" in line.removeprefix("# ") or lines[number - 1].startswith("# "), line


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.name)
def test_examples_load(path: Path, tmp_path: Path) -> None:
    load(None, environ={"HUIMEM_CONFIG": str(path)})
    if "A vault's own" in path.read_text(encoding="utf-8"):
        (tmp_path / "huimem.toml").write_bytes(path.read_bytes())
        load(tmp_path, environ={"HUIMEM_CONFIG": str(CONFIGS / "words-only.toml")})


def test_first_place_wins(home: Callable[..., dict[str, str]], vault: Callable[[str], Path]) -> None:
    folder = vault('week_start = "sunday"\nembedder = "hashing"\n[ranking]\nb = 0.5\nk1 = 1.5')
    environ = home(
        'week_start = "monday"\nembedder = "none"\n[ranking]\nb = 0.6\nuser_weight = 2\n[archive]\nkeep = 9',
        HUIMEM_EMBEDDER="hashing:64",
        HUIMEM_RANKING_K1="1.7",
        HUIMEM_ARCHIVE_AUTO="true",
    )
    config = load(folder, {"ranking.k1": 1.9, "include": ["a/**"], "embedder": None}, environ)
    place = {
        "flag": "flag",
        "env": "environment",
        "vault": str(folder / "huimem.toml"),
        "user": environ["HUIMEM_CONFIG"],
    }
    expected: dict[str, tuple[object, str]] = {
        "ranking.k1": (1.9, place["flag"]),
        "include": (("a/**",), place["flag"]),
        "embedder": ("hashing:64", place["env"]),
        "archive.auto": (True, place["env"]),
        "week_start": ("sunday", place["vault"]),
        "ranking.b": (0.5, place["vault"]),
        "ranking.user_weight": (2.0, place["user"]),
        "archive.keep": (9, place["user"]),
        "archive.cache_ttl_hours": (72, "default"),
    }
    assert {key: (value_of(config, key), config.origin[key]) for key in expected} == expected
    assert set(config.origin) == set(known_keys())


# A mistake in the user's file, and words of the answer.
USER_MISTAKES = [
    ('colour = "x"', "colour", "Valid keys"),
    ('week_strat = "monday"', "week_strat", "`week_start`"),
    ("[ranking]\nk2 = 1", "ranking.k2", "`ranking.k1`"),
    ("[ranknig]\nk1 = 1", "ranknig.k1", "`ranking.k1`"),
    ("ranking = 3", "ranking", "[ranking]"),
    ("[embedder]\nname = 'x'", "`embedder`", "a text"),
    ("week_start = 1", "week_start", "a text"),
    ('week_start = "tuesday"', "week_start", "monday or sunday"),
    ('include = "a/**"', "include", "a list"),
    ("include = [1]", "include", "a list"),
    ('[ranking]\nk1 = "${N}"', "ranking.k1", "a number"),
    ("[ranking]\nk1 = true", "ranking.k1", "a number"),
    ("[ranking]\nk1 = -1", "ranking.k1", "a number, 0 or more"),
    ("[ranking]\nk1 = nan", "ranking.k1", "a number"),
    ("[ranking]\nb = 1.5", "ranking.b", "between 0 and 1"),
    ("[ranking]\nhalf = 0", "ranking.half", "more than 0"),
    ("[rerank]\ntop = 2.5", "rerank.top", "a whole number"),
    ("[rerank]\ngap = 1.5", "rerank.gap", "between 0 and 1"),
    ("[archive]\nkeep = 2.5", "archive.keep", "a whole number"),
    ("[archive]\nauto = 1", "archive.auto", "true or false"),
    ('timezone = "Mars/Base"', "Mars/Base", "IANA"),
    ('timezone = "../../etc/passwd"', "passwd", "IANA"),
    ('timezone = ""', "time zone", "IANA"),
    ('embedder = ""', "embedder", "Bundled"),
    ('state_dir = ""', "state_dir", "a path"),
    ('origin = "x"', "origin", "unknown key"),
    ("week_start = monday", "TOML", "line 1"),
    ("[[ranking]]\nk1 = 1", "ranking", "[ranking]"),
]


@pytest.mark.parametrize(("text", "names", "remedy"), USER_MISTAKES)
def test_mistakes_in_the_user_file(
    text: str, names: str, remedy: str, home: Callable[..., dict[str, str]]
) -> None:
    environ = home(text)
    with pytest.raises(ConfigError) as caught:
        load(None, environ=environ)
    assert environ["HUIMEM_CONFIG"] in caught.value.message
    assert names in str(caught.value) and remedy in str(caught.value)


# What somebody else's vault must never set, and the key that is named.
FOREIGN = [
    ('endpoint = "https://evil.example"', "endpoint"),
    ('[llm]\nendpoint = "https://evil.example"', "llm.endpoint"),
    ('[llm]\napi_key = "x"', "llm.api_key"),
    ('model = "https://evil.example/model.bin"', "model"),
    ('state_dir = "/tmp/x"', "state_dir"),
    ('vault = "/etc"', "vault"),
    ('path = "../other"', "path"),
    ('command = "rm -rf ~"', "command"),
    ('[hooks]\nstop = "curl evil.example"', "hooks.stop"),
    ('embedder = "sentence-transformers:/tmp/model"', "sentence-transformers:/tmp/model"),
    ('embedder = "openai:text-embedding-3-small"', "openai:text-embedding-3-small"),
    ("embedder = 3", "3"),
    ('reranker = "sentence-transformers:/tmp/model"', "reranker"),
    ('reranker = ""', "reranker"),
    ("[rerank]\nseconds = 9999", "rerank.seconds"),
    ('own_timezone = "UTC"', "own_timezone"),
    ('timezon = "UTC"', "timezon"),
]


@pytest.mark.parametrize(("text", "key"), FOREIGN)
def test_a_vault_sets_only_what_is_safe(
    text: str, key: str, home: Callable[..., dict[str, str]], vault: Callable[[str], Path]
) -> None:
    folder = vault(text)
    with pytest.raises(ConfigError) as caught:
        load(folder, environ=home())
    assert str(folder / "huimem.toml") in caught.value.message
    assert key in caught.value.message and caught.value.hint


def test_what_a_vault_may_set(home: Callable[..., dict[str, str]], vault: Callable[[str], Path]) -> None:
    folder = vault(
        'timezone = "Asia/Shanghai"\nweek_start = "sunday"\ninclude = ["AI/**"]\nembedder = "none"\n'
        "[ranking]\nk1 = 1\n[archive]\nkeep = 1"
    )
    config = load(folder, environ=home())
    assert (config.timezone, config.include, config.ranking.k1) == ("Asia/Shanghai", ("AI/**",), 1.0)


ENVIRONMENT_MISTAKES = [
    ({"HUIMEM_WEEK_STRAT": "sunday"}, "HUIMEM_WEEK_START"),
    ({"HUIMEM_RANKING_K1": "fast"}, "ranking.k1"),
    ({"HUIMEM_RANKING_HALF": "0"}, "ranking.half"),
    ({"HUIMEM_ARCHIVE_AUTO": "perhaps"}, "archive.auto"),
    ({"HUIMEM_CONFIG": "/nowhere/at/all.toml"}, "/nowhere/at/all.toml"),
]


@pytest.mark.parametrize(("variables", "names"), ENVIRONMENT_MISTAKES)
def test_mistakes_in_the_environment(
    variables: dict[str, str], names: str, home: Callable[..., dict[str, str]]
) -> None:
    with pytest.raises(ConfigError, match=re.escape(names)):
        load(None, environ=home() | variables)


def test_an_empty_or_unrelated_variable_sets_nothing(home: Callable[..., dict[str, str]]) -> None:
    config = load(None, environ=home("", HUIMEM_EMBEDDER="", HUIMEM_API_TOKEN_OF_SOMETHING="x"))
    assert config == load(None, environ=home())


def test_two_configs_are_two(home: Callable[..., dict[str, str]]) -> None:
    one = load(None, {"ranking.k1": 2.0}, home())
    two = load(None, environ=home())
    assert (one.ranking.k1, two.ranking.k1) == (2.0, Config().ranking.k1)
    with pytest.raises(FrozenInstanceError):
        one.ranking.k1 = 3.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        one.origin["x"] = "y"  # type: ignore[index]


# Zone of the user, zone of the vault: the zone of its files, the zone of a question.
ZONES = [
    (None, "Asia/Shanghai", "Asia/Shanghai", "Asia/Shanghai"),
    ("Europe/Berlin", "Asia/Shanghai", "Asia/Shanghai", "Europe/Berlin"),
    ("Europe/Berlin", None, "Europe/Berlin", "Europe/Berlin"),
]


@pytest.mark.parametrize(("user", "own", "of_files", "of_question"), ZONES)
def test_zones(
    user: str | None,
    own: str | None,
    of_files: str,
    of_question: str,
    home: Callable[..., dict[str, str]],
    vault: Callable[[str], Path],
) -> None:
    folder = vault(f'timezone = "{own}"' if own else "")
    config = load(folder, environ=home(f'timezone = "{user}"' if user else ""))
    assert (str(zone_of(config)), str(asking_zone(config))) == (of_files, of_question)
    assert str(asking_zone(config, "UTC")) == "UTC"


def test_the_system_zone_stands_in(home: Callable[..., dict[str, str]]) -> None:
    config = load(None, environ=home())
    assert config.timezone is None and config.own_timezone is None
    assert datetime(2026, 4, 6, tzinfo=zone_of(config)).utcoffset() is not None


@pytest.fixture
def places(tmp_path: Path) -> Path:
    """a/huimem.toml · a/b/c · notes/x.md · empty · hidden/.git/x.md"""
    for folder in ("a/b/c", "notes/deep", "empty", "hidden/.git"):
        (tmp_path / folder).mkdir(parents=True)
    for name in ("a/huimem.toml", "notes/deep/x.md", "hidden/.git/x.md"):
        (tmp_path / name).touch()
    (tmp_path / "user.toml").write_text('vault = "notes"')
    (tmp_path / "none.toml").touch()
    return tmp_path


# Named folder, variable, where one stands, user config → the vault found, or words of the refusal.
FINDINGS = [
    (None, None, "a/b/c", "none", "a"),
    (None, None, "a", "none", "a"),
    (None, None, "empty", "user", "notes"),
    (None, None, "a/b", "user", "a"),
    ("notes", "a", "a/b", "none", "notes"),
    (None, "notes", "a/b", "none", "notes"),
    (None, None, "empty", "none", "huimem init"),
    ("empty", None, "a", "none", "mounted"),
    ("hidden", None, "a", "none", "neither"),
    ("nowhere", None, "a", "none", "--vault"),
    (None, "nowhere", "a", "none", "HUIMEM_VAULT"),
]


@pytest.mark.parametrize(("named", "variable", "cwd", "user", "found"), FINDINGS)
def test_finding_the_vault(
    named: str | None, variable: str | None, cwd: str, user: str, found: str, places: Path
) -> None:
    environ = {"HUIMEM_CONFIG": str(places / f"{user}.toml")}
    if variable:
        environ["HUIMEM_VAULT"] = str(places / variable)
    explicit = places / named if named else None
    if (places / found).exists():
        assert find_vault(explicit, environ, places / cwd) == places / found
    else:
        with pytest.raises(VaultError, match=found):
            find_vault(explicit, environ, places / cwd)


def test_a_relative_name_is_relative_to_where_one_stands(places: Path) -> None:
    assert find_vault(Path("../../a"), {}, places / "a/b") == places / "a"


def test_state_lies_in_the_vault(tmp_path: Path) -> None:
    assert state_folder(tmp_path, Config()) == tmp_path / ".huimem"
    assert not (tmp_path / ".huimem").exists()


def test_state_moved_out_is_one_folder_a_vault(tmp_path: Path) -> None:
    config = load(
        None,
        environ={"HUIMEM_STATE": str(tmp_path / "state"), "HUIMEM_CONFIG": str(CONFIGS / "words-only.toml")},
    )
    one, two = (state_folder(tmp_path / name, config) for name in ("one/notes", "two/notes"))
    assert one.parent == two.parent == tmp_path / "state"
    assert one != two and one.name.startswith("notes-")
    assert state_folder(tmp_path / "one/../one/notes", config) == one


def test_state_does_not_follow_a_symlink_of_the_vault(tmp_path: Path) -> None:
    (tmp_path / ".huimem").symlink_to("/etc")
    with pytest.raises(VaultError, match="symlink"):
        state_folder(tmp_path, Config())
    (tmp_path / ".huimem").unlink()
    (tmp_path / ".huimem").write_bytes(b"")
    with pytest.raises(VaultError, match="is a file"):
        state_folder(tmp_path, Config())
