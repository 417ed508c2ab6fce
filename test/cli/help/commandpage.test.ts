import { Config } from '@oclif/core/config';
import { describe, expect, it } from 'vitest';
import { commandPage } from '../../../src/cli/help/commandpage.ts';
import { ROOT } from '../../house/tree.ts';

const config = await Config.load({ root: ROOT });

type Part = Parameters<typeof commandPage>[0];

const command = (more: Partial<Part>): Part =>
  ({ id: 'a:list', aliases: [], args: {}, flags: {}, summary: 'List a', ...more }) as Part;

const synopsis = (more: Partial<Part>) =>
  /\.SH SYNOPSIS\n([\s\S]*?)\n\.SH/.exec(commandPage(command(more), config))?.[1];

describe('the synopsis of a manual page', () => {
  it.each<[string, Partial<Part>, string[]]>([
    [
      'is the usage that the command gives itself',
      { usage: '<%= command.id %> --location ID[,ID…]|ALL [FLAGS]' },
      ['.B "molar a list"', '.B \\-\\-location', '.I ID[,ID\\[u2026]]|ALL', '.RI [ flags ]'],
    ],
    [
      'is so for each alias',
      { usage: '<%= command.id %> ID', aliases: ['b:list'] },
      ['.B "molar a list"', '.I ID', '.br', '.B "molar b list"', '.I ID'],
    ],
    [
      'is so when the usage names the command in words',
      { id: 'api', usage: 'api [METHOD] PATH' },
      ['.B "molar api"', '.I [METHOD]', '.I PATH'],
    ],
    [
      'is there once where the command is its own alias, as oclif has it',
      { usage: '<%= command.id %> ID', aliases: ['a:list'] },
      ['.B "molar a list"', '.I ID'],
    ],
    [
      'has the arguments otherwise',
      { args: { id: { name: 'id', required: true }, more: { name: 'more' } } as unknown as Part['args'] },
      ['.B "molar a list"', '.I ID', '.RI [ MORE ]', '.RI [ flags ]'],
    ],
  ])('%s', (_, more, lines) => {
    expect(synopsis(more)?.split('\n')).toEqual(lines);
  });
});

describe('the options of a manual page', () => {
  it('are in the groups and the order of the help', () => {
    const flag = (name: string, helpGroup?: string) => ({ name, type: 'boolean', ...(helpGroup && { helpGroup }) });
    const flags = [flag('quiet'), flag('url', 'CONNECTION'), flag('yes'), flag('filter', 'FILTER')];
    const page = commandPage(
      command({ flags: Object.fromEntries(flags.map((each) => [each.name, each])) as Part['flags'] }),
      config,
    );
    expect(page.match(/^\.SS .*|^\.B \\-.*/gm)).toEqual([
      '.SS FILTER',
      '.B \\-\\-filter',
      '.SS FLAGS',
      '.B \\-\\-yes',
      '.SS CONNECTION',
      '.B \\-\\-url',
      '.SS OTHER',
      '.B \\-\\-quiet',
      '.B \\-\\-help',
    ]);
  });
});
