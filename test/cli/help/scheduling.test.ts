import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { manifestCommands } from '../../house/commands.ts';
import { commandLinesOf, wrongCommandLine } from '../../house/docs.ts';
import { ROOT } from '../../house/tree.ts';
import { splitByRuntime, typedIntoCmd, typedIntoPowershell } from '../../shells/windowsrules.ts';

const page = readFileSync(join(ROOT, 'docs/help/scheduling.md'), 'utf8');
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, text = '']) => text);
const folder = mkdtempSync(join(tmpdir(), 'molar-scheduling-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Part of systemd. */
const ANALYZE = 'systemd-analyze';

/** What the page runs first, from the folder it is to go to. */
const EXPORT = (to: string) => ['export', 'ALL', '--to', to, '--since-last', 'nightly', '--resume'];

/** The arguments that a shell line gives to molar, which a script stands for. */
function givenBy(line: string, path: string): string[] {
  const bin = join(folder, path);
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, 'molar'), `#!/bin/sh\nprintf '%s\\n' "$@"\n`, { mode: 0o755 });
  return execFileSync('/bin/sh', ['-c', line], {
    encoding: 'utf8',
    cwd: bin,
    env: { PATH: `${bin}:/usr/bin:/bin`, HOME: '/h' },
  })
    .trimEnd()
    .split('\n');
}

const wrongLine = (args: readonly string[]) => {
  const manifest = Object.fromEntries(manifestCommands().map((command) => [command.id, command]));
  return commandLinesOf(`\`\`\`\nmolar ${args.join(' ')}\n\`\`\`\n`).map((line) => wrongCommandLine(line, manifest));
};

describe('the page on scheduling', () => {
  it('has commands that exist', () => {
    expect(wrongLine(EXPORT('nightly'))).toEqual([undefined]);
    expect(wrongLine(['mirror', 'sync', '--to', 'x', '--quiet'])).toEqual([undefined]);
  });

  it('has five fields and a command for cron', () => {
    const [path = '', line = ''] = blocks('crontab')[0]?.trimEnd().split('\n') ?? [];
    expect(path).toMatch(/^PATH=(?:\/[\w/]+:?)+$/);
    const [, times, command = ''] = /^((?:\S+ ){5}) *(.*)$/.exec(line) ?? [];
    expect(times).toBe('0 5 * * * ');
    expect(command).not.toContain('%');
    expect(givenBy(command, 'cron')).toEqual(EXPORT('nightly'));
  });

  it('has units that systemd takes without a word', ({ skip }) => {
    const [service = '', timer = ''] = blocks('ini');
    const paths = ['molar-export.service', 'molar-export.timer'].map((name) => join(folder, name));
    // systemd wants programs that exist.
    writeFileSync(paths[0] ?? '', service.replace('/usr/local/bin/molar', process.execPath));
    writeFileSync(paths[1] ?? '', timer);
    const { error, status, stdout, stderr } = spawnSync(ANALYZE, ['verify', '--user', '--man=no', ...paths], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: folder },
    });
    if (error !== undefined && process.env.CI !== 'true') skip('systemd-analyze is not installed');
    expect({ error, status, said: stdout + stderr }).toEqual({ error: undefined, status: 0, said: '' });
    const start = /^ExecStart=(?:[^\n]*\\\n)*[^\n]*/m.exec(service)?.[0].replaceAll('\\\n', '') ?? '';
    expect(start.split(/\s+/)).toEqual(['ExecStart=/usr/local/bin/molar', ...EXPORT('%h/nightly')]);
  });

  it('has a property list that launchd reads', ({ skip }) => {
    const read = 'import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))';
    const { error, stdout, stderr } = spawnSync('python3', ['-c', read], { input: blocks('xml')[0], encoding: 'utf8' });
    if (error !== undefined && process.env.CI !== 'true') skip('python3 is not installed');
    expect(stderr).toBe('');
    const job = JSON.parse(stdout);
    const [line = '', ...program] = [...job.ProgramArguments].reverse();
    expect(program.reverse()).toEqual(['/bin/sh', '-c']);
    expect(givenBy(line.replace('2>>~/Library/Logs/', '2>>'), 'launchd')).toEqual(EXPORT('/h/nightly'));
    expect(job.StartCalendarInterval).toEqual({ Hour: 5, Minute: 0 });
    expect(page).toContain(`~/Library/LaunchAgents/${job.Label}.plist`);
  });

  it('has a task of Windows in PowerShell', () => {
    const lines = blocks('powershell')[0]?.trimEnd().split('\n') ?? [];
    const [, text = ''] = /^\$line = (.*)$/.exec(lines[0] ?? '') ?? [];
    const [line = ''] = typedIntoPowershell(`args ${text}`);
    expect(splitByRuntime(line)).toEqual(['/c', 'molar', ...EXPORT('C:\\nightly')]);
    const made = lines.flatMap((each) => /^(\$\w+) =/.exec(each)?.[1] ?? []);
    const used = lines.flatMap((each) => each.replace(/^\$\w+ =/, '').match(/\$\w+/g) ?? []);
    expect([...used].sort()).toEqual([...made].sort());
  });

  it('has a task of Windows in cmd', () => {
    // A caret at the end of a line joins the next to it.
    const args = typedIntoCmd((blocks('cmd')[0] ?? '').trimEnd().replace('^\n', '').replace('schtasks', 'args'), {});
    expect(args.slice(0, -1)).toEqual(['/Create', '/TN', 'molar-mirror', '/SC', 'DAILY', '/ST', '05:00', '/TR']);
    const run = args.at(-1) ?? '';
    // As much as schtasks takes.
    expect(run.length).toBeLessThanOrEqual(261);
    const [, , ...line] = splitByRuntime(run);
    expect(line).toEqual(['molar', 'mirror', 'sync', '--to', expect.any(String), '--quiet']);
    // At the top of a disk Windows lets users make folders, and no files.
    expect(line[4]).toMatch(/^C:\\\w+\\\w+\.db$/);
  });
});
