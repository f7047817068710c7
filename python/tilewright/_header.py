# SPDX-License-Identifier: MIT
"""tilewright.h as ctypes: the structs, enumerations and functions that it declares, so that nothing is declared twice."""
import ctypes
import pathlib
import re

_SIMPLE = {"size_t": ctypes.c_size_t, "int32_t": ctypes.c_int32, "int64_t": ctypes.c_int64, "float": ctypes.c_float, "int": ctypes.c_int,
           "const char*": ctypes.c_char_p}


class Option:
    """A member of a struct of options."""

    def __init__(self, member, kind, offset, default, comment, choices):
        self.member, self.kind, self.offset, self.default, self.comment = member, kind, offset, default, comment
        self.choices = choices  # of an enumeration: the numbers by name, in lower case; else None


class Function:
    """tilewright_<name>(tensors..., options)."""

    def __init__(self, name, result, parameters, comment):
        self.name, self.result, self.parameters, self.comment = name, result, parameters, comment  # parameters: [(type, name)]
        self.tensors = [n for t, n in parameters if t == "const tilewright_tensor*"]
        self.options_type = next((t[6:-1] for t, _ in parameters if t.endswith("_options*")), None)


class Header:
    def __init__(self, path=None):
        text = (pathlib.Path(path) if path else pathlib.Path(__file__).with_name("tilewright.h")).read_text(encoding="utf-8")
        text = text.replace("\\\n", " ")
        self.constants = {name: int(value) for name, value in re.findall(r"^#define (TILEWRIGHT_\w+) (\d+)$", text, re.M)}
        self.enums = {name: {key: int(value) for key, value in re.findall(r"TILEWRIGHT_(\w+) = (\d+)", body)}
                      for name, body in re.findall(r"typedef enum (\w+) \{(.*?)\} \1;", text, re.S)}
        self._defaults = {name.lower(): [value.strip() for value in values.split(",")][1:]
                          for name, values in re.findall(r"#define (TILEWRIGHT_\w+_OPTIONS)\s+\{(.*?)\}\s*$", text, re.M)}
        self.structs, self.options = {}, {}
        for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\} \1;", text, re.S):
            self._add_struct(name, body)
        self.functions = {}
        for comment, result, name, parameters in re.findall(r"(/\*(?:(?!\*/).)*\*/\s*)?^TILEWRIGHT_API (.*?)\s*\btilewright_(\w+)\((.*?)\);", text, re.S | re.M):
            split = [re.fullmatch(r"\s*(.*?)\s*\b(\w+)\s*", p).groups() for p in parameters.split(",") if p.strip() != "void"]
            self.functions[name] = Function(name, result, split, " ".join(comment.strip(" \n/*").split()))

    def ctype(self, name):
        """Pointers to structs are addresses."""
        return _SIMPLE.get(name) or self.structs.get(name) or ctypes.c_void_p

    def _add_struct(self, name, body):
        fields, comments, kinds = [], {}, {}
        for declared, comment in re.findall(r"(?:^|(?<=[;/\n]))\s*([^;/]+?);[ \t]*(?:/\*\s*(.*?)\s*\*/)?", body, re.S):
            kind, members = re.fullmatch(r"(.*?[\s*])\s*(\w+(?:\[\w+\])?(?:,\s*\w+(?:\[\w+\])?)*)", declared, re.S).groups()
            for member in re.split(r",\s*", members):
                member, length = re.fullmatch(r"(\w+)(?:\[(\w+)\])?", member).groups()
                ctype = self.ctype(" ".join(kind.split()))
                fields.append((member, ctype * self.constants.get(length, 0) if length else ctype))
                comments[member], kinds[member] = " ".join(comment.split()), " ".join(kind.split())
        self.structs[name] = struct = type(name, (ctypes.Structure,), {"_fields_": fields})
        if name not in self._defaults:
            return
        options = {}
        for (member, _), default in zip(fields[1:], self._defaults[name], strict=True):
            enum = re.search(r"\ba (tilewright_\w+)", comments[member]) if kinds[member] == "int32_t" else None
            choices = self._choices(enum.group(1)) if enum else None
            options[member] = Option(member, kinds[member], getattr(struct, member).offset, self._number(default), comments[member], choices)
        self.options[name] = options

    def _number(self, default):
        if default == "NULL":
            return None
        for values in self.enums.values():
            if default.removeprefix("TILEWRIGHT_") in values:
                return values[default.removeprefix("TILEWRIGHT_")]
        return float(default.rstrip("f")) if "." in default or "e" in default else int(default)

    def _choices(self, enum):
        """TILEWRIGHT_NO_ACTIVATION of tilewright_activation is "none"."""
        noun = enum.removeprefix("tilewright_").upper()
        return {("none" if key == f"NO_{noun}" else key.removesuffix(f"_{noun}").removeprefix(f"{noun}_")).lower(): value
                for key, value in self.enums[enum].items()}
