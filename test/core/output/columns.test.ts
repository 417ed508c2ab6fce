import { describe, expect, it } from 'vitest';
import { documentFields } from '../../../src/catalog/resources/documents.ts';
import { patientFields } from '../../../src/catalog/resources/patients.ts';
import { cellText, columnsOf, project, selectedNames, valueAt } from '../../../src/core/output/columns.ts';

describe('columnsOf', () => {
  it('has all fields in their order, links by their id, nothing that only comes in', () => {
    expect(columnsOf(documentFields).map(({ name }) => name)).toEqual([
      'id',
      'name',
      'mimeType',
      'guidName',
      'thumbNailId',
      'ownerType',
      'ownerOrganization.id',
      'ownerPatient.id',
      'ownerPerioExam.id',
      'tags',
      'userDefinedDate',
      'storage',
      'type',
    ]);
  });

  it.each([
    [
      ['lastName', 'id'],
      ['lastName', 'id'],
    ],
    [
      ['preferredLocation', 'id'],
      ['preferredLocation.id', 'id'],
    ],
    [['preferredLocation.id', 'preferredLocation'], ['preferredLocation.id']],
    [['phones', 'phones'], ['phones']],
  ])('has the selection %j as %j', (selection, names) => {
    expect(columnsOf(patientFields, selection).map(({ name }) => name)).toEqual(names);
  });

  it('knows ids', () => {
    const ids = columnsOf(patientFields, ['id', 'lastName', 'preferredLocation']).map(({ isId }) => isId);
    expect(ids).toEqual([true, false, true]);
  });
});

describe('valueAt and cellText', () => {
  const record = {
    id: 7,
    a: null,
    b: 'x',
    c: [1, { d: 2 }],
    e: { f: 1 },
    preferredLocation: { id: 5 },
    g: false,
    h: 0,
  };
  it.each([
    ['id', '7'],
    ['a', ''],
    ['missing', ''],
    ['b', 'x'],
    ['c', '[1,{"d":2}]'],
    ['e', '{"f":1}'],
    ['preferredLocation.id', '5'],
    ['a.id', ''],
    ['g', 'false'],
    ['h', '0'],
  ])('%s is %j', (name, text) => {
    expect(cellText(valueAt(record, { name, path: name.split('.'), isId: false }))).toBe(text);
  });
});

describe('project', () => {
  const record = { id: 1, lastName: 'Example', preferredLocation: { id: 5, type: 'Location' }, title: null };
  it.each([
    [undefined, record],
    [['lastName'], { lastName: 'Example' }],
    [['title', 'id'], { title: null, id: 1 }],
    [['preferredLocation.id'], { preferredLocation: { id: 5 } }],
    [['preferredLocation', 'preferredLocation.id'], { preferredLocation: { id: 5, type: 'Location' } }],
    [['title.id'], { title: null }],
    [['unknown'], { unknown: null }],
  ])('to %j', (selection, expected) => {
    expect(project(record, selection)).toEqual(expected);
  });
});

describe('selectedNames', () => {
  it.each([
    [undefined, undefined],
    ['', undefined],
    ['ALL', undefined],
    ['id,ALL', undefined],
    [' id , lastName ,id,', ['id', 'lastName']],
  ])('%j is %j', (text, names) => {
    expect(selectedNames(text)).toEqual(names);
  });
});
