import { describe, expect, it } from 'vitest';
import { inGroups } from '../../../src/cli/help/commandhelp.ts';

describe('inGroups', () => {
  it('orders groups by what they are about, and keeps the order within', () => {
    const flags = [
      { name: 'url', helpGroup: 'CONNECTION' },
      { name: 'quiet' },
      { name: 'resume', helpGroup: 'EXPORT' },
      { name: 'yes' },
      { name: 'zone', helpGroup: 'NEW' },
      { name: 'out', helpGroup: 'OUTPUT' },
      { name: 'format', helpGroup: 'OUTPUT' },
      { name: 'filter', helpGroup: 'FILTER' },
      { name: 'last-name', helpGroup: 'FIELDS' },
    ];
    expect(inGroups(flags).map(({ name, flags: own }) => [name, ...own.map((flag) => flag.name)])).toEqual([
      ['FILTER', 'filter'],
      ['FIELDS', 'last-name'],
      ['', 'yes'],
      ['OUTPUT', 'out', 'format'],
      ['EXPORT', 'resume'],
      ['CONNECTION', 'url'],
      ['NEW', 'zone'],
      ['OTHER', 'quiet'],
    ]);
  });
});
