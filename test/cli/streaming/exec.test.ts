import { getEventListeners } from 'node:events';
import { readlinkSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import StreamListen from '../../../src/commands/stream/listen.ts';
import { localFailure } from '../../../src/core/failure.ts';
import { eventOf, messageOf, streamAnswer } from '../../core/stream/messages.ts';
import { Script } from '../../core/transport/script.ts';
import { need } from '../../support/capabilities.ts';
import { jsonFailure, runCommand, type World } from '../runcommand.ts';

let folder: string;
beforeEach(async (context) => {
  need(context, 'posixShell');
  folder = await mkdtemp(join(tmpdir(), 'molar-test-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const messages = [41, 42].map((id) => messageOf(id));
const bare = messageOf(43, { operation: 'READ_COMPLETE', payload: { total: 2 } });

/** Hands the messages to a line of sh, run in the folder. */
async function exec(line: string, argv: readonly string[] = [], world: World = {}) {
  const script = new Script(streamAnswer([...messages, bare].map(eventOf)));
  const env = { ...world.env, MOLAR_CONFIG_DIR: folder, PATH: process.env.PATH ?? '' };
  return runCommand('stream:listen', StreamListen, [`--exec=cd '${folder}'; ${line}`, ...argv], {
    script,
    ...world,
    env,
  });
}

const read = (name: string) => readFile(join(folder, name), 'utf8');

describe('stream listen --exec', () => {
  it('gives each message on a line of standard input, and what it is about in variables', async () => {
    const variables = ['ID', 'ROUTING_KEY', 'DOMAIN_TYPE', 'OPERATION', 'RECORD_ID'].map(
      (name) => `$MOLAR_MESSAGE_${name}`,
    );
    const lines = `cat >> bodies; echo "${variables.join(',')},$OWN" >> variables`;
    expect(await exec(lines, ['--limit', '3'], { env: { OWN: 'kept' } })).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: '',
    });
    expect(await read('bodies')).toBe([...messages, bare].map((message) => `${JSON.stringify(message)}\n`).join(''));
    expect(await read('variables')).toBe(
      '41,org-1.5.PatientV1.UPDATE,PatientV1,UPDATE,7041,kept\n42,org-1.5.PatientV1.UPDATE,PatientV1,UPDATE,7042,kept\n' +
        '43,org-1.5.PatientV1.READ_COMPLETE,PatientV1,READ_COMPLETE,,kept\n',
    );
  });

  it('names no record where the message tells of none', async () => {
    const script = new Script(streamAnswer([eventOf(messageOf(41, { payload: { id: null } }))]));
    await exec('echo "[$MOLAR_MESSAGE_RECORD_ID]" > id', ['--limit', '1'], { script });
    expect(await read('id')).toBe('[]\n');
  });

  it('leaves the output of a command where its own goes, and nothing else of it', async (context) => {
    need(context, 'proc');
    const { signal } = new AbortController();
    const before = getEventListeners(signal, 'abort').length;
    const line = 'outputs=$(readlink /proc/$$/fd/1 /proc/$$/fd/2); echo "$outputs" > outputs';
    await exec(line, ['--limit', '3'], { signal });
    expect(await read('outputs')).toBe([1, 2].map((fd) => `${readlinkSync(`/proc/self/fd/${fd}`)}\n`).join(''));
    expect(getEventListeners(signal, 'abort')).toHaveLength(before);
    // More than Linux takes for one argument.
    const long = await exec(`true ${'x'.repeat(200_000)}`, ['--limit', '1']);
    expect(long).toMatchObject({ exitCode: 9, stdout: '' });
  });

  it('offers a message again until the command succeeds, six times at most', async () => {
    const once = await exec('echo $MOLAR_MESSAGE_ID >> seen; [ $(grep -c 41 seen) = 2 ] || exit 7', ['--limit', '1']);
    expect(once).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: 'Message 41 was not accepted: The command ended with exit code 7. Next try in 0.5 s.\n',
    });
    await rm(join(folder, 'seen'));
    const never = await exec('echo $MOLAR_MESSAGE_ID >> seen; exit 7', ['--quiet', '--json']);
    expect(never).toMatchObject({ exitCode: 6, stdout: '' });
    expect(jsonFailure(never)).toMatchObject({
      message: 'Message 41 was not accepted in 6 attempts: The command ended with exit code 7.',
      errors: [{ source: '--exec' }],
    });
    expect((await read('seen')).trim().split('\n')).toEqual(Array(6).fill('41'));
  });

  it('needs nobody to read the message', async () => {
    const long = messageOf(41, { payload: { note: 'x'.repeat(1_000_000) } });
    const script = new Script(streamAnswer([eventOf(long)]));
    expect(await exec('exit 0', ['--limit', '1'], { script })).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  });

  it('takes a command that was killed for one that did not take the message', async () => {
    const { stderr } = await exec('kill -9 $$', ['--max-retries', '0']);
    expect(stderr).toContain('Message 41 was not accepted in 1 attempts: The command ended with SIGKILL.');
  });

  it('ends the command when it is interrupted, and offers nothing more', async () => {
    const stop = new AbortController();
    const running = exec('echo $$ >> seen; exec sleep 600', [], { signal: stop.signal });
    await expect.poll(() => read('seen').catch(() => '')).toMatch(/^\d+\n$/);
    const pid = Number(await read('seen'));
    stop.abort(localFailure('run.interrupted', 'Interrupted.'));
    expect(await running).toMatchObject({ exitCode: 130, stderr: '' });
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(await read('seen')).toBe(`${pid}\n`);
  });
});
