import { expect, test } from 'vitest';
import { StoreFault } from '../../../../src/server/store/faults.ts';
import { isLost, storeFault } from '../../../../src/server/store/postgres/faults.ts';

/** What the driver throws for an answer of the database. */
const answered = (code: string) => Object.assign(new Error('secret detail'), { code, severity: 'ERROR' });

test.each([
  ['a disk that is full', '53100', 'STORE_FULL', false],
  ['a process that was ended', '57P01', 'STORE_AWAY', true],
  ['a statement that took too long', '57014', 'STORE_TIMEOUT', false],
])('%s (%s) is %s', (_name, state, code, lost) => {
  const fault = storeFault(answered(state));
  expect(fault).toBeInstanceOf(StoreFault);
  expect(fault).toMatchObject({ code });
  expect(String(fault)).not.toContain('secret detail');
  expect(isLost(fault)).toBe(lost);
});

// An SQLSTATE has five capital letters or digits, and so has EPIPE.
test.each(['EPIPE', 'ECONNRESET'])('a connection that breaks (%s) is STORE_AWAY', (code) => {
  const fault = storeFault(Object.assign(new Error(`write ${code}`), { code, syscall: 'write' }));
  expect(fault).toMatchObject({ code: 'STORE_AWAY', message: `The database is unavailable: ${code}.` });
  expect(isLost(fault)).toBe(true);
});
