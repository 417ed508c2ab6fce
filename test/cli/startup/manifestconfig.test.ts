import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Config } from '@oclif/core/config';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ManifestConfig } from '../../../src/cli/startup/manifestconfig.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const ours = new ManifestConfig(ROOT);
const theirs = await Config.load({ root: ROOT });

/** A command without what only oclif's plugins know of it. */
const facts = ({ load, pluginName, ...known }: Config['commands'][number]) => known;

describe('ManifestConfig', () => {
  it('knows of the program what oclif does', () => {
    const of = ({ name, version, bin, dirname, root, topicSeparator, userAgent, platform, arch }: Config) => ({
      ...{ name, version, bin, dirname, root, topicSeparator, userAgent, platform, arch },
    });
    expect(of(ours)).toEqual(of(theirs));
  });

  it('has the commands of oclif, aliases too', () => {
    expect(ours.commands.length).toBeGreaterThan(50);
    const sorted = (config: Config) => config.commands.map(facts).sort((a, b) => (a.id < b.id ? -1 : 1));
    expect(sorted(ours)).toEqual(sorted(theirs));
    expect([...ours.commandIDs].sort()).toEqual([...theirs.commandIDs].sort());
  });

  it('has the topics of oclif', () => {
    const sorted = (config: Config) =>
      config.topics
        .map(({ name, description = '' }) => ({ name, description }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    expect(sorted(ours)).toEqual(sorted(theirs));
  });

  it('finds each of them alone as it finds it among all', () => {
    for (const command of theirs.commands) {
      expect(facts(new ManifestConfig(ROOT).findCommand(command.id, { must: true }))).toEqual(facts(command));
    }
    for (const { name } of theirs.topics) expect(new ManifestConfig(ROOT).findTopic(name)?.name).toBe(name);
  });

  it.each(['patients:nothing', 'nothing', 'patients:', '', 'constructor', '"', 'aliases', 'version":'])(
    'finds nothing called %j',
    (id) => {
      expect([ours.findCommand(id), ours.findTopic(id)]).toEqual([undefined, undefined]);
      expect(() => ours.findCommand(id, { must: true })).toThrow('not found');
      expect(() => ours.findTopic(id, { must: true })).toThrow('not found');
    },
  );

  it.each([
    ['patients:list', true],
    ['version', true],
    ['export', false],
    ['patients', false],
    ['', false],
  ])('%j stands alone: %s', (id, expected) => {
    expect(ours.isLeaf(id)).toBe(expected);
  });

  it('has no hooks', async () => {
    expect(await ours.runHook()).toEqual({ failures: [], successes: [] });
  });
});

describe('a manifest that something else wrote', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'molar-manifest-'));
    cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
    const manifest: unknown = JSON.parse(readFileSync(join(ROOT, 'oclif.manifest.json'), 'utf8'));
    writeFileSync(join(folder, 'oclif.manifest.json'), JSON.stringify(manifest, null, 2));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is read as well', () => {
    const config = new ManifestConfig(folder);
    expect(facts(config.findCommand('patients:list', { must: true }))).toEqual(
      facts(theirs.findCommand('patients:list', { must: true })),
    );
    expect(config.findTopic('patients')).toMatchObject({ name: 'patients' });
    expect(config.isLeaf('patients:list')).toBe(false);
  });
});
