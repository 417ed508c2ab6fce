import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { patientFolderRow } from '../../../../src/core/documents/layouts/patientfolders.ts';

const row = (file: string, root = 'scans', folder = '/somewhere') =>
  patientFolderRow(join(root, ...file.split('/')), root, folder);

describe('--layout patient-folders', () => {
  it.each([
    ['7000000000114_Smith/2026-01-02-Bitewing.jpg', { patient: '7000000000114', name: 'Bitewing', tags: [] }],
    ['7000000000114_Smith/X-Ray/2026-01-02-Bitewing left.jpg', { name: 'Bitewing left', tags: ['X-Ray'] }],
    ['5_/2026-01-02-a.b.PDF', { patient: '5', name: 'a.b' }],
    ['0005_Smith_Ann/Before; after/2026-01-02-a.pdf', { patient: '5', tags: ['Before; after'] }],
    ['5_x/2026_x/2026-01-02-2026-01-03.pdf', { patient: '5', tags: ['2026_x'], name: '2026-01-03' }],
  ])('reads %s', (file, expected) => {
    const read = row(file);
    expect(read).toMatchObject({ ...expected, userDefinedDate: '2026-01-02', file: join('scans', file) });
    expect(read.problem).toBeUndefined();
  });

  it.each([
    ["a patient's own folder", '7_Smith', 'X-Ray/2026-01-02-a.pdf', { patient: '7', tags: ['X-Ray'] }],
    ["a patient's own folder, without tags", 'all/7_Smith', '2026-01-02-a.pdf', { patient: '7', tags: [] }],
    ['the current folder', '.', '2026-01-02-a.pdf', { patient: '8', tags: [] }],
    ['the folder above', '..', '8_here/2026-01-02-a.pdf', { patient: '8', tags: [] }],
  ])('reads what was given as %s', (_, root, file, expected) => {
    const read = row(file, root, '/data/8_here');
    expect(read).toMatchObject(expected);
    expect(read.problem).toBeUndefined();
  });

  it.each([
    ['Smith/2026-01-02-a.pdf', 'no folder above it begins with a patient id'],
    ['114/2026-01-02-a.pdf', 'no folder above it begins with a patient id'],
    ['0_none/2026-01-02-a.pdf', 'no folder above it begins with a patient id'],
    ['2026-01-02-a.pdf', 'no folder above it begins with a patient id'],
    ['5_x/a.pdf', 'its name does not begin with a date'],
    ['5_x/2026-02-30-a.pdf', 'its name does not begin with a date'],
    ['5_x/2026-01-02.pdf', 'its name does not begin with a date'],
    ['5_x/2026-01-02-', 'its name does not begin with a date'],
    ['5_x/tag/more/2026-01-02-a.pdf', 'it is too deep'],
  ])('refuses %s', (file, problem) => {
    const patient = file.startsWith('5_x/') ? '5' : '?';
    const unknown = { patient, userDefinedDate: '?', tags: [] };
    expect(row(file)).toEqual({ file: join('scans', file), ...unknown, problem: expect.stringContaining(problem) });
  });

  it('refuses to choose between two patients', () => {
    expect(row('6_Jones/2026-01-02-a.pdf', '5_Smith')).toEqual({
      file: join('5_Smith', '6_Jones', '2026-01-02-a.pdf'),
      patient: '?',
      userDefinedDate: '?',
      tags: [],
      problem: '5_Smith and 6_Jones both begin with a patient id. Give the folder above 5_Smith.',
    });
  });
});
