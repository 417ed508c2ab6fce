import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { readConfiguration } from '../../src/cli/serving/configfile.ts';
import Serve from '../../src/commands/serve.ts';
import { commandLinesOf, type Manifest, wrongCommandLine } from './docs.ts';
import { filesBelow, pathsBelow, ROOT, type TreeFile } from './tree.ts';

const files = filesBelow('ops');
const textOf = (name: string) =>
  files.find(({ path }) => path === `ops/${name}`)?.text ?? expect.fail(`No ops/${name}`);
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = '']) => found);

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

  it('are built from what is there, and is let through', () => {
    const copied = matches(dockerfile, /^COPY (?!--from)(.*) \S+$/gm).flatMap((paths) => paths.split(' '));
    const allowed = matches(textOf('container/Dockerfile.dockerignore'), /^!(.*)$/gm);
    expect(copied.length).toBeGreaterThan(8);
    const tracked = pathsBelow('.');
    expect(copied.filter((path) => !tracked.some((each) => each === path || each.startsWith(`${path}/`)))).toEqual([]);
    expect(copied.sort()).toEqual(allowed.sort());
  });

  it('have what is built from: the sources of the build, and what the package is made of', () => {
    const { files: packed } = JSON.parse(textOfRoot('package.json')) as { files: string[] };
    const copied = matches(dockerfile, /^COPY (?!--from)(.*) \S+$/gm).flatMap((paths) => paths.split(' '));
    const made = /^(?:!|dist$|oclif\.manifest\.json$|sbom\.json$|THIRD-PARTY-LICENSES$)/;
    const lacking = packed.filter(
      (path) => !made.test(path) && !copied.some((each) => path === each || path.startsWith(`${each}/`)),
    );
    expect(lacking).toEqual([]);
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

function textOfRoot(name: string): string {
  return filesBelow('.', new RegExp(`^${name.replace('.', '\\.')}$`))[0]?.text ?? expect.fail(`No ${name}`);
}
