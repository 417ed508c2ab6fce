import { Args, Flags, Parser } from '@oclif/core';
import { describe, expect, it } from 'vitest';
import { asksForJson, noCommand, unknownCommand, usageFailureOf } from '../../../src/cli/errors/usage.ts';

const flags = {
  limit: Flags.string(),
  format: Flags.string({ options: ['csv', 'json'] }),
  json: Flags.boolean(),
  must: Flags.string({ required: true }),
};
const args = { id: Args.string({ required: true, ignoreStdin: true }) };
const SHAPE = { name: 'things get', flagNames: Object.keys(flags) };

async function messageOf(argv: readonly string[]): Promise<string | undefined> {
  const error = await Parser.parse([...argv], { flags, args }).catch((cause: unknown) => cause);
  const failure = usageFailureOf(error, SHAPE);
  expect(failure?.exitCode).toBe(2);
  expect(JSON.stringify({ ...failure, message: failure?.message })).not.toContain('hunter2');
  return failure?.message;
}

describe('usageFailureOf', () => {
  it.each([
    ['an unknown flag', ['5', '--limt', 'hunter2'], 'molar things get does not know --limt. Did you mean --limit?'],
    ['with a value', ['5', '--token=hunter2'], 'molar things get does not know --token.'],
    ['several', ['5', '--xx', '--yy'], 'molar things get does not know --xx, --yy.'],
    ['a short one', ['5', '-hunter2'], 'molar things get does not know a short option.'],
    ['no argument', ['--must', 'x'], 'ID is missing.'],
    [
      'an argument too many',
      ['5', 'hunter2', '--must', 'x'],
      'There is an argument that molar things get does not take.',
    ],
    ['several', ['5', 'hunter2', 'x', '--must', 'x'], 'There are 2 arguments that molar things get does not take.'],
    ['an option', ['5', '--format', 'hunter2'], '--format must be one of csv, json.'],
    ['an option nearly right', ['5', '--format', 'cvs'], '--format must be one of csv, json. Did you mean csv?'],
    ['no option', ['5', '--format'], '--format needs a value: one of csv, json.'],
    ['no value', ['5', '--limit'], '--limit needs a value.'],
    ['a flag for a value', ['5', '--limit', '--json'], '--limit needs a value.'],
    ['a flag twice', ['5', '--limit', 'hunter2', '--limit', '2'], '--limit can be given only once.'],
    ['a flag that is required', ['5'], '--must is required.'],
  ])('tells %s: %j', async (_name, argv, message) => {
    expect(await messageOf(argv)).toBe(message);
  });

  it('leaves other errors alone', () => {
    expect(usageFailureOf(new Error('x'), SHAPE)).toBeUndefined();
    expect(usageFailureOf('x', SHAPE)).toBeUndefined();
  });
});

describe('unknownCommand', () => {
  const known = ['patients list', 'patients get', 'documents upload', 'serve'];
  it.each([
    [['patients', 'lst'], 'molar patients list'],
    [['pateints', 'list'], 'molar patients list'],
    [['serv'], 'molar serve'],
    [['documnts', 'frobnicate'], 'molar documents'],
    [['frobnicate'], undefined],
  ])('%j: %s', (words, near) => {
    const { message } = unknownCommand(words, known);
    expect(message).toBe(`There is no such command.${near === undefined ? '' : ` Did you mean ${near}?`}`);
  });
});

describe('what the API does not have', () => {
  it.each([
    [
      ['patients', 'delete', '5'],
      'The API cannot delete patients.',
      'molar patients update ID --patient-status INACTIVE',
    ],
    [['providers'], 'The API has no list of providers', 'molar names list --kind provider'],
    [['locations', 'list'], 'The API has no list of locations', 'molar names list --kind location'],
    [['operatories'], 'The API has no list of operatories', 'molar names list --kind operatory'],
  ])('%j leads to what there is', (words, message, hint) => {
    for (const failure of [unknownCommand(words, known), noCommand(words, known)]) {
      expect(failure).toMatchObject({ exitCode: 2, message: expect.stringContaining(message) });
      expect(failure.hint).toContain(hint);
    }
  });
  const known = ['patients list', 'profiles list', 'events delete'];

  it('is nothing that every object has', () => {
    expect(unknownCommand(['constructor'], known).message).toBe('There is no such command.');
  });
});

describe('the next step', () => {
  it.each([
    [['patients', 'lst'], 'molar patients --help lists the commands.'],
    [['frobnicate'], 'molar --help lists the commands.'],
  ])('of %j', (words, hint) => {
    expect(unknownCommand(words, ['patients list', 'serve']).hint).toBe(hint);
  });
});

describe('noCommand', () => {
  const known = ['patients list', 'patients billingtypes set', 'serve'];
  it.each([
    [[], 'The command comes first, and its flags after it.'],
    [['patients'], 'molar patients needs a command after it: list, billingtypes set.'],
    [['patients', 'billingtypes'], 'molar patients billingtypes needs a command after it: set.'],
    [['patient'], 'There is no such command. Did you mean molar patients?'],
    [['serve', 'x'], 'There is no such command. Did you mean molar serve?'],
  ])('after %j', (words, message) => {
    expect(noCommand(words, known)).toMatchObject({ message, exitCode: 2 });
  });
});

describe('asksForJson', () => {
  const takesValue = (flag: string) => ['filter', 'format', 'out'].includes(flag);
  it.each([
    [[], false],
    [['--json'], true],
    [['5', '--x', '--json'], true],
    [['--format', 'json'], true],
    [['--format=json'], true],
    [['--format', 'csv'], false],
    [['--format'], false],
    [['--filter', '--json'], false],
    [['--filter=x', '--json'], true],
    [['--out', '--format', 'json'], false],
    [['--', '--json'], false],
    [['json'], false],
  ])('%j: %s', (argv, expected) => {
    expect(asksForJson(argv, takesValue)).toBe(expected);
  });
});
