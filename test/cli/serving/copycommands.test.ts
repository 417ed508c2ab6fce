import { expect, it } from 'vitest';
import { backupText, migrationText, outcomeOf, restoreText, sideOf } from '../../../src/cli/serving/copycommands.ts';

const BACKUP: Parameters<typeof backupText>[0] = {
  backup: '/backups/one',
  takenAt: '2026-11-21T23:09:47.063Z',
  rows: 64322,
  files: 361,
  shared: 0,
  bytes: 37_600_000,
  sha256: 'ab12',
  checked: true,
  problems: [],
};

it('a backup tells what it has', () => {
  expect(backupText(BACKUP)).toBe(
    'Backed up 64,322 rows and 361 files, 37.6 MB, to /backups/one.\nIt holds the state of 2026-11-21T23:09:47.063Z; SHA-256 of its database: ab12\n',
  );
  expect(backupText({ ...BACKUP, shared: 300 })).toContain(
    '\n300 of the files are links: other backups in that folder have them, too.\n',
  );
  expect(outcomeOf(BACKUP, {}, backupText).exitCode).toBe(0);
});

it('a backup tells what the data had before, some of it', () => {
  const problems = Array.from({ length: 12 }, (_, index) => `${index} is missing`);
  const lines = backupText({ ...BACKUP, checked: false, problems }).split('\n');
  expect(lines.slice(2)).toEqual([
    'The data is from another version of molar: its records were not checked.',
    'The data already had problems, which the copy has too:',
    ...problems.slice(0, 10).map((line) => `  ${line}`),
    '  and 2 more',
    '',
  ]);
  expect(outcomeOf({ ...BACKUP, problems }, {}, backupText).exitCode).toBe(6);
});

it('a restore and a migration tell what they did', () => {
  const report = { backup: '/b', to: '/d', takenAt: 'then', rows: 1000, files: 2, problems: [] };
  expect(restoreText(report)).toBe(
    'Restored 1,000 rows and 2 files to /d, compared with the backup and checked.\nIt holds the state of then.\n',
  );
  const moved = { from: '/d', to: 'db/molar', tables: { patients: 1000 }, rows: 1000, problems: [] };
  expect(migrationText({ ...moved, files: { count: 2, bytes: 1_500_000 } })).toContain('2 files, 1.5 MB, were copied');
  expect(migrationText({ ...moved, files: null })).toContain('stay where they are');
});

it.each([
  ['a folder', { from: './d' }, { data: './d' }],
  ['a folder with files elsewhere', { from: 'd', 'files-from': 's3://b/p' }, { data: 'd', files: 's3://b/p' }],
  [
    'a database',
    { from: 'postgres://h/n' },
    { data: expect.any(String), database: 'postgres://h/n', auditKey: expect.stringMatching(/^.h.*molar.audit\.key$/) },
  ],
])('a side of a migration is %s', (_name, flags, place) => {
  expect(sideOf(flags, 'from', { HOME: '/h' })).toEqual(place);
});
