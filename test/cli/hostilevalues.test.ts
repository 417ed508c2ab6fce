import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../src/catalog/catalog.ts';
import type { Resource } from '../../src/catalog/define.ts';
import { FORMATS, formatsFor, type OutputKind } from '../../src/core/output/formats.ts';
import { eventOf, messageOf, streamAnswer } from '../core/stream/messages.ts';
import { ListScript, Script, success } from '../core/transport/script.ts';
import { HARMFUL, POISON } from './poison.ts';
import { type Ran, runCommand, type World } from './runcommand.ts';

const VALUES: readonly (readonly [string, unknown])[] = [
  ['text', POISON],
  ['lists of texts', [POISON, [POISON]]],
  ['objects', { [POISON]: POISON, id: { [POISON]: [POISON] } }],
  ['null', null],
  ['true', true],
  ['numbers beyond measure', 1.7976931348623157e308],
  ['empty lists', []],
  ['empty objects', {}],
  ['keys that make other objects', JSON.parse('{"__proto__": {"id": 5}, "constructor": 1, "toString": 2, "then": 3}')],
];

const recordOf = (resource: Resource, value: unknown): Record<string, unknown> => ({
  ...Object.fromEntries(Object.keys(resource.fields ?? {}).map((name) => [name, value])),
  id: 1,
  [POISON]: value,
});

const FLAGS: Readonly<Record<string, readonly string[]>> = {
  'scheduletemplatereasons list': ['--location', '5'],
  'scheduleopenings list': ['--location', '5', '--from', '2026-03-02', '--to', '2026-03-03'],
  'agingbalances report': ['--location', '5'],
  'locationproductionnetschedule report': ['--from', '2026-03-02'],
  'imageattachments list': ['--async'],
};

/** Every format of the table that a terminal gets. */
const shownFormats = (kind: OutputKind) => formatsFor(kind).filter((format) => FORMATS[format].terminal !== 'refused');

/** Lines that meet every value in every format; one of each kind of output. */
const THOROUGH = ['patients list', 'patients get', 'agingbalances report'];

/** Of other lines text does, and each other value meets the table and, in turn, one more: what formats do is the same for all. */
function formatsOf(line: string, kind: OutputKind, value: unknown, turn: number) {
  const all = shownFormats(kind);
  if (value === POISON || THOROUGH.includes(line)) return all;
  return all.filter((format, at) => format === 'table' || at === turn % all.length);
}

const KINDS = { list: 'rows', get: 'record', report: 'report' } as const satisfies Record<string, OutputKind>;

const VERBS = ['list', 'get', 'report'] as const;

const COMMANDS = RESOURCES.flatMap((resource) =>
  VERBS.filter((verb) => resource.operations[verb] !== undefined).map((verb) => ({
    line: `${resource.name} ${verb}`,
    resource,
    verb,
  })),
);

async function ran(line: string, argv: readonly string[], world: World): Promise<Ran> {
  const [topic = '', verb = ''] = line.split(' ');
  const { default: command } = (await import(`../../src/commands/${topic}/${verb}.ts`)) as { default: unknown };
  return runCommand(`${topic}:${verb}`, command, argv, world);
}

/** Pages of a command whose records, and what stands around them, hold a value everywhere. */
function pagesOf(resource: Resource, verb: string, value: unknown): Script {
  const record = recordOf(resource, value);
  if (verb === 'get') return new Script(success(record, around(value)));
  const rows =
    resource.name === 'agingbalances' ? { ...record, patientReports: [record, { ...record, id: '2' }] } : [record];
  const meta = { pagination: { page: 1, limit: 1000, total: 1 }, [POISON]: value };
  const none = () => success([]);
  return new Script(success(rows, { ...around(value), meta }), ...Array.from({ length: 8 }, none));
}

const around = (value: unknown) => ({ warnings: [{ title: value, description: value, source: value }, value, POISON] });

describe.each(COMMANDS)('$line', ({ line, resource, verb }) => {
  const argv = [...(verb === 'get' ? ['1'] : []), ...(FLAGS[line] ?? [])];
  const run = (value: unknown, format: string, terminal?: number) =>
    ran(line, [...argv, '--format', format, '--max-retries', '0'], {
      script: pagesOf(resource, verb, value),
      ...(terminal !== undefined && { terminal }),
    });

  const first = COMMANDS.findIndex((one) => one.line === line);
  const turns = VALUES.map(([name, value], at) => [name, value, first + at] as const);

  it.each(turns)('shows nothing harmful on a terminal with %s in every field', async (_name, value, turn) => {
    for (const format of formatsOf(line, KINDS[verb], value, turn)) {
      const { exitCode, stdout, stderr } = await run(value, format, 100);
      // The values have no tabs: those there are part cells.
      expect((stdout + stderr).replaceAll('\t', ' '), format).not.toMatch(HARMFUL);
      // A report that has to add up what it was given may refuse it.
      expect([exitCode, stderr]).toEqual(
        verb === 'report' && exitCode !== 0
          ? [8, expect.stringMatching(/The server sent|cannot be read/)]
          : [0, expect.anything()],
      );
    }
  });
});

describe('other output on a terminal', () => {
  it.each(VALUES)('has nothing harmful in messages and raw responses with %s in every field', async (_name, value) => {
    const payload = { id: 1, type: 'PatientV1', [POISON]: value };
    const message = messageOf(41, { payload, domainType: POISON, locationId: POISON });
    for (const format of shownFormats('messages')) {
      const world = { script: new Script(streamAnswer([eventOf(message)])), terminal: 100 };
      const { exitCode, stdout, stderr } = await ran('stream listen', ['--limit', '1', '--format', format], world);
      expect([exitCode, stdout === '']).toEqual([0, false]);
      expect(stdout + stderr, format).not.toMatch(HARMFUL);
    }
    for (const format of shownFormats('value')) {
      const script = new Script(success({ id: 1, [POISON]: value }, around(value)));
      const { default: command } = await import('../../src/commands/api.ts');
      const { exitCode, stdout, stderr } = await runCommand('api', command, ['patients/1', '--format', format], {
        ...{ script, terminal: 100 },
      });
      expect([exitCode, stdout === '']).toEqual([0, false]);
      expect(stdout + stderr, format).not.toMatch(HARMFUL);
    }
  });

  it.each(formatsFor('report').filter((format) => FORMATS[format].terminal === 'refused'))(
    'is refused as %s, which is no text',
    async (format) => {
      const { exitCode, stdout } = await ran('patients list', ['--format', format], { terminal: 100 });
      expect([exitCode, stdout]).toEqual([2, '']);
    },
  );
});

describe('what a program reads', () => {
  it.each(['json', 'ndjson'])('is exactly what was sent as %s, on a terminal too', async (format) => {
    for (const [, value] of VALUES) {
      for (const terminal of [undefined, 100]) {
        const world = { script: new ListScript(success([{ id: 1, lastName: value }]), success([])) };
        const argv = ['--format', format, '--fields', 'id,lastName'];
        const { stdout } = await ran('patients list', argv, { ...world, ...(terminal !== undefined && { terminal }) });
        const [record] = [JSON.parse(stdout)].flat();
        expect(JSON.stringify(record)).toBe(JSON.stringify({ id: 1, lastName: value }));
      }
    }
  });
});
