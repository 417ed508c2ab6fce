import { Config } from '@oclif/core/config';
import { describe, expect, it } from 'vitest';
import { helpText } from '../../../src/cli/help/commandhelp.ts';
import { PAGES } from '../../../src/cli/help/pages.ts';
import { displayWidth } from '../../../src/core/output/terminaltext.ts';
import type { Shell } from '../../../src/shells/shell.ts';
import { ROOT } from '../../house/tree.ts';

// oclif changes what it was given, so that each text has a configuration of its own.
const text = async (subject: string, width = 80, shell: Shell = 'sh') =>
  helpText(subject, await Config.load({ root: ROOT }), { width, isColoured: false, shell });
const headings = (shown: string) => shown.match(/^[A-Z][A-Z ]+$/gm);

describe('the help on everything', () => {
  it('begins with the first steps and lists commands and pages', async () => {
    const shown = await text('');
    expect(headings(shown)).toEqual(['VERSION', 'USAGE', 'TOPICS', 'COMMANDS', 'FIRST STEPS', 'MORE HELP']);
    const lines = [shown, await text('help')].flatMap((each) => each.split('\n'));
    expect(lines.filter((line) => displayWidth(line) > 80)).toEqual([]);
    expect(shown).toMatch(/^ {2}molar demo {2,}a working day/m);
    const more = shown.slice(shown.indexOf('MORE HELP'));
    expect(PAGES.filter(({ name }) => !more.includes(`\n  molar help ${name} `))).toEqual([]);
  });
});

describe('the help on a command', () => {
  it('has its flags by what they are about, and ends with examples', async () => {
    const shown = await text('events:create');
    expect(headings(shown)).toEqual([
      'USAGE',
      'DESCRIPTION',
      'FIELD FLAGS',
      'RECURRENCE FLAGS',
      'BODY FLAGS',
      'FLAGS',
      'OUTPUT FLAGS',
      'CONNECTION FLAGS',
      'OTHER FLAGS',
      'EXAMPLES',
    ]);
    expect(shown).toMatch(/\nFLAGS\n {2}--dry-run .*\n/);
    expect(shown).toMatch(/\nOTHER FLAGS\n {2}--quiet .*\n {2}--verbose /);
  });

  it('has flags as they are declared: the filter first, the form of the output before its details', async () => {
    const shown = await text('patients:list');
    expect(shown).toMatch(/\nFILTER FLAGS\n {2}--filter=TERM/);
    expect(shown.indexOf('--format=')).toBeLessThan(shown.indexOf('\n  --no-header'));
    expect(shown.indexOf('FILTER FLAGS')).toBeLessThan(shown.indexOf('OUTPUT FLAGS'));
  });

  it('says a summary once, and aliases as they are typed', async () => {
    const shown = await text('agingbalances:report');
    expect(shown.match(/Report what guarantors owe, by age/g)).toHaveLength(1);
    expect(shown).toMatch(/\nALIASES\n {2}\$ molar aging report\n/);
    expect(await text('aging:report')).toMatch(/\nALIASES\n {2}\$ molar agingbalances report\n/);
  });

  it('has examples, prompts and all, for the shell', async () => {
    const cmd = await text('names:import', 80, 'cmd');
    expect(cmd).toContain('\n  > molar names list --csv --profile east | molar names import - --profile west\n');
    expect(cmd).not.toContain('$ ');
    expect(await text('names:import', 80, 'powershell')).toContain("\n  PS> cmd /c 'molar names list --csv");
    expect(await text('patients:list', 80, 'pwsh')).toContain("--fields 'id,lastName,preferredLocation.id' --out");
    // No program of that name is on Windows.
    expect(await text('documents:download', 80, 'cmd')).not.toContain('| lp');
    expect(await text('documents:download')).toContain('$ molar documents download 8000000000001 --out - | lp\n');
  });

  it('shows arguments', async () => {
    expect(await text('patients:get')).toMatch(/\nARGUMENTS\n {2}ID {2}Id of the patient\n/);
  });
});
