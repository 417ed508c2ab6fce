import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '@oclif/core/config';
import { afterAll, beforeAll, expect, it } from 'vitest';
import Demo from '../../../src/commands/demo.ts';
import { isRunning } from '../../support/processes.ts';
import { runCommand } from '../runcommand.ts';

/**
 * Stands in for the program, whose working day test/acceptance/demo.test.ts shows: a server that notes which process it
 * is and where it runs, and commands that leave what the next ones ask for.
 */
const PROGRAM = `
import { appendFileSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
const note = (text) => appendFileSync(new URL('../notes', import.meta.url), text + '\\n');
const words = process.argv.slice(2);
const after = (flag) => words[words.indexOf(flag) + 1];
if (words[0] === 'serve') {
  mkdirSync(after('--data'), { recursive: true });
  writeFileSync(after('--data') + '/demo.env', "export MOLAR_URL='http://127.0.0.1:1'\\n");
  setInterval(() => {}, 1000);
  note(process.pid + '\\n' + process.cwd());
  console.log(JSON.stringify({ event: 'listening', url: 'http://127.0.0.1:1' }));
} else if (after('--out') === 'patients.csv') writeFileSync('patients.csv', 'id\\n5,\\n');
else if (after('--out') === 'copy.pdf') copyFileSync('consent.pdf', 'copy.pdf');
else if (words[1] === 'list') console.log('1,consent.pdf');
`;

let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'molar-demo-test-'));
  await mkdir(join(root, 'bin'));
  await writeFile(join(root, 'bin', 'package.json'), '{"type":"module"}');
  await writeFile(join(root, 'bin', 'run.js'), PROGRAM);
});

afterAll(() => rm(root, { recursive: true }));

/** The command, of the program that stands in. */
const command = {
  id: '',
  start: (argv: string[], config: Config) => Demo.start(argv, Object.assign(config, { root })),
};

it.each([
  ['ends by itself', [], /identical: \d+ bytes[\s\S]*\nThat was the demo\. Run it with --keep to try [^\n]*\n$/],
  ['goes on until it is interrupted', ['--keep'], /\n {2}molar patients list\n[\s\S]*\nCtrl-C here stops [^\n]*\n$/],
])('the demo %s, ends its server, and leaves nothing', async (_, argv, end) => {
  const interruption = new AbortController();
  let printed = '';
  const write = async (text: string | Uint8Array) => {
    printed += String(text);
    if (printed.includes('Ctrl-C here')) setImmediate(() => interruption.abort());
  };
  const ran = await runCommand('demo', command, argv, { write, signal: interruption.signal });
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
  expect(interruption.signal.aborted).toBe(argv.length > 0);
  expect(printed).toMatch(end);
  const [pid, folder = ''] = (await readFile(join(root, 'notes'), 'utf8')).split('\n');
  expect(folder).not.toBe('');
  expect([isRunning(Number(pid)), existsSync(folder)]).toEqual([false, false]);
  await rm(join(root, 'notes'));
});
