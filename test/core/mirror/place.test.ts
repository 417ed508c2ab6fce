import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { databasePlace, defaultMirror, defaultReceipt } from '../../../src/core/mirror/place.ts';
import { wholeOf } from '../../../src/core/mirror/status.ts';
import type { ResourceState } from '../../../src/core/mirror/store.ts';
import { MIRROR_TABLES } from '../../../src/core/mirror/tables.ts';

const HOME = join('/', 'home', 'ann');
const named = (...path: string[]) => join(HOME, ...path);

describe('the place of a mirror', () => {
  it.each([
    ['linux', {}, named('.local', 'share', 'molar', 'mirror', 'east.db')],
    ['linux', { XDG_DATA_HOME: '' }, named('.local', 'share', 'molar', 'mirror', 'east.db')],
    ['linux', { XDG_DATA_HOME: named('data') }, named('data', 'molar', 'mirror', 'east.db')],
    ['darwin', {}, named('Library', 'Application Support', 'molar', 'mirror', 'east.db')],
    ['win32', {}, named('AppData', 'Local', 'molar', 'mirror', 'east.db')],
    ['win32', { LOCALAPPDATA: '' }, named('AppData', 'Local', 'molar', 'mirror', 'east.db')],
    [
      'win32',
      { LOCALAPPDATA: named('local'), APPDATA: named('roaming') },
      named('local', 'molar', 'mirror', 'east.db'),
    ],
    ['darwin', { MOLAR_CONFIG_DIR: named('config') }, named('config', 'mirror', 'east.db')],
  ] as const)('on %s with %j is %s', (platform, env, file) => {
    expect(defaultMirror('east', { HOME, ...env }, platform).replace(/^[A-Z]:/, '')).toBe(file);
  });

  it('without a profile is default.db', () => {
    expect(defaultMirror(undefined, { HOME }, 'linux')).toBe(named('.local', 'share', 'molar', 'mirror', 'default.db'));
  });

  it.each([{}, { HOME: '' }])('where %j names no home is in that of the user', (env) => {
    expect(defaultMirror('east', env, 'linux')).toBe(join(homedir(), '.local', 'share', 'molar', 'mirror', 'east.db'));
  });

  it('in a database with an address that says too much is told with what to do', () => {
    expect(() => databasePlace('postgres://db.example.com/practice?ssl=true', '--to', {})).toThrow(
      expect.objectContaining({ exitCode: 2, message: 'Use sslmode in place of ssl.' }),
    );
  });

  it('in a database has a name without its password, and a receipt in the data folder', () => {
    const place = databasePlace('postgres://ann:secret@db.example.com:5433/practice?schema=a%20b', '--to', {});
    expect(place).toMatchObject({
      name: 'postgres://ann@db.example.com:5433/practice?schema=a%20b',
      schema: 'a b',
    });
    expect(defaultReceipt(place, { HOME }, 'linux')).toBe(
      named('.local', 'share', 'molar', 'mirror', 'ann-db.example.com-5433-practice-schema-a-20b.verify.json'),
    );
    const plain = databasePlace('postgres://db.example.com/practice', '--to', {});
    expect(plain).toMatchObject({ kind: 'postgres', name: expect.stringMatching(/^postgres:\/\/db[^?@]*practice$/) });
    expect(plain.schema).toBeUndefined();
    // What is molar's own is not told to the database.
    expect(JSON.stringify(place.address)).not.toContain('schema');
    expect(defaultReceipt({ kind: 'file', name: '/a/b.db' }, { HOME }, 'linux')).toBe('/a/b.db.verify.json');
    expect(() => databasePlace('postgres://ann:sec ret@:x', '--to', {})).toThrow(/^(?!.*sec).*$/);
  });
});

describe('what is true of all tables together', () => {
  const state: ResourceState = {
    ...{ rows: 1, deletedRows: 0, complete: true, asOf: '2026-01-02T00:00:00.000Z', position: 'a-1' },
    ...{ changes: 'stream', deletes: 'stream', verifiedAt: null, unavailable: null, since: null, progress: null },
  };
  const whole = (...states: Partial<ResourceState>[]) =>
    wholeOf(new Map(states.map((each, index) => [MIRROR_TABLES[index] as never, { ...state, ...each }])));

  const older = { asOf: '2026-01-01T00:00:00.000Z' };
  const isNone = { complete: false, unavailable: 'HTTP 403', asOf: null, position: null };
  it.each([
    ['one', [{}], { complete: true, asOf: state.asOf, position: 'a-1' }],
    ['the older of two', [{}, older, {}], { complete: true, asOf: older.asOf, position: 'a-1' }],
    ['no position where they differ', [{}, { position: 'a-2' }], { complete: true, asOf: state.asOf, position: null }],
    ['nothing while one is not loaded', [{}, { complete: false }], { complete: false, asOf: null, position: null }],
    ['what the service gives', [{}, isNone], { complete: true, asOf: state.asOf, position: 'a-1' }],
    ['nothing where it gives none', [isNone], { complete: false, asOf: null, position: null }],
    [
      'also what it gives no longer',
      [{}, { ...older, unavailable: 'HTTP 403' }],
      { complete: true, asOf: older.asOf, position: 'a-1' },
    ],
  ] as const)('is %s', (_, states, expected) => {
    expect(whole(...states)).toEqual(expected);
  });
});
