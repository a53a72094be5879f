"""Large dumps of every format, made of real small ones: the same content again and again under new names.

FORMATS maps a format's name to a function from a folder of samples and one of a corpus to the parts of a dump: what begins it, what follows
for the number k of a copy, and what ends it.
"""
import json
import re

from wire import field, fields, text_to_wire


def _lines(path):
    return path.read_text(encoding='utf8').splitlines(keepends=True)


def node_list(samples, corpus):
    """A ResNet50's nodes, in tower after tower."""
    lines = [line.rstrip('\n') for line in _lines(samples / 'resnet50_train_step.tfnodes.txt')]
    return '', lambda k: ''.join(f'tower_{k}/{line}\n' for line in lines), ''


def bert_node_list(samples, corpus):
    """BERT's names, model after model."""
    lines = [line.strip() for line in _lines(corpus / 'tf/dpro__TF1.15_xla_candidates_bert.txt')]
    return '', lambda k: ''.join(f'model_{k}/{line}\n' for line in lines), ''


def executor_log(samples, corpus):
    """The same graph, step after step."""
    lines = _lines(corpus / 'tf/own/mlp.executor_vlog.log')
    body = ''.join(line for line in lines if 'Process node' in line)
    step = re.compile(r' step -?\d+ ')
    return '', lambda k: step.sub(f' step {k + 1} ', body), ''


def memory_log(samples, corpus):
    body = ''.join(line for line in _lines(corpus / 'tf/own/mlp.log_memory.log') if '__LOG_MEMORY__' in line)
    step = re.compile(r'step_id: (\d+)')
    return '', lambda k: step.sub(lambda m: f'step_id: {int(m[1]) + 1000 * k}', body), ''


def placement_log(samples, corpus):
    lines = _lines(corpus / 'tf/own/mlp.placement_graph.log')
    return '', lambda k: ''.join(f'tower_{k}/{line}' for line in lines), ''


def step_stats(samples, corpus):
    """One step whose devices ran tower after tower."""
    text = (corpus / 'tf/own/mlp.step_stats.pbtxt').read_text()
    begin, end = text.index('    node_stats {'), text.rindex('  }\n}')
    name = re.compile(r'((?:node_name|timeline_label): ")')
    return text[:begin], lambda k: name.sub(rf'\g<1>tower_{k}/', text[begin:end]), text[end:]


def timeline(samples, corpus):
    trace = json.loads((corpus / 'tf/own/mlp.timeline.json').read_text())
    events = json.dumps(trace['traceEvents'], indent=4)[1:-1].rstrip()
    ts = re.compile(r'"ts": (\d+)')
    name = re.compile(r'("name": ")(?=[^"]*",\s*"op")')  # of the node: an event's own name is the type of its operator

    def copy(k):
        moved = ts.sub(lambda m: f'"ts": {int(m[1]) + 60_000 * k}', events)
        return (',' if k else '') + name.sub(rf'\g<1>tower_{k}/', moved)
    return '{"traceEvents": [', copy, '\n]}\n'


def _graph(corpus):
    text = (corpus / 'tf/own/mlp.graphdef.pbtxt').read_text()
    return text[:text.index('versions {')], text[text.index('versions {'):]


def graph_text(samples, corpus):
    body, end = _graph(corpus)
    name = re.compile(r'^(  (?:name|input): "\^?)', re.MULTILINE)
    return '', lambda k: name.sub(rf'\g<1>tower_{k}/', body), end


def graph_binary(samples, corpus):
    _, make, end = graph_text(samples, corpus)
    return b'', lambda k: text_to_wire(make(k), 'GraphDef'), text_to_wire(end, 'GraphDef')


def summarizer(samples, corpus):
    lines = _lines(corpus / 'tf/tf1_stat_summarizer_run_order_cc85.log')
    rows = [i for i, line in enumerate(lines) if '\t' in line and '[node type]' not in line]
    head, body = lines[:rows[0]], [line.rstrip('\n').rsplit('\t', 1) for line in lines[rows[0]:rows[-1] + 1] if '\t' in line]
    return ''.join(head), lambda k: ''.join(f'{left}\ttower_{k}/{name}\n' for left, name in body), ''.join(lines[rows[-1] + 1:])


def _paddle_names(text, make_name):
    """Variables get new names, wherever they stand."""
    declared = set(re.findall(r'(?:var|param) ([^\s:]+) :', text))
    word = re.compile(r"[\w.@]+")
    return lambda k: word.sub(lambda m: make_name(m[0], k) if m[0] in declared else m[0], text)


def paddle_old(samples, corpus):
    """One block with the variables and the operators of a training step, again and again."""
    lines = _lines(corpus / 'paddle/own/mlp.legacy.txt')
    first_op = next(i for i, line in enumerate(lines) if line.startswith('    {'))
    close = max(i for i, line in enumerate(lines) if line.startswith('}'))
    body = ''.join(lines[1:first_op]) + ''.join(lines[first_op:close])
    return lines[0], _paddle_names(body, lambda name, k: f'{name}.copy{k}'), '}\n'


def paddle_llama(samples, corpus):
    """A pipeline stage of a Llama, program after program."""
    text = (samples / 'llama_stage.paddle.txt').read_text(encoding='utf8').replace('1122', '')
    return '', lambda k: text.rstrip('\n') + '\n\n', ''


def paddle_protobuf(samples, corpus):
    """The variables of a block, and operators between them, as protobuf text."""
    def copy(k):
        variables = ''.join(
            f'  vars {{\n    name: "fc_{k}.tmp_{i}"\n    type {{\n      type: LOD_TENSOR\n      lod_tensor {{\n        tensor {{\n          data_type: FP32\n'
            f'          dims: -1\n          dims: 64\n        }}\n        lod_level: 0\n      }}\n    }}\n    persistable: false\n  }}\n' for i in range(20))
        source = 'x' if k == 0 else f'fc_{k - 1}.tmp_19'
        names = [source] + [f'fc_{k}.tmp_{i}' for i in range(20)]
        ops = ''.join(
            f'  ops {{\n    inputs {{\n      parameter: "X"\n      arguments: "{a}"\n    }}\n    outputs {{\n      parameter: "Out"\n'
            f'      arguments: "{b}"\n    }}\n    type: "{("relu", "tanh", "sigmoid", "scale")[i % 4]}"\n'
            f'    attrs {{\n      name: "op_role"\n      type: INT\n      i: 0\n    }}\n    attrs {{\n      name: "op_namescope"\n      type: STRING\n'
            f'      s: "/block_{k}/"\n    }}\n  }}\n' for i, (a, b) in enumerate(zip(names, names[1:])))
        return variables + ops
    head = ('blocks {\n  idx: 0\n  parent_idx: -1\n  vars {\n    name: "x"\n    type {\n      type: LOD_TENSOR\n      lod_tensor {\n        tensor {\n'
            '          data_type: FP32\n          dims: -1\n          dims: 64\n        }\n      }\n    }\n  }\n')
    return head, copy, '}\n'


def paddle_pir(samples, corpus):
    """One program with the operators of a training step, numbered on."""
    lines = _lines(corpus / 'paddle/own/mlp.pir.txt')
    body = ''.join(line for line in lines if line.startswith('    '))
    value, name = re.compile(r'%(\d+)'), re.compile(r'((?:name|parameter_name):")')
    step = 1 + max(int(number) for number in value.findall(body))
    return '{\n', lambda k: name.sub(rf'\g<1>tower_{k}.', value.sub(lambda m: f'%{int(m[1]) + step * k}', body)), '}\n'


def angle(samples, corpus):
    lines = _lines(samples / 'multi_gpu_impl.symbols.txt')
    place = re.compile(r'<<(\d+):(\d+)-(\d+)>>')

    def copy(k):
        def moved(m):
            return f'<<{int(m[1]) + 300 * k}:{int(m[2]) + 14_000 * k}-{int(m[3]) + 14_000 * k}>>'
        return ''.join(place.sub(moved, re.sub(r'^<<(\w+)>>', rf'<<\g<1>_{k}>>', line)) for line in lines)
    return '', copy, ''


def ctags(samples, corpus):
    lines = _lines(corpus / 'symbols/ctags_uctags5.9_rllib_multi_gpu_impl.tags')
    head = ''.join(line for line in lines if line.startswith('!'))
    tags = [line for line in lines if not line.startswith('!')]
    return head, lambda k: ''.join(line.replace('multi_gpu_impl.py', f'package_{k}/multi_gpu_impl.py', 1) for line in tags), ''


def ctags_json(samples, corpus):
    def copy(k):
        rows = []
        for line in _lines(corpus / 'symbols/ctags_uctags5.9_rllib_multi_gpu_impl.tags'):
            if line.startswith('!'):
                continue
            name, path, rest = line.rstrip('\n').split('\t', 2)
            pattern, fields_ = rest.rsplit(';"\t', 1)
            told = dict(part.split(':', 1) for part in fields_.split('\t'))
            row = {'_type': 'tag', 'name': name, 'path': f'package_{k}/{path}', 'pattern': pattern, 'line': int(told['line']), 'kind': told['kind']}
            if 'class' in told:
                row |= {'scope': told['class'], 'scopeKind': 'class'}
            rows.append(json.dumps(row))
        return '\n'.join(rows) + '\n'
    return '', copy, ''


def pysonar(samples, corpus):
    rows = json.loads((corpus / 'symbols/pysonar2_tests_call.test_refs.json').read_text())

    def copy(k):
        def moved(node):
            return node | {'file': f'package_{k}/{node["file"]}'}
        made = [{'ref': moved(row['ref']), 'dests': [moved(dest) for dest in row['dests']]} for row in rows]
        return (',' if k else '') + json.dumps(made, indent=2)[1:-1]
    return '[', copy, ']\n'


def _scip(corpus):
    """Metadata and the document of a real index."""
    parts = list(fields((corpus / 'symbols/scip_python_rllib.scip').read_bytes()))
    return next(value for number, value in parts if number == 1), next(value for number, value in parts if number == 2)


def scip(samples, corpus):
    metadata, document = _scip(corpus)
    symbols = {2: 2, 3: 1}  # occurrences and symbols: the field that holds the symbol's name

    def copy(k):
        def renamed(value, of):
            return b''.join(field(n, v.replace(b'multi_gpu_impl', b'package_%d/multi_gpu_impl' % k) if n == of else v) for n, v in fields(value))
        made = b''.join(field(n, b'package_%d/' % k + v if n == 1 else renamed(v, symbols[n]) if n in symbols else v) for n, v in fields(document))
        return field(2, made)
    return field(1, metadata), copy, b''


def scip_json(samples, corpus):
    _, document = _scip(corpus)
    occurrences, symbols = [], []
    for number, value in fields(document):
        told = dict(fields(value)) if number in (2, 3) else {}
        if number == 2:
            occurrences.append({'range': list(told[1]), 'symbol': told[2].decode()} | ({'symbol_roles': told[3]} if 3 in told else {}))
        elif number == 3:
            symbols.append({'symbol': told[1].decode(), 'documentation': [v.decode() for n, v in fields(value) if n == 3]})

    def copy(k):
        text = json.dumps({'relative_path': 'multi_gpu_impl.py', 'occurrences': occurrences, 'symbols': symbols})
        return (',' if k else '') + text.replace('multi_gpu_impl', f'package_{k}/multi_gpu_impl')
    return '{"metadata":{"tool_info":{"name":"scip-python","version":"0.6.6"}},"documents":[', copy, ']}\n'


def lsif(samples, corpus):
    """A document with a definition and its uses for every name of a real file."""
    records = [re.findall(r'<<(.*?)>>', line) for line in _lines(samples / 'multi_gpu_impl.symbols.txt')]
    names = sorted({record[0] for record in records})

    def copy(k):
        base, rows = 1 + k * 10_000, []

        def add(**element):
            rows.append(json.dumps({'id': base + len(rows)} | element, separators=(',', ':')))
            return base + len(rows) - 1
        document = add(type='vertex', label='document', uri=f'file:///w/package_{k}/multi_gpu_impl.py', languageId='python')
        ranges = []
        for name in names:
            result_set = add(type='vertex', label='resultSet')
            moniker = add(type='vertex', label='moniker', scheme='python', identifier=f'package_{k}.multi_gpu_impl:{name}')
            add(type='edge', label='moniker', outV=result_set, inV=moniker)
            result = add(type='vertex', label='definitionResult')
            add(type='edge', label='textDocument/definition', outV=result_set, inV=result)
            for i, record in enumerate(r for r in records if r[0] == name):
                line = int(record[1].split(':')[0])
                place = add(type='vertex', label='range', start={'line': line, 'character': 4 + 9 * i}, end={'line': line, 'character': 4 + 9 * i + len(name)})
                add(type='edge', label='next', outV=place, inV=result_set)
                if i == 0:
                    add(type='edge', label='item', outV=result, inVs=[place], document=document)
                ranges.append(place)
        add(type='edge', label='contains', outV=document, inVs=ranges)
        return '\n'.join(rows) + '\n'
    return '{"id":0,"type":"vertex","label":"metaData","version":"0.4.3","toolInfo":{"name":"lsif-py","version":"1.0"}}\n', copy, ''


def hlo(samples, corpus):
    """BERT's training step, module after module."""
    text = (samples / 'bert_pretrain_step.hlo.txt').read_text()
    return '', lambda k: re.sub(r'^HloModule \S+?(?=[,\s])', rf'\g<0>.copy{k}', text), ''


FORMATS = {make.__name__: make for make in (
    node_list, bert_node_list, executor_log, memory_log, placement_log, step_stats, timeline, graph_text, graph_binary, summarizer,
    paddle_old, paddle_llama, paddle_protobuf, paddle_pir, angle, ctags, ctags_json, pysonar, scip, scip_json, lsif, hlo)}


def write(path, make, samples, corpus, size):
    """A dump of at least `size` bytes."""
    head, copy, end = make(samples, corpus)

    def as_bytes(part):
        return part if isinstance(part, bytes) else part.encode()
    with open(path, 'wb') as out:
        out.write(as_bytes(head))
        k = 0
        while out.tell() < size:
            out.write(as_bytes(copy(k)))
            k += 1
        out.write(as_bytes(end))
    return path.stat().st_size
