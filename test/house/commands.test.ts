import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandLines, manifestCommands } from './commands.ts';
import { ROOT } from './tree.ts';

const PINNED = 'test/house/commands.txt';

describe('commands, arguments, flags and aliases', () => {
  it('are those that are pinned', async () => {
    const hint = `Meant? Then run: npx vitest run test/house/commands.test.ts --update, read the change of ${PINNED}, and tell it in CHANGELOG.md.`;
    await expect(commandLines(manifestCommands()), hint).toMatchFileSnapshot('./commands.txt');
  });

  it('are pinned in a file that is not empty', () => {
    expect(readFileSync(join(ROOT, PINNED), 'utf8')).toContain('\nmolar patients list\n');
  });
});

describe('the list', () => {
  const list = { id: 'a:list', args: {}, flags: { all: { name: 'all', type: 'boolean' } } };

  it('shows what scripts rely on', () => {
    const get = {
      id: 'a:get',
      aliases: ['b:get'],
      strict: false,
      args: { id: { name: 'id', required: true } },
      flags: {
        tag: { name: 'tag', type: 'option', char: 't', multiple: true },
        form: { name: 'form', type: 'option', options: ['x', 'y'], default: 'x' },
      },
    };
    expect(commandLines([list, get])).toBe(
      [
        'molar a get alias:b get any-arguments',
        '  ID required',
        '  --form option default="x" one-of:x|y',
        '  --tag -t option repeatable',
        'molar a list',
        '  --all boolean',
        '',
      ].join('\n'),
    );
  });

  it.each([
    ['a type', { ...list, flags: { all: { name: 'all', type: 'option' } } }],
    ['a missing flag', { ...list, flags: {} }],
    ['an alias', { ...list, aliases: ['c'] }],
    ['a name', { ...list, id: 'a:all' }],
  ])('tells %s apart', (_, changed) => {
    expect(commandLines([changed])).not.toBe(commandLines([list]));
  });
});
