import { posix } from 'node:path';
import type { TreeFile } from './tree.ts';

/** One import: `from` and, for our own files, `to` are paths from the root; otherwise `to` is the package's name. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly own: boolean;
  readonly how: 'static' | 'type' | 'dynamic';
}

// Static imports begin a line; biome's formatter keeps them so.
const STATIC = /^(import|export)\s+(type\s+)?(?:[\w*{}\s,$]+?\sfrom\s+)?'([^']+)'/gm;
const DYNAMIC = /(typeof\s+)?\bimport\(\s*'([^']+)'\s*\)/g;

export function arrowsOf(file: TreeFile): Arrow[] {
  const found: Arrow[] = [];
  const add = (target: string, how: Arrow['how']) => {
    const own = target.startsWith('.');
    const to = own ? posix.join(posix.dirname(file.path), target) : packageName(target);
    found.push({ from: file.path, to, own, how });
  };
  for (const [, , type, target = ''] of file.text.matchAll(STATIC)) add(target, type === undefined ? 'static' : 'type');
  for (const [, type, target = ''] of file.text.matchAll(DYNAMIC)) add(target, type === undefined ? 'dynamic' : 'type');
  return found;
}

/** `@scope/name` or `name` of an import; built-in modules keep their `node:`. */
function packageName(target: string): string {
  const parts = target.split('/');
  return target.startsWith('node:') ? target : parts.slice(0, target.startsWith('@') ? 2 : 1).join('/');
}

const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  catalog: ['catalog'],
  core: ['core', 'catalog'],
  cli: ['cli', 'core', 'catalog'],
  commands: ['cli', 'core', 'catalog'],
  server: ['server', 'catalog'],
  demo: ['demo', 'server', 'catalog'],
};

const STARTS_SERVER = /^src\/cli\/serving\//;

/** What is wrong with an arrow between our rooms, or undefined. */
export function wrongArrow({ from, to, own, how }: Arrow): string | undefined {
  if (!own) return undefined;
  const [source, target] = [roomOf(from), roomOf(to)];
  if (MAY_IMPORT[source]?.includes(target)) return undefined;
  if (STARTS_SERVER.test(from) && ['server', 'demo'].includes(target)) {
    return how === 'static'
      ? `${from} must import ${to} with import(), so that clients never load the server`
      : undefined;
  }
  return `${from} must not import ${to}: ${source} may import ${MAY_IMPORT[source]?.join(', ') ?? 'nothing'}`;
}

function roomOf(path: string): string {
  return path.split('/')[1] ?? '';
}

/** What is wrong with the use of a package, or undefined: it must be declared, and oclif belongs to the command line. */
export function wrongPackage({ from, to, own }: Arrow, declared: readonly string[]): string | undefined {
  if (own || to.startsWith('node:')) return undefined;
  if (!declared.includes(to))
    return `${from} imports ${to}, which package.json does not list, or lists for the checkout alone`;
  if (to.startsWith('@oclif/') && !/^src\/(?:cli|commands)\//.test(from)) return `${from} must not know oclif`;
  return undefined;
}

/** Every import cycle, written `a → b → a`; imports of types alone load nothing and cannot close one. */
export function cyclesOf(arrows: readonly Arrow[]): string[] {
  const next = new Map<string, string[]>();
  for (const { from, to, own, how } of arrows) {
    if (own && how !== 'type') next.set(from, [...(next.get(from) ?? []), to]);
  }
  const cycles: string[] = [];
  const done = new Set<string>();
  const walk = (path: string, trail: readonly string[]) => {
    const start = trail.indexOf(path);
    if (start >= 0) cycles.push([...trail.slice(start), path].join(' → '));
    if (start >= 0 || done.has(path)) return;
    for (const target of next.get(path) ?? []) walk(target, [...trail, path]);
    done.add(path);
  };
  for (const path of next.keys()) walk(path, []);
  return cycles;
}
