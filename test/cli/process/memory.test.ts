import { describe, expect, it } from 'vitest';
import { periodicCollector } from '../../../src/cli/process/memory.ts';

describe('memoryKeeper', () => {
  it('frees what is garbage', () => {
    const keep = periodicCollector();
    keep(24_999);
    const held = new WeakRef({ rows: Array.from({ length: 1000 }, () => 'x') });
    return new Promise<void>((done) => {
      setTimeout(() => {
        keep(25_000);
        expect(held.deref()).toBeUndefined();
        done();
      });
    });
  });
});
