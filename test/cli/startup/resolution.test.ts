import type { Config } from '@oclif/core/interfaces';
import { describe, expect, it } from 'vitest';
import { leadingWords, resolveCommand, showHelp } from '../../../src/cli/startup/resolution.ts';

const ids = ['patients:list', 'patients:billingtypes:set', 'serve', 'export', 'export:bookmarks:list'];
const config = {
  commands: ids.map((id) => ({ id, hidden: false })),
  findCommand: (id: string) => (ids.includes(id) ? { id } : undefined),
  findTopic: (name: string) => (ids.some((id) => id.startsWith(`${name}:`)) ? { name } : undefined),
} as unknown as Config;

describe('leadingWords', () => {
  it.each([
    [[], []],
    [
      ['patients', 'list'],
      ['patients', 'list'],
    ],
    [['patients', '--json', 'list'], ['patients']],
    [['-h', 'x'], []],
  ])('of %j are %j', (argv, words) => {
    expect(leadingWords(argv)).toEqual(words);
  });
});

describe('resolveCommand', () => {
  it.each([
    [['patients', 'list'], 'patients:list', []],
    [['patients:list'], 'patients:list', []],
    [['patients', 'list', 'list', 'x'], 'patients:list', ['list', 'x']],
    [['patients', 'billingtypes', 'set', '5'], 'patients:billingtypes:set', ['5']],
    [['serve', 'patients', 'list'], 'serve', ['patients', 'list']],
    [['patients'], undefined, ['patients']],
    [['export', 'patients', 'events'], 'export', ['patients', 'events']],
    [['export', 'bookmarks'], undefined, ['export', 'bookmarks']],
    [['export', 'bookmarks', 'lst'], undefined, ['export', 'bookmarks', 'lst']],
    [['export', 'bookmarks', 'list'], 'export:bookmarks:list', []],
    [['patients', 'lst'], undefined, ['patients', 'lst']],
    [[], undefined, []],
  ])('of %j is %s', (words, id, rest) => {
    expect(resolveCommand(words, config)).toEqual(id === undefined ? { rest } : { id, rest });
  });
});

describe('showHelp', () => {
  it.each([[['patients', 'lst']], [['frobnicate']], [['patients', 'billingtypes', 'sett']]])(
    'refuses %j',
    async (words) => {
      await expect(showHelp(words, config)).rejects.toMatchObject({ code: 'usage.invalid', exitCode: 2 });
    },
  );
});
