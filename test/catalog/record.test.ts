import { describe, expect, it } from 'vitest';
import { MAX_PROBLEMS } from '../../src/catalog/failures.ts';
import { link, list, object } from '../../src/catalog/fields/composites.ts';
import type { ReadContext } from '../../src/catalog/fields/kind.ts';
import { id, integer } from '../../src/catalog/fields/numbers.ts';
import { text } from '../../src/catalog/fields/text.ts';
import { dateTime } from '../../src/catalog/fields/times.ts';
import {
  createOnly,
  emittedFields,
  inputOnly,
  optional,
  readFields,
  readOnly,
  required,
  requiredOnCreate,
  wireValues,
} from '../../src/catalog/record.ts';

const fields = {
  id: readOnly(id(), 'Id'),
  name: required(text({ min: 1, max: 5 }), 'Name'),
  note: optional(text(), 'Note'),
  size: optional(integer({ min: 1 }), 'Size'),
  home: required(link('Location'), 'Home'),
  kind: requiredOnCreate(text(), 'Kind'),
  owner: createOnly(link('PatientV1'), 'Owner'),
  file: inputOnly(object({ content: required(text({ min: 1 }), 'Content') }), 'File'),
  parts: optional(list(object({ number: required(text(), 'Number') })), 'Parts'),
};

function read(mode: ReadContext['mode'], body: Record<string, unknown>) {
  const context: ReadContext = { problems: [], warnings: [], mode };
  const values = readFields(fields, body, context);
  return {
    values,
    problems: context.problems.map(({ code, source }) => `${code} ${source}`),
    warnings: context.warnings.map(({ title, source }) => `${title} ${source}`),
    descriptions: context.problems.map((problem) => problem.description),
  };
}

const whole = { name: 'Ann', home: { id: 5 }, kind: 'x', file: { content: 'eA==' } };

describe('a POST body', () => {
  it('is read into canonical values; what was not sent is not there', () => {
    expect(read('create', { ...whole, name: ' Ann ', home: { id: '5' }, owner: { id: 7 } })).toEqual({
      values: { name: 'Ann', home: { id: 5 }, kind: 'x', file: { content: 'eA==' }, owner: { id: 7 } },
      problems: [],
      warnings: [],
      descriptions: [],
    });
  });

  it('names every required field that is missing', () => {
    expect(read('create', {}).problems).toEqual([
      'field.missing name',
      'field.missing home',
      'field.missing kind',
      'field.missing file',
    ]);
  });

  it('may not clear a required field', () => {
    expect(read('create', { ...whole, name: null }).problems).toEqual(['field.missing name']);
  });

  it('may clear an optional one', () => {
    expect(read('create', { ...whole, note: null, parts: null })).toMatchObject({
      values: { note: null, parts: null },
      problems: [],
    });
  });

  it('reports every problem at once, each once', () => {
    const { problems } = read('create', {
      name: 'too long',
      size: 0,
      kind: 5,
      parts: [{ number: 'a' }, {}],
      colour: 'red',
    });
    expect(problems.sort()).toEqual([
      'body.unknown_property colour',
      'field.length name',
      'field.missing file',
      'field.missing home',
      'field.missing parts[1].number',
      'field.range size',
      'field.type kind',
    ]);
  });

  it('has its read-only fields ignored with a warning (D44)', () => {
    expect(read('create', { ...whole, id: 'not even an id' })).toMatchObject({
      problems: [],
      warnings: ['Read-only property id'],
    });
    expect(read('create', { ...whole, id: 3 }).values).not.toHaveProperty('id');
  });

  it('has unknown names refused, with the known ones listed', () => {
    const { problems, descriptions } = read('create', { ...whole, Name: 'x' });
    expect(problems).toEqual(['body.unknown_property Name']);
    expect(descriptions[0]).toContain('Known: id, name, note, size, home, kind, owner, file, parts.');
  });

  it.each(['constructor', 'toString', '__proto__'])('has no known name by chance: %s', (name) => {
    const body = JSON.parse(`{"${name}": {"a": 1}}`);
    expect(read('create', { ...whole, ...body, [name]: 1 }).problems).toContain(`body.unknown_property ${name}`);
  });
});

describe('a body with more problems than are told', () => {
  const unknown = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`x${at}`, at]));

  it('is read no further, whether they are its names or the entries of a list', () => {
    const names = read('update', unknown).problems;
    expect(names).toEqual(Array.from({ length: MAX_PROBLEMS }, (_, at) => `body.unknown_property x${at}`));
    const entries = read('update', { parts: Array.from({ length: 1000 }, () => 5) }).problems;
    expect(entries).toEqual(Array.from({ length: MAX_PROBLEMS }, (_, at) => `field.type parts[${at}]`));
  });
});

describe('values to send (D50)', () => {
  it('have date-times without milliseconds that are none, and all else as it is', () => {
    const sent = { at: optional(dateTime(), 'At'), note: optional(text(), 'Note') };
    const instant = '2026-03-02T14:30:00.000Z';
    expect(wireValues(sent, { at: instant, note: instant })).toEqual({ at: '2026-03-02T14:30:00Z', note: instant });
    const withMilliseconds = { at: '2026-03-02T14:30:00.500Z', note: null, other: 5 };
    expect(wireValues(sent, withMilliseconds)).toEqual(withMilliseconds);
    expect(wireValues(sent, { at: null })).toEqual({ at: null });
  });
});

describe('a PUT body', () => {
  it('changes only what it names', () => {
    expect(read('update', { note: 'x' })).toMatchObject({ values: { note: 'x' }, problems: [], warnings: [] });
    expect(read('update', {})).toMatchObject({ values: {}, problems: [] });
  });

  it('may not clear a required field', () => {
    expect(read('update', { name: null, home: null }).problems).toEqual(['field.missing name', 'field.missing home']);
  });

  it('has create-only and input fields ignored with a warning', () => {
    const { values, problems, warnings } = read('update', {
      id: 1,
      kind: 'y',
      owner: { id: 1 },
      file: { content: '' },
    });
    expect({ values, problems, warnings: warnings.sort() }).toEqual({
      values: {},
      problems: [],
      warnings: ['file', 'id', 'kind', 'owner'].map((name) => `Read-only property ${name}`),
    });
  });

  it('needs whole items in a list', () => {
    expect(read('update', { parts: [{}] }).problems).toEqual(['field.missing parts[0].number']);
  });
});

describe('an import line', () => {
  it('may set the fields that the server writes', () => {
    expect(read('import', { id: '7000000000114', name: 'Ann' })).toMatchObject({
      values: { id: 7_000_000_000_114, name: 'Ann' },
      problems: [],
      warnings: [],
    });
  });

  it('is checked like any other', () => {
    expect(read('import', { id: 0, name: 'too long', colour: 1 }).problems).toEqual([
      'field.type id',
      'field.length name',
      'body.unknown_property colour',
    ]);
  });
});

it('a name is told as it can be read: an empty one in quotes, a long one cut', () => {
  expect(read('update', { '': 1, ['n'.repeat(100)]: 1, ['m'.repeat(101)]: 1 }).problems).toEqual([
    'body.unknown_property ""',
    `body.unknown_property ${'n'.repeat(100)}`,
    `body.unknown_property ${'m'.repeat(100)}…`,
  ]);
});

describe('emittedFields', () => {
  it('leaves out what only comes in', () => {
    expect(emittedFields(fields)).toEqual(['id', 'name', 'note', 'size', 'home', 'kind', 'owner', 'parts']);
  });
});

describe('names beside the fields', () => {
  it('are left to others, and all else is read', () => {
    const context: ReadContext = { problems: [], warnings: [], mode: 'import' };
    const body = { organizationId: 'x', name: ' Ann ', deleted: false };
    expect(readFields(fields, body, context, '', new Set(['organizationId', 'deleted']))).toEqual({ name: 'Ann' });
    expect(context.problems).toEqual([]);
  });
});
