import { describe, expect, it } from 'vitest';
import { Refusal } from '../../src/catalog/failures.ts';
import { link } from '../../src/catalog/fields/composites.ts';
import { id } from '../../src/catalog/fields/numbers.ts';
import { text } from '../../src/catalog/fields/text.ts';
import { readFieldSelection, selectableNames } from '../../src/catalog/fieldselection.ts';
import { inputOnly, optional, readOnly } from '../../src/catalog/record.ts';

const fields = {
  id: readOnly(id(), 'Id'),
  name: optional(text(), 'Name'),
  home: optional(link('Location'), 'Home'),
  type: readOnly(text(), 'Type'),
  file: inputOnly(text(), 'File'),
};
const untyped = { id: fields.id, name: fields.name };

describe('readFieldSelection (D19)', () => {
  it.each([
    ['nothing', undefined, undefined],
    ['empty text', '', undefined],
    ['commas only', ' , ,', undefined],
    ['ALL', 'ALL', undefined],
    ['ALL among names', 'name,ALL', undefined],
    ['one name, with id and type', 'name', ['id', 'name', 'type']],
    ['the order of the resource, not of the request', 'type, home ,name,id', ['id', 'name', 'home', 'type']],
    ['the id of a link', 'home.id', ['id', 'home', 'type']],
    ['a link twice', 'home,home.id,home', ['id', 'home', 'type']],
  ])('takes %s', (_name, asked, names) => {
    expect(readFieldSelection(asked, fields, 'responseFields')).toEqual(names);
  });

  it('adds no type where there is none', () => {
    expect(readFieldSelection('name', untyped, 'responseFields')).toEqual(['id', 'name']);
  });

  it.each(['nope', 'Name', 'home.name', 'name.id', 'all', 'file', 'toString'])(
    'refuses %s and lists the names',
    (name) => {
      expect(() => readFieldSelection(`id,${name}`, fields, '--fields')).toThrow(Refusal);
      try {
        readFieldSelection(`id,${name}`, fields, '--fields');
      } catch (error) {
        expect((error as Refusal).problems).toEqual([
          {
            code: 'query.fields',
            source: '--fields',
            description: `${name} is not a field. Fields: ALL, id, name, home, home.id, type.`,
          },
        ]);
      }
    },
  );

  it('reports every unknown name', () => {
    expect(() => readFieldSelection('a,name,b', fields, 'x')).toThrow(/^a is not a field.* b is not a field/);
  });

  it('offers fields and the ids of links, not what only comes in', () => {
    expect(selectableNames(fields)).toEqual(['id', 'name', 'home', 'home.id', 'type']);
  });
});
