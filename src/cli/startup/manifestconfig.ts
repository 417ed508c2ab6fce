import { readFileSync } from 'node:fs';
import { arch, homedir, release } from 'node:os';
import { join } from 'node:path';
import type { Command } from '@oclif/core/command';
import { Config } from '@oclif/core/config';
import type { PJSON } from '@oclif/core/interfaces';

type Loadable = Command.Loadable;
type Cached = Command.Cached & { readonly relativePath?: readonly string[] };
type Topic = Config['topics'][number];

/** How the build writes the manifest: this line, one line for each command, and the end. */
const HEAD = '{"commands":{\n';

/**
 * oclif's configuration, from `package.json` and `oclif.manifest.json` in `root` and nothing else. What `Config.load`
 * does besides (plugins, hooks, themes, looking for the root) molar has no use for, and every command waited for it.
 */
export class ManifestConfig extends Config {
  private readonly manifest: string;
  private readonly described: Readonly<Record<string, Topic>>;
  private everything: Everything | undefined;

  constructor(root: string) {
    super({ root });
    const pjson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as PJSON;
    const { bin, dirname, topics = {}, topicSeparator = ':' } = pjson.oclif;
    this.manifest = readFileSync(join(root, 'oclif.manifest.json'), 'utf8');
    this.described = topics as Readonly<Record<string, Topic>>;
    this.root = root;
    this.pjson = pjson;
    this.name = pjson.name;
    this.version = pjson.version;
    this.bin = bin ?? pjson.name;
    this.dirname = dirname ?? pjson.name;
    this.topicSeparator = topicSeparator;
    this.flexibleTaxonomy = false;
    this.valid = true;
    this.channel = 'stable';
    this.arch = arch() as Config['arch'];
    this.windows = process.platform === 'win32';
    // A kernel of Microsoft is Linux inside of Windows; oclif tells the two apart.
    const isWithinWindows = process.platform === 'linux' && /microsoft/i.test(release());
    this.platform = isWithinWindows ? 'wsl' : (process.platform as Config['platform']);
    this.userAgent = `${this.name}/${this.version} ${this.platform}-${this.arch} node-${process.version}`;
    // Asked for on Windows only, for the prompt in examples.
    this.shell = 'unknown';
    this.home = homedir();
  }

  override get commands(): Loadable[] {
    return [...this.all.commands.values()];
  }

  override get topics(): Topic[] {
    return [...this.all.topics.values()];
  }

  override findCommand(id: string, opts: { must: true }): Loadable;
  override findCommand(id: string, opts?: { must: boolean }): Loadable | undefined;
  override findCommand(id: string, opts?: { must: boolean }): Loadable | undefined {
    const command = this.mentions(id) ? (this.alone(id) ?? this.all.commands.get(id)) : undefined;
    if (command === undefined && opts?.must) throw new Error(`command ${id} not found`);
    return command;
  }

  override findTopic(id: string, opts: { must: true }): Topic;
  override findTopic(id: string, opts?: { must: boolean }): Topic | undefined;
  override findTopic(id: string, opts?: { must: boolean }): Topic | undefined {
    const topic = this.mentions(id) || id in this.described ? this.all.topics.get(id) : undefined;
    if (topic === undefined && opts?.must) throw new Error(`topic ${id} not found`);
    return topic;
  }

  /** There are no plugins, so there are no hooks. */
  override async runHook() {
    return { failures: [], successes: [] };
  }

  /** Whether the id is that of a command, and the beginning of no other's. */
  isLeaf(id: string): boolean {
    return this.alone(id) !== undefined && !this.manifest.includes(`"${id}:`);
  }

  /** Whether a command, a topic or another name of a command can be called this. */
  private mentions(id: string): boolean {
    return [`"${id}"`, `"${id}:`, `"${id.replaceAll(':', ' ')}"`].some((text) => this.manifest.includes(text));
  }

  /** A command without reading what the manifest says of the others. */
  private alone(id: string): Loadable | undefined {
    const line = `\n${JSON.stringify(id)}:`;
    const at = this.manifest.startsWith(HEAD) ? this.manifest.indexOf(line) : -1;
    if (at < 0) return undefined;
    const text = this.manifest.slice(at + line.length, this.manifest.indexOf('\n', at + 1));
    return this.loadable(JSON.parse(text.replace(/,$/, '')));
  }

  private get all(): Everything {
    this.everything ??= this.readAll();
    return this.everything;
  }

  private readAll(): Everything {
    const { commands } = JSON.parse(this.manifest) as { commands: Readonly<Record<string, Cached>> };
    const sorted = Object.values(commands).sort((a, b) => a.id.localeCompare(b.id));
    const all: Everything = { commands: new Map(), topics: new Map() };
    for (const command of sorted) {
      const { id, aliases, hiddenAliases } = command;
      all.commands.set(id, this.loadable(command));
      for (const alias of [...aliases, ...hiddenAliases]) {
        const other = alias.replaceAll(' ', ':');
        all.commands.set(other, { ...this.loadable(command), id: other, hidden: hiddenAliases.includes(alias) });
      }
    }
    for (const [name, topic] of Object.entries(this.described)) all.topics.set(name, { ...topic, name });
    for (const { id, hidden, summary, description = '' } of sorted) {
      if (!hidden) addTopics(all.topics, id, summary ?? description);
    }
    return all;
  }

  private loadable(command: Cached): Loadable {
    const { id, relativePath = [] } = command;
    const load = async () => {
      // A path, since the bundles are loaded with `require`.
      const { default: found } = await import(join(this.root, ...relativePath));
      found.id = id;
      return found;
    };
    return { ...command, pluginType: 'core', pluginAlias: this.name, load };
  }
}

interface Everything {
  readonly commands: Map<string, Loadable>;
  readonly topics: Map<string, Topic>;
}

/** A topic for each beginning of a command's id that no topic describes. */
function addTopics(topics: Map<string, Topic>, id: string, description: string): void {
  for (let name = id; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf(':')))) {
    if (!topics.has(name)) topics.set(name, { name, description });
  }
}
