import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Config } from '@oclif/core/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESOURCES } from '../../src/catalog/catalog.ts';
import { runCommand } from '../cli/runcommand.ts';
import { problem, Script } from '../core/transport/script.ts';
import { manifestCommands } from '../house/commands.ts';
import { commandLinesOf, wrongCommandLine } from '../house/docs.ts';
import { ROOT } from '../house/tree.ts';

const config = await Config.load({ root: ROOT });
const shown = config.commands.filter((command) => !command.hidden);

/** Every example as a line that can be pasted, with the id of its command. */
const LINES = shown.flatMap(({ id, examples = [] }) =>
  examples.map((example): readonly [id: string, line: string] => [
    id,
    (typeof example === 'string' ? example : example.command)
      .replaceAll('<%= config.bin %>', config.bin)
      .replaceAll('<%= command.id %>', id.replaceAll(':', ' ')),
  ]),
);

/**
 * Lines that are run here: of commands on one resource, since others start servers, write settings or ask people; but
 * not one that goes on from the results of another.
 */
const RUN = LINES.filter(
  ([id, line]) => RESOURCES.some(({ name }) => id.startsWith(`${name}:`)) && !line.includes('molar-results.csv'),
);

/** Files that examples read. */
const FILES: Readonly<Record<string, string>> = {
  'patient.json': JSON.stringify({
    firstName: 'Ann',
    lastName: 'Example',
    gender: 'F',
    dateOfBirth: '1990-04-12',
    patientStatus: 'NEW',
    contactMethod: 'Email me',
    languageType: 'English',
    preferredLocation: { id: 1000000000001 },
    address1: '1 Main St',
    city: 'Denver',
    state: 'CO',
    postalCode: '80202',
  }),
  'appointment.json':
    '{"start":"2026-12-01T09:00","patient":{"id":7000000000114},"provider":{"id":1100000000001},"operatory":{"id":1200000000001}}',
  'tag.json': '{"tagText":"Refund","tagType":"PAYMENT_TAG","isPredefined":false}',
  'scan.pdf': '%PDF-1.4\n%%EOF\n',
  'consent.pdf': '%PDF-1.4\n%%EOF\n',
  'photo.jpg': '\u00ff\u00d8\u00ff\u00e0',
  'photo.png': '\u0089PNG\r\n\u001a\n',
  'scans/7000000000114_Ann/Consent/2026-03-02-consent.pdf': '%PDF-1.4\n%%EOF\n',
  'scans.csv': 'file,name,patient,perioExam,tags,mimeType\nscan.pdf,Scan,7000000000114,,,\n',
};

let folder: string;
let before: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'molar-examples-'));
  mkdirSync(join(folder, 'scans', '7000000000114_Ann', 'Consent'), { recursive: true });
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text, 'latin1');
  before = process.cwd();
  process.chdir(folder);
});

// The folder goes with the folder of the run: Windows removes none that is still the working directory of a process.
afterAll(() => process.chdir(before));

/** The words after the names of the command, from the part of a line that runs it, without redirections. */
function argumentsOf(line: string, names: readonly string[]): string[] {
  const commands = names.map((name) => `molar ${name.replaceAll(':', ' ')}`);
  const parts = line.split(' | ').flatMap((part) => {
    const command = commands.find((each) => part.startsWith(each));
    return command === undefined ? [] : [part.slice(command.length)];
  });
  const words = (parts[0] ?? '').replace(/ [<>] \S+/g, '').match(/(?:'[^']*'|[^\s'])+/g) ?? [];
  return words.map((word) => word.replaceAll("'", ''));
}

describe('examples', () => {
  it('stand with every command', () => {
    expect(shown.filter(({ examples = [] }) => examples.length === 0).map(({ id }) => id)).toEqual([]);
  });

  it('name commands and flags that exist', () => {
    const manifest = Object.fromEntries(
      manifestCommands().flatMap((command) => {
        const flags = Object.values(command.flags).flatMap(({ name, aliases = [] }) => [name, ...aliases]);
        const known = { flags: Object.fromEntries(flags.map((name) => [name, true])) };
        return [command.id, ...(command.aliases ?? [])].map((id) => [id, known] as const);
      }),
    );
    const wrong = commandLinesOf(
      `\`\`\`\n${LINES.filter(([, line]) => !/molar --/.test(line))
        .map(([, line]) => line)
        .join('\n')}\n\`\`\`\n`,
    )
      .map((line) => wrongCommandLine(line, manifest))
      .filter((message) => message !== undefined);
    expect(wrong).toEqual([]);
  });

  it.each(RUN.map(([id, line]) => [line, id]))('can be pasted: %s', async (line, id) => {
    rmSync(join(folder, 'molar-results.csv'), { force: true });
    const { default: command } = await import(join(ROOT, 'src', 'commands', `${id.replaceAll(':', '/')}.ts`));
    const { aliases } = config.findCommand(id, { must: true });
    const none = problem(404, 'record.not_found', 'id', 'There is no such record.');
    const script = new Script(...Array.from({ length: 50 }, () => () => none));
    const ran = await runCommand(id, command, argumentsOf(line, [id, ...aliases]), {
      script,
      ...(!/ [|>] /.test(line) && { terminal: 100 }),
      confirm: () => Promise.resolve(true),
      stdin: id === 'documents:upload' ? (FILES['scan.pdf'] ?? '') : 'id\n8000000000001\n',
    });
    // Without records on the server, what is well formed gets as far as an answer of it (4, or 6 for many).
    const refusal = [1, 2, 9].includes(ran.exitCode) ? ran.stderr : '';
    const asked = script.requests.length > 0 || /--dry-run|--check/.test(line);
    expect({ refusal, asked }).toEqual({ refusal: '', asked: true });
  });
});
