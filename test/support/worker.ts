import { expect } from 'vitest';
import { attend } from '../../src/filesystem/held.ts';
import { hashQuickly } from './quickhashes.ts';

const ENDS = Symbol.for('molar-tests-worker-ends');

// vitest ends its workers, but nothing does when vitest itself was killed: they would go on for as long as their tests.
if (!process.listeners('disconnect').some((listener) => ENDS in listener)) {
  process.once(
    'disconnect',
    Object.assign(() => process.kill(process.pid, 'SIGKILL'), { [ENDS]: true }),
  );
}

// A command that an earlier file of this process has run, and interrupted, leaves its signal, which would end every wait.
attend({ say: () => undefined });

// Servers of these tests are in the process of the tests, and nobody else compares a secret with what they have stored.
hashQuickly(/[\\/]test[\\/](contract|server)[\\/]/.test(expect.getState().testPath ?? ''));
