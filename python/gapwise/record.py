"""What the dataclasses of instances have in common."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Dict, Type, TypeVar

T = TypeVar("T", bound="Record")


class Record:
    """An object of an instance. Fields that are None are left out of its dict."""

    _head: ClassVar[Dict[str, Any]] = {}  # keys that are the same in all
    _parts: ClassVar[Dict[str, Type["Record"]]] = {}  # keys whose values are, or list, other records

    def to_dict(self) -> Dict[str, Any]:
        """Returns it as JSON has it."""
        all: Dict[str, Any] = dict(self._head)
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Record):
                value = value.to_dict()
            elif isinstance(value, (list, tuple)):
                value = [x.to_dict() if isinstance(x, Record) else x for x in value]
            if value is not None:
                all[field.name.rstrip("_")] = value
        return all

    @classmethod
    def from_dict(cls: Type[T], data: Dict[str, Any]) -> T:
        """Returns the record of a dict; a key that is unknown or missing is a ValueError."""
        names = {f.name.rstrip("_"): f for f in dataclasses.fields(cls)}
        values: Dict[str, Any] = {}
        for key, value in data.items():
            if key in cls._head:
                if value != cls._head[key]:
                    raise ValueError("%s: %s is %r, must be %r" % (cls.__name__, key, value, cls._head[key]))
            elif key not in names:
                raise ValueError("%s: unknown key %r, it has %s" % (cls.__name__, key, ", ".join(names)))
            else:
                part = cls._parts.get(key)
                if part is not None and isinstance(value, list):
                    value = [part.from_dict(x) for x in value]
                elif part is not None and value is not None:
                    value = part.from_dict(value)
                values[names[key].name] = value
        for key, field in names.items():
            if field.name not in values and field.default is dataclasses.MISSING:
                raise ValueError("%s: the key %r is missing" % (cls.__name__, key))
        return cls(**values)
