"""Protobuf's wire format, as far as dumps.py needs it: fields of a message, and protobuf text of a GraphDef as a message."""
import re
import struct


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7f:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """A field of bytes or of a number."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def fields(message):
    """(number, value) of each field: bytes, or a number."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value
    while at < len(message):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
        elif key & 7 == 2:
            size = number()
            yield key >> 3, message[at:at + size]
            at += size
        else:
            raise ValueError(f'wire type {key & 7} at byte {at}')


# Message: field → (number, kind); kind: the name of a message, or how a value is written. As in TensorFlow's graph.proto and its parts.
MESSAGES = {
    'GraphDef': {'node': (1, 'NodeDef'), 'versions': (4, 'VersionDef')},
    'VersionDef': {'producer': (1, 'int')},
    'NodeDef': {'name': (1, 'text'), 'op': (2, 'text'), 'input': (3, 'text'), 'device': (4, 'text'), 'attr': (5, 'Attr')},
    'Attr': {'key': (1, 'text'), 'value': (2, 'AttrValue')},
    'AttrValue': {'list': (1, 'List'), 's': (2, 'text'), 'i': (3, 'int'), 'f': (4, 'float'), 'b': (5, 'bool'), 'type': (6, 'type'),
                  'shape': (7, 'Shape'), 'tensor': (8, 'Tensor')},
    'List': {'s': (2, 'text'), 'i': (3, 'int'), 'f': (4, 'float'), 'b': (5, 'bool'), 'type': (6, 'type'), 'shape': (7, 'Shape')},
    'Shape': {'dim': (2, 'Dim'), 'unknown_rank': (3, 'bool')},
    'Dim': {'size': (1, 'int')},
    'Tensor': {'dtype': (1, 'type'), 'tensor_shape': (2, 'Shape'), 'tensor_content': (4, 'text'), 'float_val': (5, 'float'), 'int_val': (7, 'int')},
}
TYPES = {'DT_FLOAT': 1, 'DT_INT32': 3, 'DT_STRING': 7, 'DT_INT64': 9, 'DT_BOOL': 10, 'DT_RESOURCE': 20}
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}:]|[^\s{}:]+')


def _value(kind, token):
    if kind == 'text':
        raw = token[1:-1].encode('latin1').decode('unicode_escape').encode('latin1')
        return 2, varint(len(raw)) + raw
    if kind == 'float':
        return 5, struct.pack('<f', float(token))
    return 0, varint(TYPES[token] if kind == 'type' else int(token == 'true') if kind == 'bool' else int(token))


def text_to_wire(text, message):
    tokens = TOKEN.findall(text)
    at = 0

    def read(name):
        nonlocal at
        out = b''
        while at < len(tokens) and tokens[at] != '}':
            number, kind = MESSAGES[name][tokens[at]]
            at += 2  # the name, and ':' or '{'
            if kind in MESSAGES:
                out += field(number, read(kind))
                at += 1  # '}'
            else:
                wire_type, value = _value(kind, tokens[at])
                out += varint(number << 3 | wire_type) + value
                at += 1
        return out
    return read(message)
