import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { minimatch } from 'minimatch';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { readConfiguration } from '../../src/cli/serving/configfile.ts';
import Serve from '../../src/commands/serve.ts';
import { commandLinesOf, type Manifest, wrongCommandLine } from './docs.ts';
import { filesBelow, pathsBelow, ROOT, type TreeFile } from './tree.ts';

const files = filesBelow('ops');
const textOf = (name: string) =>
  files.find(({ path }) => path === `ops/${name}`)?.text ?? expect.fail(`No ops/${name}`);
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = '']) => found);

const LAUNCHD = 'ops/launchd/molar-server.plist';
const TASK = 'ops/windows/molar-server.xml';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'molar-ops-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs a checker; without it the test fails where all checks must run (CI=true), and is told as skipped elsewhere. */
function check(context: TestContext, program: string, args: readonly string[], cwd = folder): string {
  const { error, status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (error !== undefined) {
    if (process.env.CI === 'true') expect.fail(`CI needs ${program}.`);
    context.skip(`${program} is not installed`);
  }
  expect(status, stdout + stderr).toBe(0);
  return stdout + stderr;
}

describe('the units', () => {
  const MOLAR = '/usr/local/bin/molar';
  const units = pathsBelow('ops/systemd').filter((path) => /\.(?:service|timer)$/.test(path));
  let copied: string;

  beforeAll(async () => {
    copied = join(folder, 'units');
    await cp(join(ROOT, 'ops/systemd'), copied, { recursive: true });
    // systemd wants programs that exist.
    for (const name of units.map((path) => basename(path))) {
      const text = await readFile(join(copied, name), 'utf8');
      await writeFile(join(copied, name), text.replaceAll(MOLAR, process.execPath));
    }
  });

  it('are what systemd takes without a word', (context) => {
    expect(units.length).toBeGreaterThan(6);
    const said = check(context, 'systemd-analyze', [
      'verify',
      '--man=no',
      ...units.map((path) => join(copied, basename(path))),
    ]);
    expect(said).toBe('');
  });

  it('confine what they start', (context) => {
    const services = units.filter((path) => path.endsWith('.service'));
    // systemd calls up to 2.0 of 10 "ok"; without the drop-in it is above 9.
    for (const path of services) {
      check(context, 'systemd-analyze', ['security', '--offline=true', '--threshold=20', join(copied, basename(path))]);
    }
  });

  it('have a service for each timer', () => {
    const timers = units.filter((path) => path.endsWith('.timer'));
    expect(timers.length).toBe(3);
    expect(timers.filter((path) => !units.includes(path.replace(/timer$/, 'service')))).toEqual([]);
  });

  it('load the secrets that molar.toml refers to', () => {
    const loaded = matches(textOf('systemd/molar-server.service.d/secrets.conf'), /^LoadCredential=([\w-]+):/gm);
    expect(matches(textOf('molar.toml'), /\/run\/credentials\/molar-server\.service\/([\w-]+)/g)).toEqual(loaded);
  });
});

/** What another program reads in a file of XML or a property list, as JSON. */
function readByPython(context: TestContext, script: string, file: string): unknown {
  const line = `import json, plistlib, sys, xml.etree.ElementTree as xml; ${script}`;
  return JSON.parse(check(context, 'python3', ['-c', line, join(ROOT, file)]));
}

/** Seconds that a server may take to end: to finish requests, and to close its stores (`molar help operations`). */
const ENDING_S = 25;

describe('the services of other systems', () => {
  it('of launchd starts the server, and gives it time to end', (context) => {
    const read = readByPython(context, "print(json.dumps(plistlib.load(open(sys.argv[1], 'rb'))))", LAUNCHD);
    expect(read).toMatchObject({
      ProgramArguments: ['/usr/local/bin/molar', 'serve', '--config', expect.stringMatching(/molar\.toml$/)],
      // Started again when it died, and not after molar server stop.
      KeepAlive: { SuccessfulExit: false },
      Umask: 0o077,
    });
    expect((read as { ExitTimeOut: number }).ExitTimeOut).toBeGreaterThan(ENDING_S);
  });

  it('of Windows starts the server again and again, and never two', (context) => {
    const script = "print(json.dumps({e.tag.split('}')[1]: e.text for e in xml.parse(sys.argv[1]).iter()}))";
    const task = readByPython(context, script, TASK) as Record<string, string>;
    expect(task).toMatchObject({
      Interval: 'PT1M',
      MultipleInstancesPolicy: 'IgnoreNew',
      ExecutionTimeLimit: 'PT0S',
      UserId: 'S-1-5-19',
      Command: 'C:\\Windows\\System32\\cmd.exe',
    });
    // What cmd makes of /s /c: all between the first quote and the last.
    const [, line = ''] = /^\/d \/s \/c "(.*)"$/.exec(task.Arguments ?? '') ?? [];
    const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain);
    const installed = 'C:\\Program Files\\molar';
    expect(words.slice(0, 5)).toEqual([
      'C:\\Program Files\\nodejs\\node.exe',
      `${installed}\\node_modules\\molar-cli\\bin\\run.js`,
      ...['serve', '--config', 'C:\\ProgramData\\molar\\molar.toml'],
    ]);
    expect(textOf('README.md')).toContain(`--prefix '${installed}' molar-cli`);
  });

  it('of Windows has settings that are taken, and that the README stops', async () => {
    const { flags } = await readConfiguration(join(ROOT, 'ops/windows/molar.toml'), Serve.flags, {}, {});
    expect(flags).toEqual({ data: 'C:\\ProgramData\\molar\\data', host: '127.0.0.1', port: '4010' });
    const steps = textOf('README.md');
    expect(steps).toContain(`server stop --data ${flags.data}`);
    // One that the server makes is for its own account alone: the administrator who stops it could not look into it.
    const order = [
      'icacls C:\\ProgramData\\molar ',
      `New-Item -ItemType Directory ${flags.data}\n`,
      'Start-ScheduledTask',
    ];
    const places = order.map((step) => steps.indexOf(step));
    expect(places.filter((place) => place < 0)).toEqual([]);
    expect(places).toEqual([...places].sort((one, other) => one - other));
  });
});

describe('the command lines', () => {
  const manifest = async (): Promise<Manifest> =>
    JSON.parse(await readFile(join(ROOT, 'oclif.manifest.json'), 'utf8')).commands;

  it('are those of molar', async () => {
    const units = files.filter(({ path }) => path.endsWith('.service'));
    const started = units.flatMap(({ text }) => matches(text, /\/usr\/local\/bin\/(molar [^'\n]*)/g));
    const [image = '[]'] = matches(textOf('container/Dockerfile'), /^CMD (.*)$/gm);
    started.push(`molar ${JSON.parse(image).join(' ')}`);
    expect(started).toHaveLength(5);
    const lines = started.flatMap((line) => commandLinesOf(`\`\`\`sh\n${line}\n\`\`\`\n`));
    const known = await manifest();
    expect(lines).toHaveLength(started.length);
    expect(lines.map((line) => wrongCommandLine(line, known)).filter((problem) => problem !== undefined)).toEqual([]);
  });
});

describe('the settings', () => {
  /** Reads a file of settings whose secrets are somewhere else. */
  async function read({ path, text }: TreeFile) {
    const secrets = join(folder, 'secrets');
    await mkdir(secrets, { recursive: true });
    for (const name of matches(text, /\/run\/[\w./-]*\/([\w-]+)"/g)) await writeFile(join(secrets, name), `${name}\n`);
    const file = join(folder, basename(path));
    await writeFile(file, text.replace(/"\/run\/[\w./-]*\/([\w-]+)"/g, `"${secrets}/$1"`));
    return readConfiguration(file, Serve.flags, {}, {});
  }

  it('of one machine are taken, with what is commented out and without', async () => {
    const path = 'ops/molar.toml';
    const text = textOf('molar.toml');
    const { flags, secrets } = await read({ path, text });
    expect(flags).toMatchObject({ data: '/var/lib/molar/data', port: '4010' });
    expect(secrets).toEqual({});
    // A database takes the place of the folder.
    const whole = text.replace(/^# (?=\[secrets\]|[\w-]+ = )/gm, '').replace(/^data = .*\n/m, '');
    expect(await read({ path, text: whole })).toMatchObject({
      flags: { amqp: expect.stringMatching(/^amqps:/), database: expect.stringMatching(/^postgres:/) },
      secrets: { PGPASSWORD: 'pgpassword', MOLAR_AMQP_PASSWORD: 'amqp-password' },
    });
  });

  it('of containers are taken, and their secrets are given to the servers', async () => {
    const text = textOf('container/molar.toml');
    const { secrets } = await read({ path: 'ops/container/molar.toml', text });
    const [given = ''] = matches(textOf('container/compose.yaml'), /^x-molar:[\s\S]*?^ {2}secrets: \[(.*)\]$/gm);
    expect(Object.values(secrets)).toEqual(given.split(', '));
  });
});

describe('the containers', () => {
  const dockerfile = textOf('container/Dockerfile');
  const compose = textOf('container/compose.yaml');

  it('are built from the archives for Linux, one for each processor, and nothing else is let through', () => {
    const added = matches(dockerfile, /^ADD (\S+) \/opt\/$/gm);
    const wanted = ['x64', 'arm64'].map((arch) => `release/molar-1.2.3-linux-${arch}.tar.xz`);
    expect(wanted.map((path) => added.findIndex((pattern) => minimatch(path, pattern)))).toEqual([0, 1]);
    expect(matches(dockerfile, /^FROM base AS (\w+)$/gm)).toEqual(['amd64', 'arm64']);
    expect(dockerfile).not.toMatch(/^COPY/m);
    expect(matches(textOf('container/Dockerfile.dockerignore'), /^!(.*)$/gm)).toEqual(added);
  });

  it('mount files that are there, and secrets that are declared', () => {
    const mounted = matches(compose, /'\.\/([\w.-]+):/g);
    expect(mounted.length).toBeGreaterThan(2);
    expect(mounted.filter((name) => !files.some(({ path }) => path === `ops/container/${name}`))).toEqual([]);
    const [declared = ''] = matches(compose, /^secrets:\n((?: {2}.*\n)+)/gm);
    const names = matches(declared, /^ {2}(\w+): \{ file: \.\/secrets\//gm);
    const used = [
      ...matches(compose, /^ +secrets: \[(.*)\]$/gm).flatMap((list) => list.split(', ')),
      ...matches(compose, /source: (\w+)/g),
    ];
    expect([...new Set(used)].sort()).toEqual(names.sort());
  });

  it('have a proxy in front of each server', () => {
    const servers = matches(compose, /^ {2}(molar-\d+):\n {4}<</gm);
    expect(servers).toHaveLength(2);
    expect(matches(textOf('container/nginx.conf'), /^ +server ([\w-]+):4010 /gm)).toEqual(servers);
  });
});

describe('the alerts', () => {
  it('are what Prometheus takes, and fire when they should', (context) => {
    const cwd = join(ROOT, 'ops/prometheus');
    expect(check(context, 'promtool', ['check', 'rules', 'alerts.yml'], cwd)).toContain('13 rules found');
    check(context, 'promtool', ['test', 'rules', 'alerts.test.yml'], cwd);
  });
});
