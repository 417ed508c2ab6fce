import { describe, expect, it } from 'vitest';
import Doctor from '../../../src/commands/doctor.ts';
import { answer, Script } from '../../core/transport/script.ts';
import { runCommand } from '../runcommand.ts';

/** An address on this machine needs no DNS look-up and no certificate. */
const env = { MOLAR_URL: 'http://127.0.0.1:4010' };

describe('molar doctor', () => {
  it.each([
    [[], 1],
    [['--max-retries', '2'], 3],
  ])('with %j an overloaded server is asked %i times', async (argv, attempts) => {
    const script = new Script(...Array.from({ length: 9 }, () => answer(503, '')));
    const ran = await runCommand('doctor', Doctor, [...argv, '--json'], { env, script });
    expect(ran).toMatchObject({ exitCode: 8, stderr: '' });
    expect(script.requests).toHaveLength(attempts);
  });
});
