import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../runcommand.ts';

const COMMANDS = resolve(import.meta.dirname, '../../../src/commands/reports');

describe('reports that are refused', () => {
  const CASES: readonly (readonly [words: string, exitCode: number, message: RegExp])[] = [
    ['schedule --location Nowhere', 2, /no location is named "Nowhere"/],
    ['schedule --date 11/24/2026', 2, /2026-11-24/],
    ['schedule --date 2026-02-30', 2, /--date must be a date that exists/],
    ['schedule --days 367', 2, /--days must be a whole number, 1 to 366/],
    ['schedule --sort patient', 2, /patient has patient.id/],
    ['schedule --sort lastname', 2, /There is no column lastname. Did you mean/],
    ['schedule --fields strat', 2, /Did you mean start\?/],
    ['schedule --to folder', 2, /--to is the folder of --split-by/],
    ['schedule --split-by location', 2, /add --to DIR/],
    ['schedule --split-by location --to one --to other', 2, /takes one folder/],
    ['schedule --split-by location --to folder --out x.csv', 2, /--out is one file/],
    ['schedule --split-by location --to folder --format table', 2, /table is for a terminal/],
    ['no-shows --from today --to yesterday', 2, /is after/],
    ['no-shows --from -3d --to folder', 2, /--to must be a date/],
    ['no-shows --status CONFIRMED', 2, /--status takes NO_SHOW, BROKEN/],
    ['deposits --from today', 2, /--from goes with --to/],
    ['missing-documents', 2, /--tag/],
    ['collections --offline', 2, /asks the API/],
    ['schedule --offline --fresh 1h', 2, /contradict/],
  ];

  it.each(CASES)('reports %s: exit %i', async (words, exitCode, message) => {
    const [name = '', ...rest] = words.split(' ');
    const { default: command } = await import(`${COMMANDS}/${name}.ts`);
    // Nothing may be sent: there is no network.
    const ran = await runCommand(`reports:${name}`, command, rest);
    expect(ran).toMatchObject({ exitCode, stdout: '' });
    expect(ran.stderr).toMatch(message);
  });
});
