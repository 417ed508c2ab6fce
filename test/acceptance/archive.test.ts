import { copyFile, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { expectLinux, expectSameElsewhere, expectSmall } from './archivepromises.ts';
import {
  CODE,
  certificates,
  digest,
  dist,
  IS_RELEASE,
  json,
  machineCode,
  needs,
  OWN,
  PIXELS,
  PROGRAMS,
  packagesIn,
  run,
  TARGETS,
  unpack,
  withoutPacking,
} from './archives.ts';
import { workOverUpdate } from './archiveupdate.ts';
import { cleanEnv, connection, PATIENT, serve, workplace, writeFixture } from './molar.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const VERSION = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')).version as string;
const NAME = `molar-${VERSION}-${OWN}`;
const archiveOf = (target: string) => `molar-${VERSION}-${target}.${target.startsWith('windows') ? 'zip' : 'tar.xz'}`;

/** Milliseconds: to compress six archives as hard as for a release takes two minutes of processor time for most. */
const HOUR = 3_600_000;

interface Material {
  readonly 'bom-ref': string;
  readonly properties?: readonly { readonly name: string }[];
}

let place: Awaited<ReturnType<typeof workplace>>;
/** Where the archive was unpacked; the first test says why there is none. */
let folder: string | undefined;
let made: Awaited<ReturnType<typeof dist>>;

const at = (...names: string[]) => join(place.path, ...names);

beforeAll(async () => {
  place = await workplace();
  await run('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', at('molar.key')]);
  const flags = [
    ...TARGETS.flatMap((target) => ['--target', target]),
    '--level',
    IS_RELEASE ? '9' : '0',
    '--sign',
    at('molar.key'),
    '--out',
  ];
  const env = IS_RELEASE ? cleanEnv({}) : await withoutPacking(at('packing'));
  made = await dist([...flags, at('release')], env);
  if (made.code !== 0) return;
  await unpack(at('release', archiveOf(OWN)), place.path, env);
  folder = at(NAME);
}, HOUR);

afterAll(() => place.remove());

function folderOr({ skip }: TestContext): string {
  return folder ?? skip('the archive could not be made');
}

/** What molar finds around it: no Node, no shell, nothing on the PATH. */
const bare = (env: Readonly<Record<string, string>> = {}) => ({ PATH: at('nothing'), HOME: at('home'), ...env });
const start = (args: readonly string[], env: Readonly<Record<string, string>> = {}, program = at(NAME, 'bin/molar')) =>
  run(program, args, { cwd: place.path, env: bare(env) });

describe('npm run dist', () => {
  it('makes an archive of this system', ({ skip }) => {
    if (made.code !== 0 && /ENOTCACHED|ENOTFOUND|ECONNREFUSED|ETIMEDOUT/.test(made.stderr) && process.env.CI !== 'true')
      skip(`no package registry answers: ${made.stderr}`);
    expect(made.code, made.stderr).toBe(0);
  });

  it('makes the files of a release, and no others', async (context) => {
    folderOr(context);
    const signed = ['SHA256SUMS', 'SHA256SUMS.minisig', 'SHA256SUMS.sig'];
    const names = [...TARGETS.map(archiveOf), ...signed, 'provenance.json', 'sbom.json'];
    expect((await readdir(at('release'))).sort()).toEqual(names.sort());
  });

  // Elsewhere test/house/archives.test.ts says it of what packs them.
  if (IS_RELEASE) {
    it('makes the same bytes for somebody else', { timeout: HOUR }, async (context) => {
      folderOr(context);
      await expectSameElsewhere(at('release'), at('again'), ['--sign', at('molar.key')], place.path);
    });

    it.for(TARGETS)('makes no larger an archive for %s than is said', async (target, context) => {
      folderOr(context);
      await expectSmall(at('release', archiveOf(target)));
    });
  }

  it('writes sums and signatures that sha256sum, openssl and minisign verify, until a byte changes', async (context) => {
    folderOr(context);
    await needs('minisign', context);
    await run('openssl', ['pkey', '-in', at('molar.key'), '-pubout', '-out', at('molar.pub')]);
    const [, key = ''] = /public key for minisign is (\S+)/.exec(made.stderr) ?? [];
    const verify = async (sums: string) => {
      const verified = ['-verify', '-pubin', '-inkey', at('molar.pub'), '-rawin', '-in', sums];
      const small = ['-V', '-P', key, '-m', sums, '-x', at('release/SHA256SUMS.minisig')];
      const ended = await Promise.all([
        run('sha256sum', ['--check', '--strict', sums], { cwd: at('release') }),
        run('openssl', ['pkeyutl', ...verified, '-sigfile', at('release/SHA256SUMS.sig')]),
        run('minisign', small),
      ]);
      return ended.map(({ code }) => code === 0);
    };
    expect(await verify(at('release/SHA256SUMS'))).toEqual([true, true, true]);
    const sums = await readFile(at('release/SHA256SUMS'), 'utf8');
    await writeFile(
      at('SUMS'),
      sums.replace(/[0-9a-f]/, (digit) => (digit === '0' ? '1' : '0')),
    );
    expect(await verify(at('SUMS'))).toEqual([false, false, false]);
  });

  it('says of what and how the archive was made', async (context) => {
    folderOr(context);
    const { subject, predicate } = await json(at('release/provenance.json'));
    const names = TARGETS.map(archiveOf).sort();
    const digests = await Promise.all(names.map((name) => digest(at('release', name))));
    expect(subject).toEqual(names.map((name, index) => ({ name, digest: { sha256: digests[index] } })));
    const { resolvedDependencies } = predicate.buildDefinition;
    const commit = (await run('git', ['rev-parse', 'HEAD'])).stdout.trim();
    expect(resolvedDependencies[0]).toEqual({ name: 'source', digest: { gitCommit: commit } });
    expect(resolvedDependencies[1].digest.sha256).toBe(await digest(join(ROOT, 'package-lock.json')));
    const { node } = predicate.buildDefinition.internalParameters;
    expect((await start(['--version'])).stdout).toBe(
      `molar-cli/${VERSION} ${process.platform}-${process.arch} node-v${node}\n`,
    );
  });

  it('lists as materials the packages that are in the archive, and its Node', async (context) => {
    const lib = join(folderOr(context), 'lib');
    const inside = await packagesIn(join(lib, 'node_modules'));
    const { components }: { components: Material[] } = await json(join(lib, 'sbom.json'));
    const { node } = (await json(at('release/provenance.json'))).predicate.buildDefinition.internalParameters;
    const refs = [...inside, `node-${OWN}@${node}`];
    // Some of them are in the bundles as well; what is in neither has no business in the list.
    expect(refs.filter((ref) => !components.some((each) => each['bom-ref'] === ref))).toEqual([]);
    const beside = components.filter(({ properties = [] }) => !properties.some(({ name }) => /:bundled$/.test(name)));
    expect(beside.map((each) => each['bom-ref']).filter((ref) => !refs.includes(ref))).toEqual([]);
    const licences = await readFile(join(lib, '../THIRD-PARTY-LICENSES'), 'utf8');
    expect(licences).toContain(`\nNode ${node}\n\nNode.js is licensed for use as follows`);
  });

  it.for(TARGETS)('puts the machine code of %s, and no other, into its archive', async (target, context) => {
    folderOr(context);
    await needs('file', context);
    const unpacked = target === OWN ? place.path : at('unpacked', target);
    if (target !== OWN) await unpack(at('release', archiveOf(target)), unpacked);
    const inside = join(unpacked, NAME.replace(OWN, target));
    const { code, programs, glibc } = await machineCode(inside);
    // The launcher, or Node itself; SQLite, the keyring, sharp and libvips.
    expect(code.length).toBeGreaterThanOrEqual(5);
    expect(code.filter((kind) => !CODE[target]?.test(kind))).toEqual([]);
    const [system = ''] = target.split('-');
    expect(programs).toEqual(PROGRAMS[system]);
    if (system === 'linux') await expectLinux(inside, code, glibc);
    if (system !== 'windows') return;
    const program = await readFile(join(inside, 'bin/molar.exe'));
    expect(certificates(program)).toEqual({ at: 0, size: 0 });
    expect(program.includes(Buffer.from('NODE_SEA_BLOB', 'utf16le'))).toBe(true);
  });

  it('refuses a Node that is not the one that is written down', async () => {
    // Stands in for npm, and for a registry that has another Node: `npm pack NAME@VERSION … --pack-destination FOLDER`.
    await mkdir(at('registry'));
    const pack = `const [, , act, name, , folder] = process.argv;
      if (act === 'pack') require('node:fs').writeFileSync(folder + '/' + name.replace('@', '-') + '.tgz', 'another Node');`;
    await writeFile(at('registry/npm-cli.js'), pack);
    const env = cleanEnv({ SOURCE_DATE_EPOCH: '1', npm_execpath: at('registry/npm-cli.js') });
    const flags = ['--target', OWN, '--out', at('refused')];
    const { code, stderr } = await run(process.execPath, [join(ROOT, 'bin/dist.mjs'), ...flags], { env });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^Getting Node .*\nnode-\S+ [\d.]+ has the digest sha512-\S+, not sha512-/),
    });
    expect(await readdir(place.path)).not.toContain('refused');
  });

  it.each([
    [['--target', 'beos-ppc'], /^There is no target beos-ppc; there are linux-x64, /],
    [['--level', '10'], /^--level is a digit, 0 to 9, not 10\./],
    [['--sign', '/dev/null'], /^The key \/dev\/null cannot be read: /],
    [['--tarket', 'x'], /^Unknown option '--tarket'[\s\S]*--target NAME/],
  ])('refuses %j', async (flags, said) => {
    const { code, stdout, stderr } = await run(process.execPath, [join(ROOT, 'bin/dist.mjs'), ...flags]);
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(said) });
  });
});

describe('the archive, unpacked where no Node is on the PATH', () => {
  it('says in doctor what it came in, from wherever a link leads to it', async (context) => {
    await mkdir(join(folderOr(context), '../links'));
    await symlink(`../${NAME}/bin/molar`, at('links/molar'));
    expect((await start(['doctor'], {}, at('links/molar'))).stdout).toMatch(
      new RegExp(`^ok +versions +molar ${VERSION} on Node [\\d.]+, of the archive ${NAME}\\.\\n`),
    );
  });

  it('serves with several processes, cuts an image in one of its own, and reads a mirror in another', async (context) => {
    folderOr(context);
    await writeFixture(place.path, 5);
    await writeFile(at('pixels.png'), PIXELS);
    const options = ['--data', at('shared'), '--import', 'fixture.ndjson', '--workers', '2'];
    const served = await serve(place.path, options, at(NAME, 'lib/bin/run.js'), bare(), at(NAME, 'bin/molar'));
    const env = connection(served.url);
    const upload = `documents upload pixels.png --patient ${PATIENT} --crop 0,0,2,1 --ratio 1`.split(' ');
    const cut = await start([...upload, '--json'], env);
    expect(cut, cut.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('"cropped"') });
    expect(await start(['mirror', 'sync', 'patients'], env)).toMatchObject({ code: 0 });
    const counted = await start(['query', 'SELECT count(*) AS n FROM patients', '--csv'], env);
    expect(counted).toMatchObject({ code: 0, stdout: 'n\n5\n' });
    expect(await served.stop()).toBe(0);
  });

  it('reaches for the keyring of the system', async (context) => {
    const child = join(folderOr(context), 'lib/dist/cli/account/keyring/child.js');
    const input = JSON.stringify({ act: 'read', account: 'nobody' });
    const { stdout } = await run(at(NAME, 'bin/molar'), [child], { env: bare(), input });
    // Here is none; the reason has to be the keyring's own and not that its machine code is missing.
    expect(stdout).toMatch(/^\{"secret":null\}$|^\{"trouble":"it says/);
  });

  it('has manual pages that man finds, of every command', async (context) => {
    const share = join(folderOr(context), 'share/man');
    await needs('man', context);
    const { commands } = await json(join(share, '../../lib/oclif.manifest.json'));
    const pages = Object.keys(commands).map((id) => `molar-${id.replaceAll(':', '-')}`);
    const found = await run('man', ['-M', share, '-w', 'molar', ...pages]);
    expect(found, found.stderr).toMatchObject({ code: 0 });
    expect(found.stdout.trim().split('\n')).toHaveLength(pages.length + 1);
    for (const page of ['man5/molar-import.5', 'man7/molar-filters.7'])
      expect(await readFile(join(share, page), 'utf8')).toMatch(/^\.TH/);
  });

  it('has completion for four shells, and bash completes with it', async (context) => {
    const completions = join(folderOr(context), 'share/completions');
    const files = { bash: 'molar.bash', zsh: '_molar', fish: 'molar.fish', powershell: 'molar.ps1' };
    expect((await readdir(completions)).sort()).toEqual(Object.values(files).sort());
    for (const [shell, file] of Object.entries(files))
      expect((await start(['autocomplete', shell])).stdout).toBe(await readFile(join(completions, file), 'utf8'));
    const script =
      '. "$1"; COMP_LINE="molar patients cou"; COMP_WORDS=($COMP_LINE); COMP_CWORD=2; _molar; echo "$COMPREPLY"';
    const ended = await run('bash', ['--norc', '-c', script, 'bash', join(completions, 'molar.bash')]);
    expect(ended.stdout.trim()).toBe('count');
  });

  it('starts on macOS by a script, from wherever links lead to it', async (context) => {
    const lib = join(folderOr(context), 'lib');
    await mkdir(at('mac os/app/bin'), { recursive: true });
    await mkdir(at('mac os/app/libexec'));
    await copyFile(join(ROOT, 'bin/archives/launcher.sh'), at('mac os/app/bin/molar'));
    await symlink(lib, at('mac os/app/lib'));
    await symlink(process.execPath, at('mac os/app/libexec/node'));
    await symlink('app/bin/molar', at('mac os/first'));
    await symlink(at('mac os/first'), at('second'));
    const env = { PATH: process.env.PATH ?? '', HOME: at('home') };
    for (const program of [at('mac os/app/bin/molar'), at('second'), './second']) {
      const ended = await run('sh', [program, 'no such', '--help me'], { cwd: place.path, env });
      expect(ended, program).toMatchObject({ code: 2, stderr: expect.stringContaining('no such') });
    }
  });
});

describe('an update', () => {
  it('goes on with the data and the settings of the version before, and outlives the folder', async (context) => {
    const { oldVersion, newVersion, removed } = await workOverUpdate(folderOr(context), place.path, bare());
    expect(oldVersion[0]).toContain('molar-cli/0.0.9 ');
    expect(newVersion).toEqual([
      expect.stringContaining(`molar-cli/${VERSION} `),
      '3',
      `id,city\n${PATIENT},Denver`,
      '5',
    ]);
    expect(removed).toEqual(['3', '5']);
  });
});
