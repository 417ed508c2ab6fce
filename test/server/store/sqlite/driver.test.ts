import { expect, test } from 'vitest';
import { isDriverFault, isSafeVersion } from '../../../../src/server/store/sqlite/open.ts';

test.each<[string, unknown, boolean]>([
  ['the native part was never built', new Error('Could not locate the bindings file. Tried:\n → build/x.node'), true],
  [
    'it was built for another Node',
    Object.assign(new Error('NODE_MODULE_VERSION 108'), { code: 'ERR_DLOPEN_FAILED' }),
    true,
  ],
  ['the file is no database', Object.assign(new Error('file is not a database'), { code: 'SQLITE_NOTADB' }), false],
  ['the folder may not be read', Object.assign(new Error('EACCES'), { code: 'EACCES' }), false],
  ['something that is no error', 'text', false],
])('a driver that cannot be loaded is told from a database that cannot be opened: %s', (_name, cause, expected) => {
  expect(isDriverFault(cause)).toBe(expected);
});

test.each([
  ['3.51.2', false],
  ['3.51.3', true],
  ['3.53.2', true],
  ['4.0.0', true],
  ['3.44.5', false],
  ['3.44.6', true],
  ['3.50.7', true],
  ['3.50.6', false],
])('SQLite %s keeps committed writes: %s', (version, expected) => {
  expect(isSafeVersion(version)).toBe(expected);
});
