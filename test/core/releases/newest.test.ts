import { describe, expect, it } from 'vitest';
import { isLater } from '../../../src/core/releases/newest.ts';

describe('the order of versions', () => {
  // The example of semver.org (item 11), and numbers that a comparison of texts gets wrong.
  const ORDER = [
    '0.9.9',
    '0.10.0',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
    '1.0.1',
    '2.0.0',
    '10.0.0',
  ];

  it('is that of semver.org', () => {
    for (const [i, a] of ORDER.entries()) {
      for (const [j, b] of ORDER.entries()) expect([a, b, isLater(a, b)]).toEqual([a, b, i > j]);
    }
  });
});
