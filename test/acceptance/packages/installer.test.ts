import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { PLAIN, Site } from './installing.ts';
import { run } from './release.ts';

const site = new Site();

describe('install.sh', () => {
  beforeAll(() => site.publish('0.1.0'));

  it('passes shellcheck', async ({ skip }) => {
    const checked = await run('shellcheck', ['--shell=sh', site.script]).catch(() => undefined);
    if (checked === undefined && process.env.CI !== 'true') skip('shellcheck is not installed');
    expect(checked).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it.each<[string[]]>([[['dash']], [['bash', '--posix']], [['busybox', 'sh']], [['mksh']]])(
    'installs program, pages and completions with %j',
    async (shell) => {
      const ended = await site.install([], {}, shell).catch(() => undefined);
      // Which shells there are differs; dash is /bin/sh of Debian.
      if (ended === undefined) return expect(shell).not.toEqual(['dash']);
      expect(ended).toMatchObject({ code: 0, stderr: '' });
      expect(await site.installed()).toBe('0.1.0');
      for (const path of [
        'share/man/man1/molar.1',
        'share/man/man7/molar-filters.7',
        'share/bash-completion/completions/molar',
        'share/fish/vendor_completions.d/molar.fish',
        'share/zsh/site-functions/_molar',
      ]) {
        expect([path, (await readFile(site.at(path), 'utf8')) !== '']).toEqual([path, true]);
      }
    },
  );

  it('is run by the line in README.md', async () => {
    const readme = await readFile(resolve(import.meta.dirname, '../../../README.md'), 'utf8');
    const line = /^\| Linux, macOS \| `(.+)` \|$/m.exec(readme)?.[1]?.replaceAll('\\|', '|');
    await cp(site.script, join(site.release, 'install.sh'));
    const env = site.environment({ MOLAR_RELEASES: site.base });
    expect(await run('sh', ['-c', line ?? 'false'], env)).toMatchObject({ code: 0, stderr: '' });
    expect(await site.installed()).toBe('0.1.0');
  });

  it.each([
    ['/usr/bin/zsh', `echo 'export PATH="BIN:$PATH"' >> ~/.zshrc`],
    ['/bin/bash', `echo 'export PATH="BIN:$PATH"' >> ~/.bashrc`],
    ['/usr/bin/fish', "fish_add_path 'BIN'"],
    ['', `echo 'export PATH="BIN:$PATH"' >> ~/.profile`],
  ])('says to users of %s what puts it into their PATH', async (shell, line) => {
    const { stdout } = await site.install([], { SHELL: shell });
    expect(stdout).toContain(`\n  ${line.replace('BIN', site.at('bin'))}\n`);
    if (shell === '')
      expect((await run('sh', ['-c', `${line.replace('BIN', site.at('bin'))}`], { HOME: site.home })).code).toBe(0);
    // What the line has written is what finds it.
    if (shell === '') {
      const { stdout: found } = await run('sh', ['-c', '. ~/.profile; command -v molar'], { HOME: site.home });
      expect(found).toBe(`${site.at('bin/molar')}\n`);
    }
  });

  it('says nothing about PATH where it is in it', async () => {
    const { stdout } = await site.install([], { PATH: `${site.at('bin')}:${process.env.PATH}` });
    expect(stdout).toMatch(/\nNext: molar demo\n$/);
    expect(stdout).not.toContain('PATH');
  });

  it('changes nothing and downloads no archive where the version is there', async () => {
    await site.install();
    site.asked = [];
    expect(await site.install()).toMatchObject({ code: 0 });
    expect(await site.installed()).toBe('0.1.0');
    expect(site.asked).toEqual(['SHA256SUMS', 'SHA256SUMS.sig']);
  });

  it('installs below another folder, whatever its name', async () => {
    expect(await site.install(['--prefix', "Ann's $HOME folder"])).toMatchObject({ code: 0, stderr: '' });
    const { stdout } = await run(join(site.home, "Ann's $HOME folder/bin/molar"), ['--version']);
    expect(stdout).toContain('molar-cli/0.1.0');
    expect(await site.install(['--uninstall', "--prefix=Ann's $HOME folder"])).toMatchObject({ code: 0 });
    expect(await readdir(join(site.home, "Ann's $HOME folder/bin"))).toEqual([]);
  });

  it('makes do with wget, and without openssl compares digests, and says so', async () => {
    const path = await site.pathOf([...PLAIN, 'wget']);
    expect(await site.install([], { PATH: path })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('The signature was not checked'),
    });
    expect(await site.installed()).toBe('0.1.0');
  });

  it.each([
    ['wget or curl', PLAIN, 'curl or wget is needed'],
    ['xz', [...PLAIN.filter((name) => name !== 'xz'), 'curl'], 'xz is needed'],
  ])('says so where %s is missing', async (_name, programs, said) => {
    const ended = await site.install([], { PATH: await site.pathOf(programs) });
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining(said) });
    expect(await site.installed()).toBeUndefined();
  });

  it.each([
    [['--prefix'], {}, '--prefix needs a folder'],
    [['--force'], {}, 'There is no option --force'],
    [[], { HOME: '' }, 'HOME is not set'],
    [[], { MOLAR_RELEASES: 'http://example.com' }, 'http://example.com is no https:// address'],
    [[], { MOLAR_RELEASES: 'http://127.0.0.1:1@example.com' }, 'a user name'],
  ])('refuses %j %j', async (args, env, said) => {
    expect(await site.install(args, env)).toMatchObject({ code: 2, stderr: expect.stringContaining(said) });
    expect(site.asked).toEqual([]);
  });

  it('leaves a molar alone that was installed in another way', async () => {
    await mkdir(site.at('bin'), { recursive: true });
    await writeFile(site.at('bin/molar'), 'another');
    for (const args of [[], ['--uninstall']]) {
      expect(await site.install(args)).toMatchObject({ code: 1, stderr: expect.stringContaining('is not from here') });
    }
    expect(await readFile(site.at('bin/molar'), 'utf8')).toBe('another');
  });

  it('does nothing when it was cut off on its way', async () => {
    const whole = await readFile(site.script, 'utf8');
    const ends = [...whole.matchAll(/\n/g)].map(({ index }) => index);
    const cuts = `${site.home}-cuts`;
    await mkdir(cuts);
    for (const [number, end] of ends.entries()) {
      // Within a line, and at its end; the last one is the call.
      if (end >= whole.trimEnd().length || number % 4 !== 0) continue;
      for (const length of [end, end - 3]) {
        await writeFile(join(cuts, `${length}.sh`), whole.slice(0, length));
      }
    }
    expect((await readdir(cuts)).length).toBeGreaterThan(50);
    // One after another by one program: to start each of them from here takes longer than what it does.
    const { stdout } = await run(
      'sh',
      ['-c', 'for cut in "$0"/*; do sh "$cut"; done; echo all', cuts],
      site.environment(),
    );
    expect(stdout).toMatch(/all\n$/);
    expect(site.asked).toEqual([]);
    expect(await readdir(site.home)).toEqual([]);
  });
});
