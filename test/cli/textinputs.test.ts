import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import Api from '../../src/commands/api.ts';
import ConfigList from '../../src/commands/config/list.ts';
import DocumentsDelete from '../../src/commands/documents/delete.ts';
import DocumentsUpload from '../../src/commands/documents/upload.ts';
import Login from '../../src/commands/login.ts';
import NamesImport from '../../src/commands/names/import.ts';
import NamesList from '../../src/commands/names/list.ts';
import PatientsGet from '../../src/commands/patients/get.ts';
import PatientsUpdate from '../../src/commands/patients/update.ts';
import ProfilesList from '../../src/commands/profiles/list.ts';
import Query from '../../src/commands/query.ts';
import type { NetworkOptions } from '../../src/core/transport/network.ts';
import { answer, Script, success } from '../core/transport/script.ts';
import { PDF } from '../support/files.ts';
import { makeMirror } from '../support/mirrorfile.ts';
import { runCommand } from './runcommand.ts';

/** A folder for one run, its command line, and what is looked at afterwards besides the output. */
interface Run {
  readonly folder: string;
  /** Writes the text of this reader, encoded, and returns its path. */
  readonly given: Buffer;
  readonly file: string;
}

interface Reader {
  readonly text: string;
  /** Runs the real command; what it returns is compared with that of UTF-8. */
  readonly run: (run: Run) => Promise<unknown>;
  /** The exit code for bytes that are no text; 2 unless said. */
  readonly refused?: number;
  /** It is CSV. */
  readonly isTable?: true;
}

const certificate = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const scans = mkdtempSync(join(tmpdir(), 'molar-scans-'));
writeFileSync(join(scans, 'scan.pdf'), Buffer.from(PDF, 'base64'));
const person = '{\n "firstName": "Zoë 😀",\n "lastName": "Łuk"\n}\n';
const names = 'kind,id,name\nlocation,5,Zürich\nprovider,7,"a, b"\n';
const profile = { url: 'https://api.example.com', organization: 'Zoë', secret: { kind: 'token', token: 'a' } };
const config = JSON.stringify({ profile: 'work', profiles: { work: profile }, defaults: { timezone: 'Europe/Paris' } });
const statement = "SELECT 'Zoë 😀' AS name,\n 1 AS one\n";
const update = ['--data', 'F', '--dry-run', '5'];

/** What was sent with which token, and what came of it. */
async function asked(argv: readonly string[], stdin: Buffer | string = '') {
  const script = new Script(success({ id: 5 }));
  const ran = await runCommand('patients:get', PatientsGet, ['5', ...argv], {
    script,
    env: { MOLAR_TOKEN: '' },
    stdin,
  });
  return { ran, sent: script.requests.map(({ url, headers }) => [url, headers.authorization]) };
}

async function loggedIn(argv: readonly string[], { folder, given }: Run) {
  const issued = answer(200, { access_token: 'issued', token_type: 'Bearer', expires_in: 60 });
  const isClient = argv.includes('--client-id');
  const script = new Script(...(isClient ? [issued] : []), ...Array.from({ length: 40 }, () => success([])));
  const flags = ['--url', 'https://api.example.com', '--organization', 'o', ...argv];
  const ran = await runCommand('login', Login, flags, {
    script,
    stdin: given,
    env: { MOLAR_CONFIG_DIR: folder, MOLAR_TOKEN: '', MOLAR_KEYRING: 'off' },
  });
  return { ran, config: ran.exitCode === 0 && readFileSync(join(folder, 'config.json'), 'utf8') };
}

const READERS: Readonly<Record<string, Reader>> = {
  'patients update --data FILE': {
    text: person,
    run: ({ file }) => runCommand('patients:update', PatientsUpdate, update.with(1, file)),
  },
  'patients update --data -': {
    text: person,
    run: ({ given }) => runCommand('patients:update', PatientsUpdate, update.with(1, '-'), { stdin: given }),
  },
  'api --data FILE': {
    text: person,
    run: ({ file }) => runCommand('api', Api, ['POST', 'patients', ...update.with(1, file).slice(0, 3)]),
  },
  'documents delete -': {
    text: 'id\n5\n6\n',
    isTable: true,
    run: ({ given }) => runCommand('documents:delete', DocumentsDelete, ['-', '--dry-run'], { stdin: given }),
  },
  '--token-file': { text: 'a-token\n', run: ({ file }) => asked(['--token-file', file]) },
  '--token-stdin': { text: 'a-token\n', run: ({ given }) => asked(['--token-stdin'], given) },
  '--ca-cert': {
    text: certificate,
    // Words between certificates may be anything.
    refused: 0,
    async run({ file }) {
      const used: unknown[] = [];
      const openNetwork = ({ certificates = [] }: NetworkOptions) => {
        used.push(certificates.map((pem) => pem.replaceAll('\r', '')));
        return { send: async () => success({ id: 5 }), close: async () => {} };
      };
      return [await runCommand('patients:get', PatientsGet, ['5', '--ca-cert', file], { openNetwork }), used];
    },
  },
  'login --token-file': { text: 'a-token\n', run: (run) => loggedIn(['--token-file', run.file], run) },
  'login --client-secret-file': {
    text: 'a sëcret\n',
    run: (run) => loggedIn(['--client-id', 'me', '--client-secret-file', run.file], run),
  },
  'login --client-secret-stdin': {
    text: 'a sëcret\n',
    run: (run) => loggedIn(['--client-id', 'me', '--client-secret-stdin'], run),
  },
  'the config file': {
    text: config,
    refused: 9,
    async run({ folder, given }) {
      writeFileSync(join(folder, 'config.json'), given, { mode: 0o600 });
      const env = { MOLAR_CONFIG_DIR: folder };
      return [
        await runCommand('profiles:list', ProfilesList, ['--json'], { env }),
        await runCommand('config:list', ConfigList, ['--json'], { env }),
      ];
    },
  },
  'names import FILE': {
    text: names,
    isTable: true,
    async run({ folder, file }) {
      const env = { MOLAR_CONFIG_DIR: folder };
      const ran = await runCommand('names:import', NamesImport, [file], { env });
      return [ran, ran.exitCode === 0 && readFileSync(join(folder, 'names/default.csv'), 'utf8')];
    },
  },
  'names import -': {
    text: names,
    isTable: true,
    async run({ folder, given }) {
      const env = { MOLAR_CONFIG_DIR: folder };
      const ran = await runCommand('names:import', NamesImport, ['-'], { env, stdin: given });
      return [ran, ran.exitCode === 0 && readFileSync(join(folder, 'names/default.csv'), 'utf8')];
    },
  },
  'the names file': {
    text: names,
    isTable: true,
    refused: 9,
    run({ folder, given }) {
      mkdirSync(join(folder, 'names'));
      writeFileSync(join(folder, 'names/default.csv'), given);
      return runCommand('names:list', NamesList, ['--csv'], { env: { MOLAR_CONFIG_DIR: folder } });
    },
  },
  'documents upload --manifest': {
    text: `file,name,tags\n${join(scans, 'scan.pdf')},Röntgen,"a;b, c"\n`,
    isTable: true,
    run: ({ folder, file }) =>
      runCommand('documents:upload', DocumentsUpload, [
        ...['--manifest', file, '--dry-run', '--patient', '5', '--results', join(folder, 'r.csv')],
      ]),
  },
  'query --file FILE': { text: statement, run: ({ folder, file }) => queried(folder, ['--file', file]) },
  'query --file -': { text: statement, run: ({ folder, given }) => queried(folder, ['--file', '-'], given) },
  'query --name': {
    text: statement,
    run({ folder, given }) {
      mkdirSync(join(folder, 'queries'));
      writeFileSync(join(folder, 'queries/q.sql'), given);
      return queried(folder, ['--name', 'q']);
    },
  },
};

function queried(folder: string, argv: readonly string[], stdin: Buffer | string = '') {
  makeMirror(join(folder, 'mirror.db'));
  const from = ['--from', join(folder, 'mirror.db'), '--csv'];
  return runCommand('query', Query, [...argv, ...from], { stdin, env: { MOLAR_CONFIG_DIR: folder } });
}

const crlf = (text: string) => text.replaceAll('\n', '\r\n');
const marked = (text: string) => `\ufeff${text}`;

/** How Windows saves a text. */
const ENCODINGS: readonly (readonly [string, (text: string) => Buffer])[] = [
  ['UTF-8 with a mark, CRLF', (text) => Buffer.from(marked(crlf(text)))],
  ['UTF-16LE, CRLF', (text) => Buffer.from(marked(crlf(text)), 'utf16le')],
  ['UTF-16BE', (text) => Buffer.from(marked(text), 'utf16le').swap16()],
];

const TABLES: readonly (readonly [string, (text: string) => Buffer])[] = [
  ['sep=,', (text) => Buffer.from(marked(crlf(`sep=,\n${text}`)), 'utf16le')],
  ['#TYPE', (text) => Buffer.from(crlf(`#TYPE System.Object\n${text}`))],
];

async function runWith({ run }: Reader, bytes: Buffer): Promise<{ readonly text: string; readonly outcome: unknown }> {
  const folder = mkdtempSync(join(tmpdir(), 'molar-texts-'));
  const file = join(folder, 'given');
  writeFileSync(file, bytes);
  const outcome = await run({ folder, file, given: bytes });
  return { text: JSON.stringify(outcome).replaceAll(folder, 'FOLDER'), outcome };
}

/** The exit code of the first run in what a reader returns. */
function exitCodeOf(outcome: unknown): unknown {
  const [first] = [outcome].flat() as { readonly exitCode?: number; readonly ran?: { readonly exitCode: number } }[];
  return first?.exitCode ?? first?.ran?.exitCode;
}

it('ids may be in quotes, in which PowerShell puts every cell', async () => {
  const reader = READERS['documents delete -'] as Reader;
  const plainly = await runWith(reader, Buffer.from(reader.text));
  const exported = Buffer.from('#TYPE Selected.Object\r\n"id"\r\n"5"\r\n"6"\r\n');
  expect((await runWith(reader, exported)).text).toBe(plainly.text);
  expect(exitCodeOf(plainly.outcome)).toBe(0);
});

describe.each(Object.entries(READERS))('%s', (_, reader) => {
  const encodings = [...ENCODINGS, ...(reader.isTable ? TABLES : [])];

  it.each(encodings)('reads %s as it reads UTF-8', async (_encoding, encode) => {
    const plainly = await runWith(reader, Buffer.from(reader.text));
    expect(exitCodeOf(plainly.outcome), plainly.text).toBe(0);
    expect((await runWith(reader, encode(reader.text))).text).toBe(plainly.text);
  });

  it('refuses Windows-1252, and says where and what would be right', async () => {
    const { text, outcome } = await runWith(reader, Buffer.from(`${reader.text}Caf\xe9\n`, 'latin1'));
    expect(exitCodeOf(outcome), text).toBe(reader.refused ?? 2);
    if (reader.refused === 0) return;
    expect(text).toMatch(/byte \d+, in line \d+, is 0x[0-9A-F]{2}, which is not UTF-8.*Save it as UTF-8/);
    expect(text).not.toContain('\ufffd');
  });
});
